/* service.h - the service of one process: its sockets, loops, workers, models and log, from start to end.
 *
 * The main thread alone calls these functions. The loops, the pools and the threads of the store run beside it. */
#pragma once
#include "server/net/event_loop.h"
#include "server/operating/memory_watch.h"
#include "server/operating/reload.h"
#include "server/operating/wall_clock.h"
#include "server/store/load_models.h"
#include "upgrade.h"
#include "watchdog.h"

typedef struct srv_service {
    srv_config        config;
    srv_log           log;
    srv_server        shared;
    srv_loop         *loops;
    size_t            n_health; /* number of loops for probes, 0 or 1, which are the first */
    size_t            n_loops;  /* number of loops started */
    srv_loaded_models models;
    srv_watchdog      watchdog;
    srv_memory_watch  memory;
    srv_wall_clock    wall_clock;
    srv_accounts      accounts;
    srv_slow_log      slow_log;
    srv_listeners     listeners, health;
    srv_inherited     inherited; /* sockets and links that were passed on to this process */
    srv_upgrade       upgrade;
    bool              handed_over; /* a new process serves */
    srv_reloader      reloader;
} srv_service;

/* Opens the sockets, starts the threads and loads the models, in the order that the sockets
 * need: with sockets of systemd or of a server that hands over, the models come first. False with a message: the
 * service may have begun in part, which srv_service_run ends. */
bool srv_service_start(srv_service *service, char *error, size_t error_size);

/* Starts the service, serves until a signal or a successor ends it, drains and closes everything. The configuration and
 * the log are open; both are closed. Returns the exit status: 0 served, 1 could not start, 2 invalid argument. */
int srv_service_run(srv_service *service);

/* Lines of the log: the version and all settings; the addresses of one list; what --insecure has allowed. */
void srv_service_log_start(srv_service *service);
void srv_service_log_addresses(srv_service *service, const srv_listeners *all);
void srv_service_log_exposure(srv_service *service);

/* Prints the addresses of the pages, how to install a client, and an example request for a user who started the server
 * in a terminal. */
void srv_service_show_example(srv_service *service);
