/* snapshot.h - read the models of a store as they are at one moment, also while a server changes them.
 *
 * Nothing is locked or written, so that reading needs no permission to write and delays no change. */
#pragma once
#include "store.h"
#include "postgres/postgres_store.h"

/* Reads all records of a folder into the api, which has the bundled models. A change that is acknowledged before the
 * call is seen, and of two changes never the later one alone. A record that cannot be read is reported and counted.
 * False with a message: there is no store, it has another format, or its models change all the time. */
bool srv_snapshot_read(const char *folder, api *api, const srv_read_watch *watch, srv_restored *restored, char *error,
                       size_t error_size);
