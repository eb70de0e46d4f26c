/* accept.h - accept connections from the listening sockets of one loop, up to the limit of connections of the server.
 * Beyond the limit, a new connection takes the place of a silent one; if none of this loop is silent, it waits in the
 * kernel's queue. Only the loop's thread calls these functions. */
#pragma once
#include "listen.h"
#include <uv.h>

struct srv_loop;

/* A daemon of libmicrohttpd encrypts all of its connections, or none. */
typedef enum srv_daemon { SRV_PLAIN, SRV_TLS, SRV_DAEMONS } srv_daemon;

typedef struct srv_proxy_arrival srv_proxy_arrival; /* proxy_header.c */

enum { SRV_SOURCES_MOST = SRV_SOCKETS_MOST };

typedef struct srv_acceptor {
    struct srv_loop *loop;
    size_t           n;
    int              listener[SRV_SOURCES_MOST];
    bool             has_proxy_header[SRV_SOURCES_MOST];
    bool             is_kept[SRV_SOURCES_MOST]; /* systemd keeps the socket open, and its queue */
    srv_daemon       daemon[SRV_SOURCES_MOST];  /* daemon of libmicrohttpd that gets the connections of the listener */
    uv_poll_t        poll[SRV_SOURCES_MOST];
    bool             paused; /* true: not polling, because the limit of connections or descriptors is reached */
    uint64_t         retry;  /* ns, when to poll again although there is no room */
} srv_acceptor;

/* Starts polling the sockets of each listener that belong to loop number `index`, which the acceptor owns from now on.
 * False if memory or descriptors are short, or there are too many sockets. */
bool srv_accept_begin(srv_acceptor *acceptor, struct srv_loop *loop, const srv_listeners *listeners, size_t index);

void srv_accept_resume(srv_acceptor *acceptor); /* resumes polling if there is room, or it is time to look for it */

/* Closes the listening sockets. Before that accepts the connections that the kernel has already established, unless
 * another process accepts from the socket (`handed_over`) or systemd keeps it open: then they stay in its queue. */
void srv_accept_end(srv_acceptor *acceptor, bool handed_over);
