/* http_daemon.h - create the libmicrohttpd daemon of one loop and implement its callbacks. */
#pragma once
#include "event_loop.h"

/* Starts a daemon without threads or listening sockets: the loop runs it and adds the connections. NULL if it does
 * not start. */
struct MHD_Daemon *srv_http_start(srv_loop *loop, srv_daemon daemon);
