/* store_restore.c - restores the models of all records, and those that the other server of a hand-over has changed. */
#include "store_state.h"
#include "api/metrics.h"
#include "server/work/cores.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void report_unreadable(const srv_store *store, api *service, const char *file, const char *problem)
{
    srv_line line;
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_READ}}, 1);
    srv_log_begin(&line, store->log, SRV_WARNING, "unreadable");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "file", file);
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
    api_set_reason(service, file, "store: models/%.100s is left alone: %s", file, problem);
}

bool srv_store_restore(srv_store *store, api *service, srv_restored *restored, char *error, size_t size)
{
    srv_record_files files;
    *restored      = (srv_restored){0};
    store->service = service;
    if (!srv_records_list(store->models, !store->joined, &files)) return srv_store_fail(store, "read", error, size);
    srv_records_restore(store->models, service, srv_usable_cores(), &files);
    for (size_t i = 0; i < files.n; i++) {
        const srv_record_file *file = &files.file[i];
        restored->good += file->good;
        restored->bad += !file->good;
        if (!file->good) report_unreadable(store, service, file->name, file->problem ? file->problem : "no memory");
    }
    srv_records_free(&files);
    restored->read_only = faccessat(store->models, ".", W_OK, AT_EACCESS) != 0;
    if (restored->read_only) srv_store_report_disk(store, true, errno);
    return true;
}

/* Reads the record of a model that the other server has changed. */
static void read_again(void *arg, const char *name)
{
    srv_store      *store = arg;
    api_saved_model saved;
    char            file[FILE_NAME_SIZE];
    struct stat     status;
    snprintf(file, sizeof file, "%.200s" SRV_RECORD_SUFFIX, name);
    bool exists = fstatat(store->models, file, &status, 0) == 0;
    if (!exists) api_forget_model(store->service, name);
    if (exists) srv_record_read(store->models, store->service, file, name, &saved);
    if (exists && !api_restore(store->service, name, &saved))
        report_unreadable(store, store->service, file, saved.problem.detail);
    else
        api_clear_reason(store->service, file);
}

bool srv_store_share(srv_store *store, int link, bool loads)
{
    const srv_handover_sync_reader reader = {read_again, store};
    pthread_mutex_lock(&store->changing);
    srv_handover_sync_close(store->sync);
    store->sync = srv_handover_sync_open(store->root, link, loads, &reader);
    bool shares = store->sync != NULL;
    if (shares && !loads)
        srv_store_sign_lock(store->root); /* the other server will end: the lock file then names this process */
    pthread_mutex_unlock(&store->changing);
    return shares;
}

bool srv_store_loaded(srv_store *store)
{
    pthread_mutex_lock(&store->changing);
    bool good = srv_handover_sync_loaded(store->sync);
    pthread_mutex_unlock(&store->changing);
    return good;
}

bool srv_store_is_shared(srv_store *store)
{
    return srv_handover_sync_is_alive(store->sync); /* no lock: only the calling thread replaces `sync` */
}

int srv_store_lock_descriptor(const srv_store *store)
{
    return store->lock;
}
