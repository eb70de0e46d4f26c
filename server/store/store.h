/* store.h - the models that clients have put, on disk: a folder that belongs to one server at a time.
 *
 *     DIR/format            "torqued-store 1"
 *     DIR/lock              locked (flock) while a server runs; holds its process number
 *     DIR/models/NAME.json  one record per name, written by the api, read by nobody else
 *
 * A change is one rename of a whole, synced file, followed by a sync of the folder: after a crash there is the record
 * from before or the one from after, and what was acknowledged is there. A file that cannot be read is left alone. */
#pragma once
#include "api/api.h"
#include "server/log.h"

typedef struct srv_store srv_store;

/* Opens the folder, made if need be, and locks it. NULL and a message: in use, of another format, not accessible. */
srv_store *srv_store_open(const char *folder, srv_log *log, char *error, size_t error_size);
void       srv_store_close(srv_store *store); /* NULL is fine */

/* Hands every record to api_restore. Those that it cannot take are logged, told to /readyz, and counted. That
 * nothing can be written is told likewise, and no failure. */
typedef struct srv_restored {
    size_t good, bad;
    bool   read_only;
} srv_restored;
bool srv_store_restore(srv_store *store, api *api, srv_restored *restored, char *error, size_t error_size);

/* What api_set_store takes; the store stays the caller's. */
api_store srv_store_interface(srv_store *store);
