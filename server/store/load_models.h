/* load_models.h - load the models when the server starts: the bundled ones, then those of the store, which take
 * precedence. */
#pragma once
#include "store.h"
#include "postgres/postgres_store.h"

/* Kinds of stores. Each place that treats them differently has a switch over all of them, so that the compiler names
 * the places of a kind that is added. */
typedef enum srv_store_kind { SRV_STORE_FOLDER, SRV_STORE_DATABASE } srv_store_kind;

/* Returns the kind that the value of --store chooses; NULL: the folder by default. */
srv_store_kind srv_store_kind_of(const char *store);

typedef struct srv_loaded_models {
    srv_store_kind kind;
    srv_store     *store;                      /* NULL unless an open store is a folder */
    srv_postgres  *database;                   /* NULL unless an open store is a database */
    char           models[4096], folder[4096]; /* folder of the bundled models; folder or URL of the store */
    size_t         bundled;                    /* number of bundled models loaded */
    srv_restored   stored;
    int            store_lock, link; /* descriptors of a hand-over, set before srv_load_models; -1: none */
    srv_read_watch watch;            /* for srv_load_snapshot, set before the call */
} srv_loaded_models;

/* False with a message; then nothing is open. A file that cannot be read is logged and reported by /readyz, but is
 * no failure. A database is read by a thread of its own, which calls api_set_ready: the server may start while the
 * database is away. */
bool srv_load_models(const srv_config *config, srv_log *log, api *api, srv_loaded_models *loaded, char *error,
                     size_t error_size);

/* Starts the probe of a folder (probe.h); a database is watched by its own thread. False: out of memory or threads. */
bool srv_models_watch(srv_loaded_models *loaded);

/* True if a thread of the store reads the models after srv_load_models, and says when the service is ready. */
bool srv_models_load_later(const srv_loaded_models *loaded);

/* For a hand-over: the functions of the folder (store.h), or those of the database. */
bool srv_models_share(srv_loaded_models *loaded, int link, bool loads);
bool srv_models_tell_changes(srv_loaded_models *loaded);
bool srv_models_are_shared(const srv_loaded_models *loaded);

/* For a command that only reads: loads the bundled models and those of the store as they are at one moment, also while
 * servers use the store, which stays as it is. loaded->watch names the records that cannot be read; they are counted in
 * loaded->stored.bad. Nothing is open afterwards. False with a message. */
bool srv_load_snapshot(const srv_config *config, srv_log *log, api *api, srv_loaded_models *loaded, char *error,
                       size_t error_size);

/* For a command: waits until the models of a database are read. False with a message. */
bool srv_await_models(srv_loaded_models *loaded, char *error, size_t error_size);

/* Closes the store; call it when no change is under way, before api_close. */
void srv_close_models(srv_loaded_models *loaded);
