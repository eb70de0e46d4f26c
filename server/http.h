/* http.h - libmicrohttpd's side: the daemon of one loop and its callbacks. */
#pragma once
#include "loop.h"

/* A daemon on a listening socket (owned by it on success), to be driven by the loop. NULL: it would not start. */
struct MHD_Daemon *srv_http_start(srv_loop *loop, int listener, unsigned connections);
