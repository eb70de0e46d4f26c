/* load.c - load PORT PATH BODYFILE CONNECTIONS SECONDS [HEAVY EVERY]: a closed-loop client on loopback.
 *
 * Each connection keeps one request in flight and stays open. One thread, epoll; the requests are prepared texts, so
 * that the client costs little beside the server. With HEAVY, a second body, every EVERYth request sends that one and
 * is left out of the figures. Prints one line:
 *     requests seconds p50 p99 failed heavy    (latencies in microseconds; failed: not 200, or cut off) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 1000, BUCKETS = 1 << 20, HEAD = 4096, WASTE = 1 << 18 };

typedef struct request {
    char  *text;
    size_t length;
} request;

typedef struct client {
    int            socket;
    const request *request;         /* in flight */
    size_t         sent;            /* bytes of it */
    uint64_t       began;           /* ns, when it went out */
    char           head[HEAD];      /* of the answer */
    size_t         received, whole; /* bytes of the answer; whole 0: not known yet */
} client;

typedef struct load {
    request   light, heavy;
    size_t    every; /* 0: there are no heavy ones */
    int       port, epoll;
    size_t    n_clients;
    client   *clients;
    uint64_t  fired, requests, heavy_requests, failed;
    unsigned *latency; /* histogram by microsecond */
} load;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool prepare(request *r, const char *path, const char *body_file)
{
    char       *body   = NULL;
    size_t      length = 0;
    FILE       *file = fopen(body_file, "rb"), *text = open_memstream(&body, &length);
    static char piece[65536];
    size_t      n;
    if (!file || !text) return false;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        fwrite(piece, 1, n, text);
    fclose(file);
    fclose(text);
    FILE *whole = open_memstream(&r->text, &r->length);
    if (!whole) return false;
    fprintf(whole,
            "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
            path, length);
    fwrite(body, 1, length, whole);
    free(body);
    return fclose(whole) == 0;
}

static bool watch(load *l, client *c, int operation)
{
    bool               writes = c->request && c->sent < c->request->length;
    struct epoll_event event  = {.events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    return epoll_ctl(l->epoll, operation, c->socket, &event) == 0;
}

/* Sends what the socket takes; small requests go out at once. */
static bool push(load *l, client *c)
{
    bool    began = c->sent > 0;
    ssize_t n = send(c->socket, c->request->text + c->sent, c->request->length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) c->sent += (size_t)n;
    bool done = c->sent == c->request->length;
    return (done && !began) || watch(l, c, EPOLL_CTL_MOD);
}

static bool fire(load *l, client *c)
{
    c->request  = l->every && ++l->fired % l->every == 0 ? &l->heavy : &l->light;
    c->received = c->whole = c->sent = 0;
    c->began                         = now();
    return push(l, c);
}

static bool join(load *l, client *c)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port           = htons((uint16_t)l->port);
    int yes                    = 1;
    c->socket                  = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) return false;
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return watch(l, c, EPOLL_CTL_ADD) && fire(l, c);
}

/* Length of the whole answer once its head is there, 0 before. */
static size_t expected(const client *c)
{
    size_t      there = c->received < HEAD ? c->received : HEAD;
    const char *end   = memmem(c->head, there, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t      head  = (size_t)(end - c->head) + 4;
    const char *field = memmem(c->head, head, "Content-Length:", 15);
    return head + (field ? strtoul(field + 15, NULL, 10) : 0);
}

static void count(load *l, const client *c)
{
    uint64_t us = (now() - c->began) / 1000;
    if (memcmp(c->head, "HTTP/1.1 200", 12) != 0) l->failed++;
    if (c->request == &l->heavy) {
        l->heavy_requests++;
        return;
    }
    l->latency[us < BUCKETS ? us : BUCKETS - 1]++;
    l->requests++;
}

/* Reads what is there; at the end of an answer counts it and sends the next request. False: the connection is lost. */
static bool serve(load *l, client *c, uint32_t events)
{
    static char waste[WASTE];
    if ((events & EPOLLOUT) && !push(l, c)) return false;
    if (!(events & ~(uint32_t)EPOLLOUT)) return true;
    bool    head = c->received < HEAD && c->whole == 0;
    ssize_t got  = recv(c->socket, head ? c->head + c->received : waste, head ? HEAD - c->received : WASTE, 0);
    if (got <= 0) return false;
    c->received += (size_t)got;
    if (c->whole == 0) c->whole = expected(c);
    if (c->whole == 0 || c->received < c->whole) return true;
    count(l, c);
    return fire(l, c);
}

static void run(load *l, double seconds)
{
    uint64_t           end  = now() + (uint64_t)(seconds * 1e9);
    size_t             left = l->n_clients;
    struct epoll_event events[64];
    while (left > 0 && now() < end) {
        int n = epoll_wait(l->epoll, events, 64, 100);
        for (int i = 0; i < n; i++) {
            client *c = events[i].data.ptr;
            if (serve(l, c, events[i].events)) continue;
            l->failed++, left--;
            close(c->socket);
        }
    }
}

static unsigned percentile(const load *l, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)(share * (double)l->requests);
    unsigned us = 0;
    while (us < BUCKETS - 1 && (seen += l->latency[us]) <= wanted)
        us++;
    return us;
}

int main(int argc, char **argv)
{
    static load l;
    bool        mixed = argc == 8;
    if ((argc != 6 && !mixed) || !prepare(&l.light, argv[2], argv[3]) ||
        (mixed && !prepare(&l.heavy, argv[2], argv[6]))) {
        fprintf(stderr, "usage: load PORT PATH BODYFILE CONNECTIONS SECONDS [HEAVY EVERY]\n");
        return 2;
    }
    l.every     = mixed ? strtoul(argv[7], NULL, 10) : 0;
    l.port      = (int)strtol(argv[1], NULL, 10);
    l.n_clients = strtoul(argv[4], NULL, 10);
    l.epoll     = epoll_create1(EPOLL_CLOEXEC);
    if (l.n_clients > MAX_CONNECTIONS) l.n_clients = MAX_CONNECTIONS;
    l.clients = calloc(l.n_clients, sizeof *l.clients);
    l.latency = calloc(BUCKETS, sizeof *l.latency);
    if (!l.clients || !l.latency) return 1;
    for (size_t i = 0; i < l.n_clients; i++)
        if (!join(&l, &l.clients[i])) {
            fprintf(stderr, "load: connection %zu to port %d failed\n", i, l.port);
            return 1;
        }
    uint64_t start = now();
    run(&l, strtod(argv[5], NULL));
    printf("%llu %.6f %u %u %llu %llu\n", (unsigned long long)l.requests, (double)(now() - start) * 1e-9,
           percentile(&l, 0.5), percentile(&l, 0.99), (unsigned long long)l.failed,
           (unsigned long long)l.heavy_requests);
    free(l.light.text);
    free(l.heavy.text);
    free(l.clients);
    free(l.latency);
    return 0;
}
