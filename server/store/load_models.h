/* load_models.h - load the models when the server starts: the bundled ones, then those of the store, which take
 * precedence. */
#pragma once
#include "store.h"

typedef struct srv_loaded_models {
    srv_store   *store;                      /* open and used by the api; the caller closes it after the api */
    char         models[4096], folder[4096]; /* folders of the bundled models and of the store */
    size_t       bundled;                    /* number of bundled models loaded */
    srv_restored stored;
} srv_loaded_models;

/* False with a message; then nothing is open. A file that cannot be read is logged and reported by /readyz, but is
 * no failure. */
bool srv_load_models(const srv_config *config, srv_log *log, api *api, srv_loaded_models *loaded, char *error,
                     size_t error_size);
