/* http_daemon.h - libmicrohttpd's side: the daemon of one loop and its callbacks. */
#pragma once
#include "event_loop.h"

/* A daemon to be driven by the loop, which hands it its connections. NULL: it would not start. */
struct MHD_Daemon *srv_http_start(srv_loop *loop);
