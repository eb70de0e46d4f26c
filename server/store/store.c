/* store.c - see store.h. */
#include "store.h"
#include "checksum.h"
#include "durable_file.h"
#include "restore.h"
#include "api/metrics.h"
#include "server/work/cores.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* File names during a change: the new record, and a second link to the previous one. No record has such a name. */
#define NEXT     ".next"
#define PREVIOUS ".previous"
#define SUFFIX   ".json"

/* Subjects of reasons in the answer of /readyz, beside the names of files. */
#define WRITING "store writes"
#define FOLDER  "store folder"

enum { FILE_NAME_SIZE = 256, RECORD_MAX = 1 << 30 };

static const char FORMAT[] = "torqued-store 1\n";

struct srv_store {
    srv_log *log;
    api     *service;            /* whose models the store has; NULL: not restored yet */
    int      root, models, lock; /* descriptors; -1: not open */
    char     folder[];           /* path, for messages */
};

/* --- opening --------------------------------------------------------------------------------------------------- */

/* Opens the lock file. On a read-only disk the file must exist already; the models of such a store can still be
 * served. */
static int open_lock(int root)
{
    int lock = openat(root, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return lock >= 0 || (errno != EROFS && errno != EACCES) ? lock : openat(root, "lock", O_RDONLY | O_CLOEXEC);
}

static bool fail(const srv_store *store, const char *action, char *error, size_t size)
{
    snprintf(error, size, "cannot %s the store %.300s: %s; name another folder with --store DIR", action, store->folder,
             strerror(errno));
    return false;
}

/* Locks the store. The kernel releases the lock when the process ends for any reason. */
static bool lock_store(srv_store *store, char *error, size_t size)
{
    char owner[32] = "";
    store->lock    = open_lock(store->root);
    if (store->lock < 0) return fail(store, "lock", error, size);
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) {
        int length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
        /* The process number only informs other servers, so a failed write is ignored. */
        if (ftruncate(store->lock, 0) == 0) (void)!pwrite(store->lock, owner, (size_t)length, 0);
        return true;
    }
    if (errno != EWOULDBLOCK) return fail(store, "lock", error, size);
    if (pread(store->lock, owner, sizeof owner - 1, 0) < 0) *owner = '\0';
    owner[strspn(owner, "0123456789")] = '\0';
    snprintf(
        error, size,
        "the store %.300s is in use by another torqued (process %s); stop that one, or give this one a store of its "
        "own with --store DIR",
        store->folder, *owner ? owner : "unknown");
    return false;
}

static bool is_of_our_format(const srv_store *store, const char *text, char *error, size_t size)
{
    if (strcmp(text, FORMAT) == 0) return true;
    snprintf(error, size, "the store %.300s has the format \"%.*s\"; this version reads \"%.*s\"", store->folder,
             (int)strcspn(text, "\n") % 80, text, (int)strcspn(FORMAT, "\n"), FORMAT);
    return false;
}

static bool check_format(const srv_store *store, char *error, size_t size)
{
    size_t length;
    char  *text = srv_file_read(store->root, "format", RECORD_MAX, &length);
    if (text) {
        bool ours = is_of_our_format(store, text, error, size);
        free(text);
        return ours;
    }
    if (errno != ENOENT) return fail(store, "read", error, size);
    bool made = srv_file_write(store->root, NEXT, FORMAT, strlen(FORMAT)) &&
                renameat(store->root, NEXT, store->root, "format") == 0;
    return made || fail(store, "make", error, size);
}

/* Opens the folder of the records and syncs it first, because a previous server may have been interrupted in a
 * change. */
static bool open_models(srv_store *store, char *error, size_t size)
{
    store->models = srv_folder_open(store->root, "models");
    if (store->models < 0 && errno == ENOENT && mkdirat(store->root, "models", 0777) == 0)
        store->models = srv_folder_open(store->root, "models");
    if (store->models < 0) return fail(store, "open", error, size);
    return (fsync(store->models) == 0 && fsync(store->root) == 0) || fail(store, "sync", error, size);
}

srv_store *srv_store_open(const char *folder, srv_log *log, char *error, size_t size)
{
    srv_store *store = malloc(sizeof *store + strlen(folder) + 1);
    if (!store) {
        snprintf(error, size, "no memory");
        return NULL;
    }
    *store = (srv_store){.log = log, .root = -1, .models = -1, .lock = -1};
    strcpy(store->folder, folder);
    bool made = srv_folder_make(folder) && (store->root = srv_folder_open(AT_FDCWD, folder)) >= 0;
    bool ok   = (made || fail(store, "open", error, size)) && lock_store(store, error, size) &&
              check_format(store, error, size) && open_models(store, error, size);
    if (ok) return store;
    srv_store_close(store);
    return NULL;
}

void srv_store_close(srv_store *store)
{
    if (!store) return;
    if (store->models >= 0) close(store->models);
    if (store->lock >= 0) close(store->lock);
    if (store->root >= 0) close(store->root);
    free(store);
}

/* --- changing -------------------------------------------------------------------------------------------------- */

static bool refuse(const srv_store *store, const char *file, int error, api_problem *problem)
{
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_WRITE}}, 1);
    bool     full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    srv_line line;
    srv_log_begin(&line, store->log, SRV_ERROR, "store");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "file", file);
    srv_log_text(&line, "problem", strerror(error));
    srv_log_end(&line);
    if (store->service)
        api_set_reason(store->service, WRITING, "store: the last change was not written: %s", strerror(error));
    return api_fail(problem, full ? API_STORE_FULL : API_STORE_FAILED, NULL,
                    "the store cannot write %s: %s; nothing has changed", file, strerror(error));
}

