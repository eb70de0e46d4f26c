/* load.c - load [OPTIONS] PORT PATH BODYFILE CONNECTIONS SECONDS: sends requests as a closed-loop client on loopback.
 *
 * Each connection has one request in flight, and stays open until an answer says that the server closes it; it
 * opens another. The client runs for SECONDS and until as many requests as there are connections have been answered.
 * With one thread, epoll and prepared requests it takes little processor time itself. Options:
 *     -t TYPE      media type of the bodies; default application/json
 *     -n REQUESTS  ends after this many answers, if that is before SECONDS
 *     -m BODYFILE  body of additional, heavy requests
 *     -p PATH      path of the heavy requests; default PATH
 *     -e EVERY     sends one heavy request in EVERY; the figures leave them out
 *     -a           also measures the time until the kernel has the answer, however late this process reads it
 *     -c           opens a connection for each request, as a client does that keeps none
 *     -w USECONDS  polls for answers this long before it sleeps; default 0. Waking a client costs the server some 5 to
 *                  15 us per answer, and whether it sleeps is chance; polling takes a core, which a server with several
 *                  busy threads may want
 * Prints one line: requests seconds p50 p99 refused failed others [p50 p99 of -a]    (latencies in microseconds, to 1
 * %; refused: 503; failed: any other status than 200, or cut off) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const uint64_t PATIENCE = 60000000000u; /* ns to wait after SECONDS for missing first answers */

/* Latencies are counted in buckets by their leading FINE + 1 bits. */
enum { MAX_CONNECTIONS = 1000, FINE = 6, BUCKETS = (64 - FINE) << FINE, HEAD = 4096, PIECE = 1 << 16 };

typedef struct request {
    char  *text;
    size_t length;
} request;

typedef struct client {
    int            socket;
    const request *request;         /* the request in flight */
    size_t         sent;            /* bytes of the request sent so far */
    uint64_t       began, arrived;  /* ns: start of the request, arrival of the last piece of the answer */
    char           head[HEAD + 1];  /* start of the answer, NUL-terminated */
    size_t         received, whole; /* bytes of the answer received, and its whole length; whole 0: not known yet */
} client;

typedef struct load {
    request  light, heavy;
    size_t   every; /* 0: no heavy requests */
    int      port, epoll;
    size_t   n_clients;
    client  *clients;
    uint64_t most, fired, requests, heavy_requests, refused, failed;
    uint64_t awake; /* ns of polling before it sleeps */
    bool     stamps;
    bool     once;                               /* true: a connection carries one request only (option -c) */
    uint64_t latency[BUCKETS], arrival[BUCKETS]; /* number of answers by bucket of the time until they were read, and
                                                    until the kernel had them */
} load;

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return nanoseconds(t);
}

static bool prepare(request *r, const char *path, const char *type, const char *body_file, bool once)
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
    fprintf(whole, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\n\r\n", path,
            type, once ? "Connection: close\r\n" : "", length);
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

/* Sends as much as the socket accepts, at most PIECE bytes: while it sends megabytes, this thread would not see answers
 * of other connections for milliseconds. Small requests go out in one call. */
