/* load.c - load PORT PATH BODYFILE CONNECTIONS SECONDS: a closed-loop client on loopback.
 *
 * Each connection keeps one request in flight and stays open. One thread, epoll; the requests are one prepared
 * text, so that the client costs little beside the server. Prints one line:
 *     requests seconds p50 p99 failed          (latencies in microseconds; failed: not 200, or cut off) */
#define _GNU_SOURCE
#include <arpa/inet.h>
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

enum { MAX_CONNECTIONS = 1000, MAX_REQUEST = 1 << 20, BUCKETS = 1 << 20 };

typedef struct client {
    int      socket;
    uint64_t sent; /* ns, when the request went out */
    char     answer[65536];
    size_t   length; /* of `answer` so far */
} client;

typedef struct load {
    char      request[MAX_REQUEST];
    size_t    length;
    int       port, epoll;
    size_t    n_clients;
    client   *clients;
    uint64_t  requests, failed;
    unsigned *latency; /* histogram by microsecond */
} load;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool prepare(load *l, const char *path, const char *body_file)
{
    static char body[MAX_REQUEST / 2];
    FILE       *file = fopen(body_file, "rb");
    if (!file) return false;
    size_t length = fread(body, 1, sizeof body, file);
    fclose(file);
    int head = snprintf(l->request, sizeof l->request,
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        path, length);
    if (head < 0 || (size_t)head + length > sizeof l->request) return false;
    memcpy(l->request + head, body, length);
    l->length = (size_t)head + length;
    return true;
}

static bool fire(load *l, client *c)
{
    c->length = 0;
    c->sent   = now();
    return send(c->socket, l->request, l->length, MSG_NOSIGNAL) == (ssize_t)l->length;
}

static bool join(load *l, client *c)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port           = htons((uint16_t)l->port);
    int yes                    = 1;
    c->socket                  = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) return false;
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->socket, &event) == 0 && fire(l, c);
}

/* Length of the whole answer once its head is there, 0 before. */
static size_t expected(const client *c)
{
    const char *end = memmem(c->answer, c->length, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t      head  = (size_t)(end - c->answer) + 4;
    const char *field = memmem(c->answer, head, "Content-Length:", 15);
    return head + (field ? strtoul(field + 15, NULL, 10) : 0);
}

/* Reads what is there; at the end of an answer counts it and sends the next request. False: the connection is lost. */
static bool serve(load *l, client *c)
{
    ssize_t got = recv(c->socket, c->answer + c->length, sizeof c->answer - c->length, 0);
    if (got <= 0) return false;
    c->length += (size_t)got;
    size_t whole = expected(c);
    if (whole == 0 || c->length < whole) return true;
    uint64_t us = (now() - c->sent) / 1000;
    l->latency[us < BUCKETS ? us : BUCKETS - 1]++;
    l->requests++;
    if (memcmp(c->answer, "HTTP/1.1 200", 12) != 0) l->failed++;
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
            if (serve(l, c)) continue;
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
    if (argc != 6 || !prepare(&l, argv[2], argv[3])) {
        fprintf(stderr, "usage: load PORT PATH BODYFILE CONNECTIONS SECONDS\n");
        return 2;
    }
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
    printf("%llu %.6f %u %u %llu\n", (unsigned long long)l.requests, (double)(now() - start) * 1e-9,
           percentile(&l, 0.5), percentile(&l, 0.99), (unsigned long long)l.failed);
    free(l.clients);
    free(l.latency);
    return 0;
}
