/* proxy_header.c - see proxy_header.h. */
#include "proxy_header.h"
#include "api/metrics.h"
#include "event_loop.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 12, V1_MAX = 107, V2_HEAD = 16 };

static const unsigned char v2_signature[FIRST_BYTES] = "\r\n\r\n\0\r\nQUIT\n";

/* --- parsing ------------------------------------------------------------------------------------------------------ */

int srv_proxy_header_missing(const srv_proxy_header *h)
{
    const unsigned char *b = h->bytes;
    if (h->length < FIRST_BYTES) return (int)(FIRST_BYTES - h->length);
    if (memcmp(b, v2_signature, FIRST_BYTES) == 0) {
        if (h->length < V2_HEAD) return (int)(V2_HEAD - h->length);
        size_t whole = V2_HEAD + ((size_t)b[14] << 8) + b[15];
        if (b[12] >> 4 != 2 || (b[12] & 15) > 1 || whole > sizeof h->bytes) return -1;
        return (int)(whole - h->length);
    }
    if (memcmp(b, "PROXY ", 6) != 0) return -1;
    if (b[h->length - 1] == '\n') return b[h->length - 2] == '\r' ? 0 : -1;
    return h->length < V1_MAX ? 1 : -1;
}

static void set_ipv4(const void *ip, uint16_t port, struct sockaddr_storage *client, socklen_t *size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
    memcpy(&address.sin_addr, ip, sizeof address.sin_addr);
    memcpy(client, &address, *size = sizeof address);
}

static void set_ipv6(const void *ip, uint16_t port, struct sockaddr_storage *client, socklen_t *size)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = port};
    memcpy(&address.sin6_addr, ip, sizeof address.sin6_addr);
    memcpy(client, &address, *size = sizeof address);
}

/* Reads "PROXY TCP4 192.0.2.7 192.0.2.1 40000 443". */
static bool read_v1(const srv_proxy_header *h, struct sockaddr_storage *client, socklen_t *size)
{
    char     line[V1_MAX + 1], family[5], from[46], to[46], ip[16];
    unsigned port;
    snprintf(line, sizeof line, "%.*s", (int)h->length, (const char *)h->bytes);
    if (sscanf(line, "PROXY %4s %45s %45s %5u", family, from, to, &port) != 4 || port > 65535) return false;
    if (strcmp(family, "TCP4") == 0 && inet_pton(AF_INET, from, ip) == 1)
        set_ipv4(ip, htons((uint16_t)port), client, size);
    else if (strcmp(family, "TCP6") == 0 && inet_pton(AF_INET6, from, ip) == 1)
        set_ipv6(ip, htons((uint16_t)port), client, size);
    else
        return false;
    return true;
}

/* Reads source and destination address, then both ports. */
static bool read_v2(const srv_proxy_header *h, struct sockaddr_storage *client, socklen_t *size)
{
    enum { PROXIED = 1, TCP4 = 0x11, TCP6 = 0x21 };
    const unsigned char *b = h->bytes, *addresses = b + V2_HEAD;
    size_t               length = h->length - V2_HEAD;
    uint16_t             port;
    if ((b[12] & 15) != PROXIED) return false;
    if (b[13] == TCP4 && length >= 12) {
        memcpy(&port, addresses + 8, sizeof port);
        set_ipv4(addresses, port, client, size);
    } else if (b[13] == TCP6 && length >= 36) {
        memcpy(&port, addresses + 32, sizeof port);
        set_ipv6(addresses, port, client, size);
    } else {
        return false;
    }
    return true;
}

bool srv_proxy_header_source(const srv_proxy_header *h, struct sockaddr_storage *client, socklen_t *size)
{
    return *h->bytes == 'P' ? read_v1(h, client, size) : read_v2(h, client, size);
}

/* --- receiving ---------------------------------------------------------------------------------------------------- */

/* A connection whose header has not arrived completely. */
struct srv_proxy_arrival {
    uv_poll_t               poll;
    uv_timer_t              timer;
    int                     handles; /* handles that are not closed */
    srv_proxy_arrival      *previous, *next;
    srv_loop               *loop;
    int                     fd;
    srv_daemon              daemon;
    struct sockaddr_storage peer;
    srv_proxy_header        header;
};

typedef srv_proxy_arrival arrival;

static void on_closed(uv_handle_t *handle)
{
    arrival *a = handle->data;
    if (--a->handles == 0) free(a);
}

/* Ends the wait; the connection goes to libmicrohttpd, or is closed. */
static void finish(arrival *a, bool good)
{
    struct sockaddr_storage client                                 = a->peer;
    socklen_t               size                                   = sizeof client;
    *(a->previous ? &a->previous->next : &a->loop->proxy_arrivals) = a->next;
    if (a->next) a->next->previous = a->previous;
    uv_poll_stop(&a->poll);
    uv_close((uv_handle_t *)&a->poll, on_closed);
    uv_close((uv_handle_t *)&a->timer, on_closed);
    api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, -1); /* counted by libmicrohttpd from now on */
    if (good) {
        srv_proxy_header_source(&a->header, &client, &size);
        MHD_add_connection(a->loop->mhd[a->daemon], a->fd, (struct sockaddr *)&client, size);
        srv_loop_turn_soon(a->loop);
    } else {
        close(a->fd);
    }
}

static void on_input(uv_poll_t *poll, int status, int events)
{
    arrival *a       = poll->data;
    int      missing = srv_proxy_header_missing(&a->header);
    (void)status, (void)events;
    while (missing > 0) {
        ssize_t n = recv(a->fd, a->header.bytes + a->header.length, (size_t)missing, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n <= 0) break;
        a->header.length += (size_t)n;
        missing = srv_proxy_header_missing(&a->header);
    }
    finish(a, missing == 0);
}

static void on_late(uv_timer_t *timer)
{
    finish(timer->data, false);
}

void srv_proxy_header_begin(srv_loop *loop, int fd, srv_daemon daemon, const struct sockaddr_storage *peer)
{
    arrival *a = calloc(1, sizeof *a);
    if (!a || uv_poll_init(&loop->uv, &a->poll, fd) != 0) {
        close(fd);
        free(a);
        return;
    }
    uv_timer_init(&loop->uv, &a->timer);
    a->poll.data = a->timer.data = a;
    a->handles                   = 2;
    a->loop                      = loop;
    a->fd                        = fd;
    a->daemon                    = daemon;
    a->peer                      = *peer;
    a->next                      = loop->proxy_arrivals;
    if (a->next) a->next->previous = a;
    loop->proxy_arrivals = a;
    api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, 1);
    uv_poll_start(&a->poll, UV_READABLE, on_input);
    uv_timer_start(&a->timer, on_late, (uint64_t)(loop->server->config->read_deadline * 1000), 0);
}

void srv_proxy_headers_end_all(srv_loop *loop)
{
    while (loop->proxy_arrivals)
        finish(loop->proxy_arrivals, false);
}
