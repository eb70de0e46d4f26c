/* reload.h - read settings, clients and certificates again while the server runs.
 *
 * A reload takes effect as a whole, or not at all: an error leaves everything as it was. Settings that need a restart
 * (srv_setting_reloads) keep their values, and the log names those that differ. Configurations that were in force live
 * until the process ends, since loops and workers may still read their texts. */
#pragma once
#include "server/net/event_loop.h"

/* A configuration that a reload has put into force. */
typedef struct srv_generation srv_generation;

typedef struct srv_reloader {
    int                  argc;
    char *const         *argv;
    srv_server          *server;
    srv_loop            *loops;
    size_t               n_loops;
    const srv_listeners *listeners;
    srv_config           accepted;    /* the settings in force as they were given, without derived numbers */
    srv_generation      *generations; /* list, the newest first; NULL: the settings of the start are in force */
} srv_reloader;

/* Called by the main thread: reads settings, tokens and certificates again. False: that failed, and those before stay
 * in force. The log and the metrics tell which. */
bool srv_reload(srv_reloader *reloader);
void srv_reloader_free(srv_reloader *reloader); /* call when no other thread runs */
