/* upgrade.c - starts the successor of this server, shares the store with it, and tells systemd when it serves. */
#include "upgrade.h"
#include "notify.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void srv_upgrade_init(srv_upgrade *u, srv_log *log, srv_loaded_models *models)
{
    *u = (srv_upgrade){.successor = {.control = -1}, .log = log, .models = models};
}

static void report_not_handed_over(srv_upgrade *u, const char *reason)
{
    srv_log_message(u->log, SRV_ERROR, "not-handed-over", "%s; this server goes on", reason);
}

/* Appends the listening sockets to the list, under the names by which the successor knows who keeps them. Returns its
 * new length. */
static size_t list_sockets(const srv_listeners *listeners, srv_passed *passed, size_t n, size_t most)
{
    for (size_t i = 0; i < listeners->n; i++) {
        const srv_listener *listener = &listeners->listener[i];
        for (size_t k = 0; k < listener->n_sockets && n < most; k++)
            passed[n++] = (srv_passed){listener->sockets[k], *listener->name ? listener->name : SRV_OWN_SOCKET};
    }
    return n;
}

/* Shares the store by a link, whose other end is returned; -1 with errno. */
static int share_store(srv_loaded_models *models)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    if (srv_models_share(models, ends[0], true)) return ends[1];
    int error = errno;
    close(ends[1]);
    errno = error;
    return -1;
}

static bool start_successor(srv_upgrade *u)
{
    srv_passed   passed[SRV_INHERITED_MOST] = {{.fd = -1}};
    srv_store   *store                      = u->models->store;
    int          link                       = share_store(u->models);
    const size_t most                       = SRV_INHERITED_MOST - SRV_HANDOVER_ENDS;
    size_t       n                          = list_sockets(u->listeners, passed, 0, most);
    n                                       = list_sockets(u->health, passed, n, most);
    if (link < 0) return false;
    passed[n++] = (srv_passed){link, srv_handover_names[SRV_END_STORE_LINK]};
    if (store) passed[n++] = (srv_passed){srv_store_lock_descriptor(store), srv_handover_names[SRV_END_STORE_LOCK]};
    bool started = srv_successor_start(&u->successor, passed, n);
    int  error   = errno;
    close(link);
    errno = error;
    return started;
}

void srv_upgrade_begin(srv_upgrade *u)
{
    char reason[200];
    if (u->successor.process > 0) return;
    u->waits = srv_models_are_shared(u->models);
    if (u->waits) {
        srv_log_message(u->log, SRV_INFO, "hand-over-waits",
                        "the process before this one still finishes its connections");
    } else if (getpid() == 1) {
        report_not_handed_over(u, "this is process 1, with which a container ends; start another container instead");
    } else if (start_successor(u)) {
        srv_log_message(u->log, SRV_INFO, "handing-over", "process %ld has been started", (long)u->successor.process);
    } else {
        snprintf(reason, sizeof reason, "the program cannot be started anew: %s", strerror(errno));
        report_not_handed_over(u, reason);
    }
}

/* The successor has loaded the models: makes it read those that have changed since, and lets it accept. */
static void let_go(srv_upgrade *u)
{
    if (srv_models_tell_changes(u->models)) {
        srv_successor_go(&u->successor);
        return;
    }
    srv_successor_stop(&u->successor);
    report_not_handed_over(u, "the new process does not read the models that have changed while it was starting");
}

/* Only the present main process may name another one. */
static void name_main_process(const srv_upgrade *u)
{
    char state[40];
    snprintf(state, sizeof state, "MAINPID=%ld", (long)u->successor.process);
    srv_notify(state);
    srv_log_message(u->log, SRV_INFO, "handed-over", "process %ld accepts connections; this one finishes its own",
                    (long)u->successor.process);
}

bool srv_upgrade_look(srv_upgrade *u)
{
    if (u->waits && !srv_models_are_shared(u->models)) srv_upgrade_begin(u);
    if (u->successor.process <= 0) return false;
    switch (srv_successor_look(&u->successor)) {
    case SRV_HANDOVER_NOTHING: break;
    case SRV_HANDOVER_LOADED: let_go(u); break;
    case SRV_HANDOVER_FAILED: report_not_handed_over(u, "the new process has ended, or was not ready in time"); break;
    case SRV_HANDOVER_ACCEPTING: name_main_process(u); return true;
    }
    return false;
}

void srv_upgrade_cancel(srv_upgrade *u)
{
    u->waits = false;
    srv_successor_stop(&u->successor);
}