/* The record before a change: there was none; it is linked to PREVIOUS; or it is not kept. */
typedef enum previous_record { NO_RECORD, LINKED, NOT_LINKED } previous_record;

/* Restores the previous record if the disk did not confirm a change, so that the next start does not find the refused
 * change. */
static void restore_previous(const srv_store *store, const char *file, previous_record before)
{
    int error = errno;
    if (before == LINKED) renameat(store->models, PREVIOUS, store->models, file);
    if (before == NO_RECORD) unlinkat(store->models, file, 0);
    errno = error;
}

static bool confirm(const srv_store *store)
{
    if (fsync(store->models) != 0) return false;
    unlinkat(store->models, PREVIOUS, 0); /* if removing PREVIOUS fails, the next change removes it */
    return true;
}

/* Links the current record to PREVIOUS before it is replaced. False if that fails on a file system that supports
 * links. */
static bool keep_previous(const srv_store *store, const char *file, previous_record *before)
{
    unlinkat(store->models, PREVIOUS, 0);
    bool kept     = linkat(store->models, file, store->models, PREVIOUS, 0) == 0;
    bool no_links = errno == EPERM || errno == EOPNOTSUPP; /* file systems without links: a change cannot be undone */
    *before       = kept ? LINKED : errno == ENOENT ? NO_RECORD : NOT_LINKED;
    return *before != NOT_LINKED || no_links;
}

/* Renames NEXT to the record and confirms the change; undoes it if the disk does not confirm. */
static bool replace(const srv_store *store, const char *file)
{
    previous_record before;
    if (!keep_previous(store, file, &before) || renameat(store->models, NEXT, store->models, file) != 0) return false;
    if (confirm(store)) return true;
    restore_previous(store, file, before);
    return false;
}

/* True if the folder that is open still is the one at its path: a change in a folder that was moved away or deleted
 * would be lost. */
static bool is_in_place(const srv_store *store)
{
    struct stat there, open;
    bool root = stat(store->folder, &there) == 0 && fstat(store->root, &open) == 0 && there.st_dev == open.st_dev &&
                there.st_ino == open.st_ino;
    bool models = root && fstatat(store->root, "models", &there, 0) == 0 && fstat(store->models, &open) == 0 &&
                  there.st_dev == open.st_dev && there.st_ino == open.st_ino;
    if (root && models) return true;
    errno = ENOENT;
    return false;
}

/* Forgets what was wrong with a record, and with writing. */
static bool note_written(const srv_store *store, const char *file)
{
    if (!store->service) return true;
    api_clear_reason(store->service, file);
    api_clear_reason(store->service, WRITING);
    return true;
}

static bool save(void *arg, const char *name, const char *record, size_t length, api_problem *problem)
{
    const srv_store *store = arg;
    char             file[FILE_NAME_SIZE];
    size_t           sealed_length;
    snprintf(file, sizeof file, "%s" SUFFIX, name);
    char *sealed = srv_checksum_add(record, length, &sealed_length);
    if (!sealed) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    bool done =
        is_in_place(store) && srv_file_write(store->models, NEXT, sealed, sealed_length) && replace(store, file);
    int error = errno;
    free(sealed);
    if (done) return note_written(store, file);
    unlinkat(store->models, NEXT, 0);
    return refuse(store, file, error, problem);
}

static bool erase(void *arg, const char *name, api_problem *problem)
{
    const srv_store *store = arg;
    char             file[FILE_NAME_SIZE];
    snprintf(file, sizeof file, "%s" SUFFIX, name);
    if (!is_in_place(store)) return refuse(store, file, errno, problem);
    if (renameat(store->models, file, store->models, PREVIOUS) != 0)
        return errno == ENOENT || refuse(store, file, errno, problem); /* the file does not exist: nothing to do */
    if (confirm(store)) return note_written(store, file);
    restore_previous(store, file, LINKED);
    return refuse(store, file, errno, problem);
}

api_store srv_store_interface(srv_store *store)
{
    return (api_store){.save = save, .erase = erase, .arg = store};
}

/* --- restoring ------------------------------------------------------------------------------------------------- */

static void report_unreadable(const srv_store *store, api *service, const char *file, const char *problem)
{
    srv_line line;
    api_metric_add(API_METRIC_STORE_ERRORS, (api_label_values){{API_ACCESS_READ}}, 1);
    srv_log_begin(&line, store->log, SRV_WARNING, "unreadable");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "file", file);
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
    api_set_reason(service, file, "store: models/%.100s cannot be read and is left alone: %s", file, problem);
}

/* Reports that the store is read-only: models of the store are served, and changes are refused. */
static void report_read_only(const srv_store *store, api *service, const char *problem)
{
    srv_line line;
    srv_log_begin(&line, store->log, SRV_WARNING, "read-only");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "problem", problem);
    srv_log_end(&line);
    api_set_reason(service, FOLDER, "store: no model can be changed: %s", problem);
}

bool srv_store_restore(srv_store *store, api *service, srv_restored *restored, char *error, size_t size)
{
    static const char *const leftover[] = {NEXT, PREVIOUS, NULL};
    srv_record_files         files;
    *restored      = (srv_restored){0};
    store->service = service;
    if (!srv_records_list(store->models, leftover, &files)) return fail(store, "read", error, size);
    srv_records_restore(store->models, service, srv_usable_cores(), &files);
    for (size_t i = 0; i < files.n; i++) {
        const srv_record_file *file = &files.file[i];
        restored->good += file->good;
        restored->bad += !file->good;
        if (!file->good) report_unreadable(store, service, file->name, file->problem ? file->problem : "no memory");
    }
    srv_records_free(&files);
    restored->read_only = faccessat(store->models, ".", W_OK, AT_EACCESS) != 0;
    if (restored->read_only) report_read_only(store, service, strerror(errno));
    return true;
}
