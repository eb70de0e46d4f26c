/* accept.h - takes connections from the listening sockets of a loop, as long as the server has room for more: beyond
 * it they wait in the kernel's queue. Used from the loop's thread. */
#pragma once
#include "listen.h"
#include <uv.h>

struct srv_loop;

typedef struct srv_acceptor {
    struct srv_loop *loop;
    size_t           n;
    int              listener[SRV_LISTEN_MOST];
    uv_poll_t        poll[SRV_LISTEN_MOST];
    bool             paused; /* no room, or no descriptors */
} srv_acceptor;

/* Watches the loop's listening sockets, which it owns from here on. False: no memory or descriptors. */
bool srv_accept_begin(srv_acceptor *acceptor, struct srv_loop *loop, const int listeners[], size_t n);

void srv_accept_resume(srv_acceptor *acceptor); /* there may be room now */

/* Takes what the kernel has completed already, and closes the listening sockets. */
void srv_accept_end(srv_acceptor *acceptor);
