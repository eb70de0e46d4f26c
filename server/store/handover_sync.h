/* handover_sync.h - let two servers of one folder or database agree on changes while the first hands over to the
 * second.
 *
 * The two servers have the same models, and either may change them. A change excludes those of the other server by a
 * lock of the kernel, and is acknowledged to its client only when the other server has read the record. A link, one end
 * of a pair of sockets of the type SOCK_SEQPACKET, carries the names of changed models and the confirmations. When a
 * server ends, its end of the link closes, and the other goes on alone. */
#pragma once
#include "api/api.h"
#include "server/log.h"

typedef struct srv_handover_sync srv_handover_sync;

/* Functions of the store that the thread of a link calls. */
typedef struct srv_handover_sync_reader {
    /* Reads the record of a model again, or notices that there is none. A database has numbers of changes in place of
     * names, and waits until that change has arrived. */
    void (*read)(void *arg, const char *name);
    void *arg;
} srv_handover_sync_reader;

/* Begins to share. `link` is owned from now on, `folder` is that of the file "lock"; -1: the store
 * itself orders the changes of both servers. `loads`: the other server still
 * loads the models, so that changes are noted for it and do not wait; srv_handover_sync_loaded ends that. NULL with
 * errno: no memory, descriptors or threads, or a folder that cannot be changed; the link is closed. */
srv_handover_sync *srv_handover_sync_open(int folder, int link, bool loads, const srv_handover_sync_reader *reader);
void               srv_handover_sync_close(srv_handover_sync *sync); /* NULL is allowed */

/* True while the other server runs. NULL is allowed. */
bool srv_handover_sync_is_alive(srv_handover_sync *sync);

/* Begins a change, once that of the other server has ended. False with a problem if that takes too long. Does not wait
 * if there is no link: NULL, or the other server has ended. */
bool srv_handover_sync_begin(srv_handover_sync *sync, api_problem *problem);

/* Makes the other server read a record. False: it runs, and has not confirmed that within some seconds. */
bool srv_handover_sync_tell(srv_handover_sync *sync, const char *name);
void srv_handover_sync_end(srv_handover_sync *sync);

/* The other server has loaded the models: makes it read those that have changed meanwhile. Later changes wait for it.
 * False: it does not answer, or there were too many changes. */
bool srv_handover_sync_loaded(srv_handover_sync *sync);
