/* upgrade.h - hand the service over to a new process of the program, for the main thread of the server.
 *
 * SIGUSR2 begins it (server/handover/successor.h). The models of a folder are shared meanwhile
 * (server/store/handover_sync.h).
 */
#pragma once
#include "server/handover/successor.h"
#include "server/net/listen.h"
#include "server/store/load_models.h"

typedef struct srv_upgrade {
    srv_successor      successor;
    srv_log           *log;
    srv_listeners     *listeners, *health;
    srv_loaded_models *models;
    bool               waits; /* until the process before this one has ended: at most two processes share the store */
} srv_upgrade;

void srv_upgrade_init(srv_upgrade *upgrade, srv_log *log,
                      srv_loaded_models *models); /* the caller then sets the listeners */

/* Starts the successor. The log has the reason if that fails: the server then goes on. */
void srv_upgrade_begin(srv_upgrade *upgrade);

static inline bool srv_upgrade_is_under_way(const srv_upgrade *upgrade)
{
    return upgrade->waits || upgrade->successor.process > 0;
}

/* Handles what has happened since the last call; does not wait for the successor. True: the successor accepts
 * connections, and systemd knows it as the main process. */
bool srv_upgrade_look(srv_upgrade *upgrade);

void srv_upgrade_cancel(srv_upgrade *upgrade); /* the server is to stop: ends the successor, if there is one */
