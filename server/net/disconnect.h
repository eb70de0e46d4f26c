/* disconnect.h - notices that a client closes its side, whatever libmicrohttpd does with the socket meanwhile. */
#pragma once
#include <uv.h>

typedef struct srv_disconnect srv_disconnect;

/* Calls `gone(arg)` once when the peer closes or half-closes. NULL, and no notice: no memory. */
srv_disconnect *srv_disconnect_watch(uv_loop_t *loop, int fd, void (*gone)(void *arg), void *arg);

/* Before the socket is closed: stops and frees it, also from within `gone`. NULL is fine. */
void srv_disconnect_stop(srv_disconnect *watch);
