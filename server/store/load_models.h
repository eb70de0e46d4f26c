/* load_models.h - the models at start: the bundled ones, then those of the store, which shadow them. */
#pragma once
#include "store.h"

typedef struct srv_loaded_models {
    srv_store   *store;                      /* open, and the api's from now on; the caller closes it after the api */
    char         models[4096], folder[4096]; /* of the bundled ones; of the store */
    size_t       bundled;                    /* models read from there */
    srv_restored stored;
} srv_loaded_models;

/* False and a message; then nothing is open. Files that cannot be read are logged, told to /readyz, and no failure. */
bool srv_load_models(const srv_config *config, srv_log *log, api *api, srv_loaded_models *loaded, char *error,
                     size_t error_size);
