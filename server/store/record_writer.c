/* record_writer.c - saves and erases records, so that a change that the disk does not confirm is undone. */
#include "store_state.h"
#include "checksum.h"
#include "durable_file.h"
#include "api/metrics.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Refuses a change that would write `bytes` bytes. */
static bool refuse(srv_store *store, const char *file, size_t bytes, int error, api_problem *problem)
{
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_WRITE}}, 1);
    bool     full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    srv_line line;
    srv_log_begin(&line, store->log, SRV_ERROR, "store");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "file", file);
    srv_log_text(&line, "problem", strerror(error));
    srv_log_end(&line);
    pthread_mutex_lock(&store->mutex);
    store->changes++;
    store->refused = bytes > 0 ? bytes : 1;
    if (store->service)
        api_set_reason(store->service, SRV_STORE_WRITING, "store: the last change was not written: %s",
                       strerror(error));
    pthread_mutex_unlock(&store->mutex);
    return api_fail(problem, full ? API_STORE_FULL : API_STORE_FAILED, NULL,
                    "the store cannot write %s: %s; nothing has changed", file, strerror(error));
}

/* The record before a change: there was none; it is linked to SRV_RECORD_PREVIOUS; or it is not kept. */
typedef enum previous_record { NO_RECORD, LINKED, NOT_LINKED } previous_record;

/* Restores the previous record if the disk did not confirm a change, so that the next start does not find the refused
 * change. */
static void restore_previous(const srv_store *store, const char *file, previous_record before)
{
    int error = errno;
    if (before == LINKED) renameat(store->models, SRV_RECORD_PREVIOUS, store->models, file);
    if (before == NO_RECORD) unlinkat(store->models, file, 0);
    errno = error;
}

static bool confirm(const srv_store *store)
{
    if (fsync(store->models) != 0) return false;
    unlinkat(store->models, SRV_RECORD_PREVIOUS,
             0); /* if removing SRV_RECORD_PREVIOUS fails, the next change removes it */
    return true;
}

/* Links the current record to SRV_RECORD_PREVIOUS before it is replaced. False if that fails on a file system that
 * supports links. */
static bool keep_previous(const srv_store *store, const char *file, previous_record *before)
{
    unlinkat(store->models, SRV_RECORD_PREVIOUS, 0);
    bool kept     = linkat(store->models, file, store->models, SRV_RECORD_PREVIOUS, 0) == 0;
    bool no_links = errno == EPERM || errno == EOPNOTSUPP; /* file systems without links: a change cannot be undone */
    *before       = kept ? LINKED : errno == ENOENT ? NO_RECORD : NOT_LINKED;
    return *before != NOT_LINKED || no_links;
}

/* Renames SRV_RECORD_NEXT to the record and confirms the change; undoes it if the disk does not confirm. */
static bool replace(const srv_store *store, const char *file)
{
    previous_record before;
    if (!keep_previous(store, file, &before) || renameat(store->models, SRV_RECORD_NEXT, store->models, file) != 0)
        return false;
    if (confirm(store)) return true;
    restore_previous(store, file, before);
    return false;
}

/* Removes the problems of a record, and of writing, from the lists of problems. The other server reads the record
 * before its change is acknowledged. */
static bool note_written(srv_store *store, const char *file)
{
    char name[FILE_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(SRV_RECORD_SUFFIX)), file);
    if (!srv_handover_sync_tell(store->sync, name))
        srv_log_message(store->log, SRV_WARNING, "twin-late",
                        "the other process of the hand-over has not confirmed that it has read %s", file);
    pthread_mutex_lock(&store->mutex);
    store->changes++;
    store->refused = 0;
    if (store->service) {
        api_clear_reason(store->service, file);
        srv_store_report_disk(store, false, 0);
    }
    pthread_mutex_unlock(&store->mutex);
    return true;
}

static bool save(void *arg, const char *name, const char *record, size_t length, api_numbering *numbering,
                 api_problem *problem)
{
    (void)numbering;
    srv_store *store = arg;
    char       file[FILE_NAME_SIZE];
    size_t     sealed_length;
    snprintf(file, sizeof file, "%s" SRV_RECORD_SUFFIX, name);
    char *sealed = srv_checksum_add(record, length, &sealed_length);
    if (!sealed) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    bool done = srv_store_is_in_place(store) && srv_file_write(store->models, SRV_RECORD_NEXT, sealed, sealed_length) &&
                replace(store, file);
    int error = errno;
    free(sealed);
    if (done) return note_written(store, file);
    unlinkat(store->models, SRV_RECORD_NEXT, 0);
    return refuse(store, file, length, error, problem);
}

static bool erase(void *arg, const char *name, api_numbering *numbering, api_problem *problem)
{
    (void)numbering;
    srv_store *store = arg;
    char       file[FILE_NAME_SIZE];
    snprintf(file, sizeof file, "%s" SRV_RECORD_SUFFIX, name);
    if (!srv_store_is_in_place(store)) return refuse(store, file, 0, errno, problem);
    if (renameat(store->models, file, store->models, SRV_RECORD_PREVIOUS) != 0)
        return errno == ENOENT || refuse(store, file, 0, errno, problem); /* the file does not exist: nothing to do */
    if (confirm(store)) return note_written(store, file);
    restore_previous(store, file, LINKED);
    return refuse(store, file, 0, errno, problem);
}

static bool begin_change(void *arg, api_problem *problem)
{
    srv_store *store = arg;
    pthread_mutex_lock(&store->changing);
    if (srv_handover_sync_begin(store->sync, problem)) return true;
    pthread_mutex_unlock(&store->changing);
    return false;
}

static void end_change(void *arg)
{
    srv_store *store = arg;
    srv_handover_sync_end(store->sync);
    pthread_mutex_unlock(&store->changing);
}

api_store srv_store_interface(srv_store *store)
{
    return (api_store){.save = save, .erase = erase, .begin = begin_change, .end = end_change, .arg = store};
}
