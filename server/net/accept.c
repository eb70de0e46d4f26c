/* accept.c - see accept.h. */
#define _GNU_SOURCE /* accept4 */
#include "accept.h"
#include "event_loop.h"
#include "proxy_header.h"
#include "api/metrics.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS_PER_TURN = 64 }; /* connections accepted per event, before other events are handled */

static void on_listener(uv_poll_t *poll, int status, int events);

/* Loops that check the limit at the same time may exceed it by one connection each. */
static bool has_room(const srv_acceptor *a)
{
    const srv_server *server = a->loop->server;
    return (size_t)api_metric_value(API_METRIC_CONNECTIONS, API_NO_LABELS) < server->config->connections;
}

/* Only a trusted proxy may say who its client is. */
static void accept_from_proxy(srv_acceptor *a, size_t i, int fd, const struct sockaddr_storage *peer)
{
    srv_ip ip;
    if (srv_ip_of((const struct sockaddr *)peer, &ip) && srv_networks_contain(&a->loop->server->proxies, &ip))
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
    for (size_t i = 0; i < a->n; i++)
        uv_poll_stop(&a->poll[i]);
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    srv_acceptor *a    = poll->data;
    size_t        i    = (size_t)(poll - a->poll);
    int           left = ACCEPTS_PER_TURN;
    while (left > 0 && has_room(a) && accept_one(a, i))
        left--;
    if (left == 0 || (has_room(a) && errno == EAGAIN)) return;
    pause_all(a);
    srv_loop_wake(a->loop); /* the loop's next turn schedules the next check for room */
}

void srv_accept_resume(srv_acceptor *a)
{
    if (!a->paused || !has_room(a)) return;
    a->paused = false;
    for (size_t i = 0; i < a->n; i++)
        uv_poll_start(&a->poll[i], UV_READABLE, on_listener);
}

bool srv_accept_begin(srv_acceptor *a, struct srv_loop *loop, const srv_listeners *listeners, size_t index)
{
    *a = (srv_acceptor){.loop = loop, .n = listeners->n, .paused = true};
    for (size_t i = 0; i < a->n; i++) {
        a->listener[i]         = listeners->listener[i].sockets[index];
        a->has_proxy_header[i] = listeners->listener[i].address.proxy;
        a->daemon[i]           = srv_listener_uses_tls(listeners, i) ? SRV_TLS : SRV_PLAIN;
    }
    for (size_t i = 0; i < a->n; i++) {
        a->poll[i].data = a;
        if (uv_poll_init(&loop->uv, &a->poll[i], a->listener[i]) != 0) return false;
    }
    srv_accept_resume(a);
    return true;
}

/* The kernel has acknowledged these connections to their clients, so they are accepted even beyond the limit. */
void srv_accept_end(srv_acceptor *a)
{
    pause_all(a);
    for (size_t i = 0; i < a->n; i++) {
        while (accept_one(a, i))
            ;
        close(a->listener[i]);
    }
    a->n      = 0;
    a->paused = false;
}
