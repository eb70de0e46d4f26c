/* store.h - store the models that clients PUT on disk, in a folder that one server uses at a time.
 *
 *     DIR/format            "torqued-store 1"
 *     DIR/lock              locked (flock) while a server runs; contains its process number
 *     DIR/models/NAME.json  one record per name, in a format that only the api reads
 *
 * A change renames a completely written and synced file, then syncs the folder. After a crash each record is the old
 * or the new one, and every acknowledged change is present. Records carry a checksum (checksum.h). Files that cannot be
 * read are not touched. While the folder is not at its path, changes are refused. /readyz names a file that could not
 * be read until its model is put or deleted. While the server runs, srv_store_watch checks the disk again and again:
 * /readyz names a full, read-only or vanished folder until it is repaired. */
#pragma once
#include "api/api.h"
#include "server/log.h"

typedef struct srv_store srv_store;

#define SRV_STORE_FORMAT "torqued-store 1\n" /* content of the file "format" */

/* Opens the folder, creating it if necessary, and locks it. NULL with a message if it is in use, has another format,
 * or cannot be accessed. */
srv_store *srv_store_open(const char *folder, srv_log *log, char *error, size_t error_size);
void       srv_store_close(srv_store *store); /* NULL is allowed */

/* For a hand-over (handover_sync.h). srv_store_join opens the folder that another server uses, with its lock, which is
 * owned from now on. srv_store_share begins to share it by a link, which is owned, too: `loads` is true in the server
 * that hands over, before the other one starts, and false in the other one, when it has restored all records.
 * srv_store_loaded then makes the other server read the changes since. False: the servers cannot share the folder. */
srv_store *srv_store_join(const char *folder, srv_log *log, int lock, char *error, size_t error_size);
bool       srv_store_share(srv_store *store, int link, bool loads);
bool       srv_store_loaded(srv_store *store);
bool       srv_store_is_shared(srv_store *store); /* true while the other server is there */
int        srv_store_lock_descriptor(const srv_store *store);

/* Restores every record, in the order of names. A record that cannot be read is logged, reported by /readyz and
 * counted. A read-only store is also logged and reported by /readyz, and is no failure. */
typedef struct srv_restored {
    size_t good, bad;
    bool   read_only;
} srv_restored;
bool srv_store_restore(srv_store *store, api *api, srv_restored *restored, char *error, size_t error_size);

/* Probes the disk at intervals, on a thread of its own. Call srv_store_watch after restoring, and srv_store_unwatch
 * before the api is closed; NULL is allowed there. False: no memory or no thread. */
bool srv_store_watch(srv_store *store);
void srv_store_unwatch(srv_store *store);

/* The interface for api_set_store; the caller still owns the store. */
api_store srv_store_interface(srv_store *store);
