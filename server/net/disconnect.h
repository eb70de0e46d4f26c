/* disconnect.h - detect that a client closes its side of a connection, independently of libmicrohttpd. */
#pragma once
#include <uv.h>

typedef struct srv_disconnect srv_disconnect;

/* Calls `callback(arg)` once when the peer closes or half-closes the connection. NULL if memory is short; then there is
 * no notification. */
srv_disconnect *srv_disconnect_watch(uv_loop_t *loop, int fd, void (*callback)(void *arg), void *arg);

/* Stops and frees the watch, also from within `callback`. Call before closing the socket. NULL is allowed. */
void srv_disconnect_stop(srv_disconnect *watch);