static bool push(load *l, client *c)
{
    bool    began = c->sent > 0;
    size_t  left = c->request->length - c->sent, size = left < PIECE ? left : PIECE;
    ssize_t n = send(c->socket, c->request->text + c->sent, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) c->sent += (size_t)n;
    bool done = c->sent == c->request->length;
    return done != began || watch(l, c, EPOLL_CTL_MOD); /* the request is now complete or no longer complete: watches
                                                           the socket for the other kind of event */
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
    if (l->stamps) setsockopt(c->socket, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
    return watch(l, c, EPOLL_CTL_ADD) && fire(l, c);
}

/* Returns the length of the whole answer once its head has arrived, 0 before. Servers write field names in any case. */
static size_t expected(const client *c)
{
    const char *end   = strstr(c->head, "\r\n\r\n");
    const char *field = end ? strcasestr(c->head, "\r\nContent-Length:") : NULL;
    if (!end) return 0;
    size_t length = field && field < end ? strtoul(strchr(field, ':') + 1, NULL, 10) : 0;
    return (size_t)(end - c->head) + 4 + length;
}

/* True if the head of the answer says that the server closes the connection. */
static bool closes(const client *c)
{
    const char *end = strstr(c->head, "\r\n\r\n"), *field = strcasestr(c->head, "\r\nConnection: close");
    return field && field < end;
}

static unsigned bucket(uint64_t ns)
{
    unsigned shift = ns >> FINE ? 63 - FINE - (unsigned)__builtin_clzll(ns) : 0;
    return (shift << FINE) + (unsigned)(ns >> shift);
}

/* Returns the middle of a bucket, in microseconds. */
static double microseconds(unsigned b)
{
    unsigned shift = b >> FINE ? (b >> FINE) - 1 : 0;
    return ldexp((double)(b - (shift << FINE)) + 0.5, (int)shift) * 1e-3;
}

static void count(load *l, const client *c)
{
    if (memcmp(c->head, "HTTP/1.1 503", 12) == 0)
        l->refused++;
    else if (memcmp(c->head, "HTTP/1.1 200", 12) != 0)
        l->failed++;
    if (c->request == &l->heavy) {
        l->heavy_requests++;
        return;
    }
    l->latency[bucket(now() - c->began)]++;
    l->arrival[bucket(c->arrived - c->began)]++;
    l->requests++;
}

/* Reads a piece of the answer and notes its arrival: the kernel's timestamp, which is of another clock, or else the
 * present time. */
static ssize_t receive(client *c, char *data, size_t size)
{
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec                  piece = {data, size};
    struct msghdr   message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t         got     = recvmsg(c->socket, &message, 0);
    struct cmsghdr *about   = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct timespec stamp, read;
    c->arrived = now();
    if (about && about->cmsg_level == SOL_SOCKET && about->cmsg_type == SCM_TIMESTAMPNS) {
        memcpy(&stamp, CMSG_DATA(about), sizeof stamp);
        clock_gettime(CLOCK_REALTIME, &read);
        c->arrived -= nanoseconds(read) - nanoseconds(stamp);
    }
    return got;
}

/* Reads a piece of the answer; at its end counts it and sends the next request. Returns false if the connection is
 * lost. */
static bool serve(load *l, client *c, uint32_t events)
{
    static char waste[PIECE];
    if ((events & EPOLLOUT) && !push(l, c)) return false;
    if (!(events & ~(uint32_t)EPOLLOUT)) return true;
    bool    head = c->received < HEAD && c->whole == 0;
    ssize_t got  = receive(c, head ? c->head + c->received : waste, head ? HEAD - c->received : PIECE);
    if (got <= 0) return false;
    c->received += (size_t)got;
    if (head) c->head[c->received] = '\0';
    if (c->whole == 0) c->whole = expected(c);
    if (c->whole == 0 || c->received < c->whole) return true;
    count(l, c);
    if (!closes(c)) return fire(l, c);
    close(c->socket);
    return join(l, c);
}

static bool enough(const load *l, uint64_t end)
{
    uint64_t t = now();
    return t >= end && (l->requests >= l->n_clients || t >= end + PATIENCE);
}

static void run(load *l, double seconds)
{
    uint64_t           end = now() + (uint64_t)(seconds * 1e9), last = 0; /* `last`: time of the last event */
    size_t             left = l->n_clients;
    struct epoll_event events[64];
    while (left > 0 && l->requests < l->most && !enough(l, end)) {
        int n = epoll_wait(l->epoll, events, 64, l->awake && now() - last < l->awake ? 0 : 100);
        if (n > 0 && l->awake) last = now();
        for (int i = 0; i < n; i++) {
            client *c = events[i].data.ptr;
            if (serve(l, c, events[i].events)) continue;
            l->failed++, left--;
            close(c->socket);
        }
    }
}

static double percentile(const load *l, const uint64_t counts[BUCKETS], double share)
{
    uint64_t seen = 0, wanted = (uint64_t)(share * (double)l->requests);
    unsigned b = 0;
    while (b < BUCKETS - 1 && (seen += counts[b]) <= wanted)
        b++;
    return microseconds(b);
}

/* Returns false if the arguments are wrong. */
static bool read_arguments(load *l, int argc, char **argv)
{
    const char *type = "application/json", *heavy = NULL, *heavy_path = NULL;
    int         option;
    l->most = UINT64_MAX;
    while ((option = getopt(argc, argv, "t:n:m:p:e:acw:")) >= 0)
        switch (option) {
        case 't': type = optarg; break;
        case 'n': l->most = strtoull(optarg, NULL, 10); break;
        case 'm': heavy = optarg; break;
        case 'p': heavy_path = optarg; break;
        case 'e': l->every = strtoul(optarg, NULL, 10); break;
        case 'a': l->stamps = true; break;
        case 'c': l->once = true; break;
        case 'w': l->awake = strtoull(optarg, NULL, 10) * 1000; break;
        default: return false;
        }
    argv += optind;
    if (argc - optind != 5 || !heavy != !l->every) return false;
    l->port      = (int)strtol(argv[0], NULL, 10);
    l->n_clients = strtoul(argv[3], NULL, 10);
    if (l->n_clients > MAX_CONNECTIONS) l->n_clients = MAX_CONNECTIONS;
    return prepare(&l->light, argv[1], type, argv[2], l->once) &&
           (!heavy || prepare(&l->heavy, heavy_path ? heavy_path : argv[1], type, heavy, l->once));
}

int main(int argc, char **argv)
{
    static load l;
    if (!read_arguments(&l, argc, argv)) {
        fprintf(stderr,
                "usage: load [-a] [-c] [-w USECONDS] [-t TYPE] [-n REQUESTS] [-m BODYFILE [-p PATH] -e EVERY] PORT "
                "PATH BODYFILE "
                "CONNECTIONS SECONDS\n");
        return 2;
    }
    l.epoll   = epoll_create1(EPOLL_CLOEXEC);
    l.clients = calloc(l.n_clients, sizeof *l.clients);
    if (!l.clients) return 1;
    uint64_t start = now();
    for (size_t i = 0; i < l.n_clients; i++)
        if (!join(&l, &l.clients[i])) {
            fprintf(stderr, "load: connection %zu to port %d failed\n", i, l.port);
            return 1;
        }
    run(&l, strtod(argv[optind + 4], NULL));
    printf("%" PRIu64 " %.6f %.1f %.1f %" PRIu64 " %" PRIu64 " %" PRIu64, l.requests, (double)(now() - start) * 1e-9,
           percentile(&l, l.latency, 0.5), percentile(&l, l.latency, 0.99), l.refused, l.failed, l.heavy_requests);
    if (l.stamps) printf(" %.1f %.1f", percentile(&l, l.arrival, 0.5), percentile(&l, l.arrival, 0.99));
    putchar('\n');
    free(l.light.text);
    free(l.heavy.text);
    free(l.clients);
    return 0;
}
