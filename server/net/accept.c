/* accept.c - see accept.h. */
#define _GNU_SOURCE /* accept4 */
#include "accept.h"
#include "event_loop.h"
#include "proxy_header.h"
#include "api/metrics.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS_PER_TURN = 8 }; /* connections accepted per event, before other events are handled */

enum { MOST_PROBES = 64 }; /* open connections of a loop for probes, in addition to those of --connections */

static const uint64_t RETRY_INTERVAL = 10000000; /* ns until a full server looks again for silent connections */

static void on_listener(uv_poll_t *listener, int status, int events);

/* True if the server is below its limit of connections. Connections that this loop has shut count no longer, though
 * libmicrohttpd closes them only after this turn. Loops that check at the same time may exceed the limit by one
 * connection each. */
static bool has_room(const srv_acceptor *a)
{
    const srv_server      *server    = a->loop->server;
    const srv_connections *open_here = &a->loop->connections;
    if (a->loop->scope != API_ALL_RESOURCES) return open_here->count < MOST_PROBES + open_here->n_closing;
    size_t open = (size_t)api_metric_value(API_METRIC_CONNECTIONS, API_NO_LABELS);
    return open < server->config->connections + open_here->n_closing;
}

/* True if a connection waits to be accepted. */
static bool is_awaited(int listener)
{
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    return poll(&waiting, 1, 0) > 0;
}

/* Only a trusted proxy may say who its client is. */
static void accept_from_proxy(srv_acceptor *a, size_t i, int fd, const struct sockaddr_storage *peer)
{
    srv_ip ip;
    if (srv_ip_of((const struct sockaddr *)peer, &ip) && srv_networks_contain(&a->loop->credentials->proxies, &ip))
        srv_proxy_header_begin(a->loop, fd, a->daemon[i], peer);
    else
        close(fd);
}

/* Accepts one connection. False if none is pending (EAGAIN) or accepting fails. */
static bool accept_one(srv_acceptor *a, size_t i)
{
    struct sockaddr_storage peer;
    socklen_t               size = sizeof peer;
    int                     fd = accept4(a->listener[i], (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return errno == ECONNABORTED || errno == EINTR;
    if (a->has_proxy_header[i]) {
        accept_from_proxy(a, i, fd, &peer);
        return true;
    }
    /* On failure, MHD_add_connection closes fd. */
    MHD_add_connection(a->loop->mhd[a->daemon[i]], fd, (struct sockaddr *)&peer, size);
    return true;
}

/* Stops polling: a level-triggered poll of a socket that stays readable would spin. */
static void pause_all(srv_acceptor *a)
{
    a->paused = true;
    a->retry  = srv_now() + RETRY_INTERVAL;
    for (size_t i = 0; i < a->n; i++)
        uv_poll_stop(&a->poll[i]);
}

static void on_listener(uv_poll_t *listener, int status, int events)
{
    (void)status, (void)events;
    srv_acceptor *a    = listener->data;
    size_t        i    = (size_t)(listener - a->poll);
    int           left = ACCEPTS_PER_TURN;
    bool          room = true;
    srv_connections_read_clock(&a->loop->connections);
    for (; left > 0; left--) {
        if (!has_room(a) && !is_awaited(a->listener[i])) return;
        room = has_room(a) || srv_connections_displace(&a->loop->connections, NULL, NULL);
        if (!room || !accept_one(a, i)) break;
    }
    if (left < ACCEPTS_PER_TURN) srv_loop_turn_soon(a->loop); /* the next turn closes the displaced connections */
    if (left == 0 || (room && errno == EAGAIN)) return;
    pause_all(a);
    srv_loop_turn_soon(a->loop); /* the loop's next turn schedules the next check for room */
}

void srv_accept_resume(srv_acceptor *a)
{
    if (!a->paused || (!has_room(a) && srv_now() < a->retry)) return;
    a->paused = false;
    for (size_t i = 0; i < a->n; i++)
        uv_poll_start(&a->poll[i], UV_READABLE, on_listener);
}

/* Adds one listening socket. */
static bool add_source(srv_acceptor *a, const srv_listeners *listeners, size_t listener, int fd)
{
    if (a->n == SRV_SOURCES_MOST) return false;
    a->listener[a->n]         = fd;
    a->has_proxy_header[a->n] = listeners->listener[listener].address.proxy;
    a->is_kept[a->n]          = *listeners->listener[listener].name != '\0';
    a->daemon[a->n]           = srv_listener_uses_tls(listeners, listener) ? SRV_TLS : SRV_PLAIN;
    a->poll[a->n].data        = a;
    return uv_poll_init(&a->loop->uv, &a->poll[a->n++], fd) == 0;
}

bool srv_accept_begin(srv_acceptor *a, struct srv_loop *loop, const srv_listeners *listeners, size_t index)
{
    a->loop   = loop;
    a->n      = 0;
    a->paused = true;
    for (size_t i = 0; i < listeners->n; i++) {
        const srv_listener *listener = &listeners->listener[i];
        for (size_t k = index; k < listener->n_sockets; k += listeners->loops)
            if (!add_source(a, listeners, i, listener->sockets[k])) return false;
    }
    srv_accept_resume(a);
    return true;
}

/* The kernel has acknowledged these connections to their clients, so they are accepted even beyond the limit. */
void srv_accept_end(srv_acceptor *a, bool handed_over)
{
    pause_all(a);
    for (size_t i = 0; i < a->n; i++) {
        while (!handed_over && !a->is_kept[i] && accept_one(a, i))
            ;
        close(a->listener[i]);
    }
    a->n      = 0;
    a->paused = false;
}
