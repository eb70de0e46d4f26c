/* load_models.c - see load_models.h. */
#include "load_models.h"
#include "snapshot.h"
#include <errno.h>
#include <string.h>

typedef struct load_progress {
    srv_log *log;
    size_t   loaded;
} load_progress;

static void report_file(void *arg, const char *file, const char *problem)
{
    load_progress *t = arg;
    t->loaded += problem == NULL;
    srv_line line;
    srv_log_begin(&line, t->log, problem ? SRV_WARNING : SRV_DEBUG, "model");
    srv_log_text(&line, "file", file);
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
}

static bool load_bundled(const srv_config *config, srv_log *log, api *service, srv_loaded_models *loaded, char *error,
                         size_t size)
{
    load_progress progress = {.log = log};
    srv_config_models_folder(config, loaded->models, sizeof loaded->models);
    bool ok         = api_load_models(service, loaded->models, report_file, &progress);
    loaded->bundled = progress.loaded;
    if (!ok)
        snprintf(error, size, "cannot read the models' folder %.200s: %s; name another with --models DIR",
                 loaded->models, strerror(errno));
    return ok;
}

/* Starts to follow a database. */
static bool load_database(const char *url, srv_log *log, api *service, srv_loaded_models *loaded, char *error,
                          size_t size)
{
    srv_postgres_url_print(url, loaded->folder, sizeof loaded->folder);
    loaded->database = srv_postgres_open(url, log, error, size);
    if (!loaded->database) return false;
    api_store store = srv_postgres_interface(loaded->database);
    api_set_store(service, &store);
    if (srv_postgres_start(loaded->database, service, error, size)) return true;
    srv_close_models(loaded);
    return false;
}

srv_store_kind srv_store_kind_of(const char *store)
{
    return store && srv_postgres_is_url(store) ? SRV_STORE_DATABASE : SRV_STORE_FOLDER;
}

bool srv_models_watch(srv_loaded_models *loaded)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return srv_store_watch(loaded->store);
    case SRV_STORE_DATABASE: return true;
    }
    return false;
}

bool srv_models_load_later(const srv_loaded_models *loaded)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return false;
    case SRV_STORE_DATABASE: return true;
    }
    return false;
}

bool srv_models_share(srv_loaded_models *loaded, int link, bool loads)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return srv_store_share(loaded->store, link, loads);
    case SRV_STORE_DATABASE: return srv_postgres_share(loaded->database, link, loads);
    }
    return false;
}

bool srv_models_are_shared(const srv_loaded_models *loaded)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return srv_store_is_shared(loaded->store);
    case SRV_STORE_DATABASE: return srv_postgres_is_shared(loaded->database);
    }
    return false;
}

bool srv_models_tell_changes(srv_loaded_models *loaded)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return srv_store_loaded(loaded->store);
    case SRV_STORE_DATABASE: return srv_postgres_loaded(loaded->database);
    }
    return false;
}

/* Shares the store with the server that hands over to this one, if there is one. */
static bool share(srv_loaded_models *loaded, int link, char *error, size_t size)
{
    if (link < 0 || srv_models_share(loaded, link, false)) return true;
    snprintf(error, size, "cannot share the store %.300s with the server that hands over", loaded->folder);
    srv_close_models(loaded);
    return false;
}

/* Opens a folder, with the lock of the server that hands over, if there is one. */
static bool load_folder(const srv_config *config, srv_log *log, api *service, srv_loaded_models *loaded, char *error,
                        size_t size)
{
    if (!srv_config_store_folder(config, loaded->folder, sizeof loaded->folder, error, size)) return false;
    const int lock = loaded->store_lock;
    loaded->store  = lock >= 0 ? srv_store_join(loaded->folder, log, lock, error, size)
                               : srv_store_open(loaded->folder, log, error, size);
    if (!loaded->store) return false;
    if (!srv_store_restore(loaded->store, service, &loaded->stored, error, size)) {
        srv_store_close(loaded->store);
        loaded->store = NULL;
        return false;
    }
    api_store store = srv_store_interface(loaded->store);
    api_set_store(service, &store);
    return true;
}

bool srv_load_models(const srv_config *config, srv_log *log, api *service, srv_loaded_models *loaded, char *error,
                     size_t size)
{
    const int lock = loaded->store_lock, link = loaded->link;
    bool      done = false;
    *loaded        = (srv_loaded_models){.kind = srv_store_kind_of(config->store), .store_lock = lock, .link = -1};
    if (!load_bundled(config, log, service, loaded, error, size)) return false;
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: done = load_folder(config, log, service, loaded, error, size); break;
    case SRV_STORE_DATABASE: done = load_database(config->store, log, service, loaded, error, size); break;
    }
    loaded->store_lock = -1;
    return done && share(loaded, link, error, size);
}

bool srv_load_snapshot(const srv_config *config, srv_log *log, api *service, srv_loaded_models *loaded, char *error,
                       size_t size)
{
    *loaded = (srv_loaded_models){.kind = srv_store_kind_of(config->store), .watch = loaded->watch};
    if (!load_bundled(config, log, service, loaded, error, size)) return false;
    switch (loaded->kind) {
    case SRV_STORE_FOLDER:
        return srv_config_store_folder(config, loaded->folder, sizeof loaded->folder, error, size) &&
               srv_snapshot_read(loaded->folder, service, &loaded->watch, &loaded->stored, error, size);
    case SRV_STORE_DATABASE:
        srv_postgres_url_print(config->store, loaded->folder, sizeof loaded->folder);
        return srv_postgres_read(config->store, service, &loaded->watch, &loaded->stored.bad, error, size);
    }
    return false;
}

bool srv_await_models(srv_loaded_models *loaded, char *error, size_t size)
{
    switch (loaded->kind) {
    case SRV_STORE_FOLDER: return true;
    case SRV_STORE_DATABASE:
        if (!srv_postgres_wait(loaded->database, error, size)) return false;
        loaded->stored.bad = srv_postgres_unreadable(loaded->database);
        return true;
    }
    return false;
}

void srv_close_models(srv_loaded_models *loaded)
{
    srv_store_unwatch(loaded->store);
    srv_store_close(loaded->store);
    srv_postgres_close(loaded->database);
    loaded->store    = NULL;
    loaded->database = NULL;
}
