/* store.c - see store.h. */
#include "store.h"
#include "checksum.h"
#include "durable_file.h"
#include "probe.h"
#include "restore.h"
#include "twin.h"
#include "api/metrics.h"
#include "server/work/cores.h"
#include "server/work/periodic.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NEXT     SRV_RECORD_NEXT
#define PREVIOUS SRV_RECORD_PREVIOUS
#define SUFFIX   ".json"

/* Subject of the reason in the answer of /readyz about the disk; other subjects are names of files. */
#define WRITING "store writes"

enum { FILE_NAME_SIZE = 256, RECORD_MAX = 1 << 30 };

/* Every LOOK_SECONDS the probe looks at the folder and the file system. Every WRITE_LOOKS looks, and always while there
 * is a fault, it also writes a file: seldom, because a write wears flash memory. */
enum { LOOK_SECONDS = 2, WRITE_LOOKS = 30 };

struct srv_store {
    srv_log        *log;
    api            *service;            /* whose models the store has; NULL: not restored yet */
    int             root, models, lock; /* descriptors; -1: not open */
    pthread_mutex_t mutex;              /* guards the next three fields */
    size_t          refused;            /* bytes of the record whose change was not written; 0: the last change was */
    unsigned        changes;            /* number of changes, written or refused; wraps around */
    bool            faulty;             /* the last look of the probe found a fault */
    unsigned        looks;              /* of the probe */
    srv_periodic   *probe;              /* NULL: not started */
    pthread_mutex_t changing;           /* held by a change; guards `twin` */
    srv_twin       *twin;               /* the other server during a hand-over, perhaps ended; NULL: none */
    bool            joined;             /* another server had the folder first, and may be in a change */
    char            folder[];           /* path, for messages */
};

/* --- opening --------------------------------------------------------------------------------------------------- */

static bool fail(const srv_store *store, const char *action, char *error, size_t size)
{
    snprintf(error, size, "cannot %s the store %.300s: %s; name another folder with --store DIR", action, store->folder,
             strerror(errno));
    return false;
}

/* Writes the process number to the lock file. The number only informs other servers, so a failure is ignored. */
static void sign_lock(int root)
{
    char owner[32];
    int  lock   = openat(root, "lock", O_WRONLY | O_TRUNC | O_CLOEXEC);
    int  length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (lock < 0) return;
    (void)!pwrite(lock, owner, (size_t)length, 0);
    close(lock);
}

/* Locks the store. The kernel releases the lock when the process ends for any reason. The file stays open for reading
 * only, so that the file system can be made read-only. On a read-only one the file must exist already; the models of
 * such a store can still be served. */
static bool lock_store(srv_store *store, char *error, size_t size)
{
    char owner[32] = "";
    store->lock    = openat(store->root, "lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    if (store->lock < 0) return fail(store, "lock", error, size);
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) {
        sign_lock(store->root);
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
    if (strcmp(text, SRV_STORE_FORMAT) == 0) return true;
    snprintf(error, size, "the store %.300s has the format \"%.*s\"; this version reads \"%.*s\"", store->folder,
             (int)strcspn(text, "\n") % 80, text, (int)strcspn(SRV_STORE_FORMAT, "\n"), SRV_STORE_FORMAT);
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
    bool made = srv_file_write(store->root, NEXT, SRV_STORE_FORMAT, strlen(SRV_STORE_FORMAT)) &&
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

static srv_store *make_store(const char *folder, srv_log *log, char *error, size_t size)
{
    srv_store *store = malloc(sizeof *store + strlen(folder) + 1);
    if (!store) {
        snprintf(error, size, "no memory");
        return NULL;
    }
    *store = (srv_store){.log = log, .root = -1, .models = -1, .lock = -1};
    pthread_mutex_init(&store->mutex, NULL);
    pthread_mutex_init(&store->changing, NULL);
    strcpy(store->folder, folder);
    return store;
}

srv_store *srv_store_open(const char *folder, srv_log *log, char *error, size_t size)
{
    srv_store *store = make_store(folder, log, error, size);
    if (!store) return NULL;
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
    srv_periodic_stop(store->probe);
    srv_twin_close(store->twin);
    pthread_mutex_destroy(&store->changing);
    if (store->models >= 0) close(store->models);
    if (store->lock >= 0) close(store->lock);
    if (store->root >= 0) close(store->root);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* --- changing -------------------------------------------------------------------------------------------------- */

/* Names the fault of the disk in /readyz, or forgets it. Its begin and end are logged. Models of the store are served
 * all the same, and changes are refused. The caller holds the mutex, or no other thread runs yet. */
static void report_disk(srv_store *store, bool faulty, int error)
{
    srv_line line;
    if (faulty)
        api_set_reason(store->service, WRITING, "store: %s: %s",
                       store->refused > 0 ? "the last change was not written" : "no model can be changed",
                       strerror(error));
    else
        api_clear_reason(store->service, WRITING);
    if (faulty == store->faulty) return;
    store->faulty = faulty;
    srv_log_begin(&line, store->log, SRV_WARNING, faulty ? "store-fault" : "store-repaired");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "problem", faulty ? strerror(error) : NULL);
    srv_log_end(&line);
}

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
        api_set_reason(store->service, WRITING, "store: the last change was not written: %s", strerror(error));
    pthread_mutex_unlock(&store->mutex);
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

/* Forgets what was wrong with a record, and with writing. The other server reads the record before its change is
 * acknowledged. */
static bool note_written(srv_store *store, const char *file)
{
    char name[FILE_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
    if (!srv_twin_tell(store->twin, name))
        srv_log_message(store->log, SRV_WARNING, "twin-late",
                        "the other process of the hand-over has not confirmed that it has read %s", file);
    pthread_mutex_lock(&store->mutex);
    store->changes++;
    store->refused = 0;
    if (store->service) {
        api_clear_reason(store->service, file);
        report_disk(store, false, 0);
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
    snprintf(file, sizeof file, "%s" SUFFIX, name);
    char *sealed = srv_checksum_add(record, length, &sealed_length);
    if (!sealed) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    bool done =
        is_in_place(store) && srv_file_write(store->models, NEXT, sealed, sealed_length) && replace(store, file);
    int error = errno;
    free(sealed);
    if (done) return note_written(store, file);
    unlinkat(store->models, NEXT, 0);
    return refuse(store, file, length, error, problem);
}

static bool erase(void *arg, const char *name, api_numbering *numbering, api_problem *problem)
{
    (void)numbering;
    srv_store *store = arg;
    char       file[FILE_NAME_SIZE];
    snprintf(file, sizeof file, "%s" SUFFIX, name);
    if (!is_in_place(store)) return refuse(store, file, 0, errno, problem);
    if (renameat(store->models, file, store->models, PREVIOUS) != 0)
        return errno == ENOENT || refuse(store, file, 0, errno, problem); /* the file does not exist: nothing to do */
    if (confirm(store)) return note_written(store, file);
    restore_previous(store, file, LINKED);
    return refuse(store, file, 0, errno, problem);
}

static bool begin_change(void *arg, api_problem *problem)
{
    srv_store *store = arg;
    pthread_mutex_lock(&store->changing);
    if (srv_twin_begin(store->twin, problem)) return true;
    pthread_mutex_unlock(&store->changing);
    return false;
}

static void end_change(void *arg)
{
    srv_store *store = arg;
    srv_twin_end(store->twin);
    pthread_mutex_unlock(&store->changing);
}

api_store srv_store_interface(srv_store *store)
{
    return (api_store){.save = save, .erase = erase, .begin = begin_change, .end = end_change, .arg = store};
}

/* --- probing --------------------------------------------------------------------------------------------------- */

/* True if the file system can be written to and has room, as far as it says. False with errno. */
static bool has_room(const srv_store *store)
{
    struct statvfs disk;
    if (faccessat(store->models, ".", W_OK, AT_EACCESS) != 0 || fstatvfs(store->models, &disk) != 0) return false;
    errno = disk.f_flag & ST_RDONLY ? EROFS : ENOSPC;
    return !(disk.f_flag & ST_RDONLY) && (disk.f_blocks == 0 || disk.f_bavail > 0);
}

/* Finds out whether a change could be written now. After a refused change there must be as much room again. A result
 * that a change has overtaken is not reported. */
static void probe(void *arg)
{
    srv_store *store = arg;
    pthread_mutex_lock(&store->mutex);
    size_t   refused = store->refused;
    unsigned changes = store->changes;
    bool     suspect = store->faulty || refused > 0;
    pthread_mutex_unlock(&store->mutex);

    bool writes = suspect || store->looks++ % WRITE_LOOKS == 0;
    bool good   = is_in_place(store) && has_room(store) && (!writes || srv_probe_folder(store->root, refused, suspect));
    int  error  = errno;

    pthread_mutex_lock(&store->mutex);
    if (store->changes == changes) {
        if (good) store->refused = 0;
        report_disk(store, !good, error);
    }
    pthread_mutex_unlock(&store->mutex);
}

bool srv_store_watch(srv_store *store)
{
    store->probe = srv_periodic_start(LOOK_SECONDS, probe, store);
    return store->probe != NULL;
}

void srv_store_unwatch(srv_store *store)
{
    if (!store) return;
    srv_periodic_stop(store->probe);
    store->probe = NULL;
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
    api_set_reason(service, file, "store: models/%.100s is left alone: %s", file, problem);
}

bool srv_store_restore(srv_store *store, api *service, srv_restored *restored, char *error, size_t size)
{
    srv_record_files files;
    *restored      = (srv_restored){0};
    store->service = service;
    if (!srv_records_list(store->models, !store->joined, &files)) return fail(store, "read", error, size);
    srv_records_restore(store->models, service, srv_usable_cores(), &files);
    for (size_t i = 0; i < files.n; i++) {
        const srv_record_file *file = &files.file[i];
        restored->good += file->good;
        restored->bad += !file->good;
        if (!file->good) report_unreadable(store, service, file->name, file->problem ? file->problem : "no memory");
    }
    srv_records_free(&files);
    restored->read_only = faccessat(store->models, ".", W_OK, AT_EACCESS) != 0;
    if (restored->read_only) report_disk(store, true, errno);
    return true;
}

/* --- hand-over ---------------------------------------------------------------------------------------------------- */

/* Reads the record of a model that the other server has changed. */
static void read_again(void *arg, const char *name)
{
    srv_store      *store = arg;
    api_saved_model saved;
    char            file[FILE_NAME_SIZE];
    struct stat     status;
    snprintf(file, sizeof file, "%.200s" SUFFIX, name);
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
    const srv_twin_reader reader = {read_again, store};
    pthread_mutex_lock(&store->changing);
    srv_twin_close(store->twin);
    store->twin = srv_twin_open(store->root, link, loads, &reader);
    bool shares = store->twin != NULL;
    if (shares && !loads) sign_lock(store->root); /* the other server will end */
    pthread_mutex_unlock(&store->changing);
    return shares;
}

bool srv_store_loaded(srv_store *store)
{
    pthread_mutex_lock(&store->changing);
    bool good = srv_twin_loaded(store->twin);
    pthread_mutex_unlock(&store->changing);
    return good;
}

bool srv_store_is_shared(srv_store *store)
{
    return srv_twin_is_alive(store->twin); /* only the thread that asks replaces the twin */
}

int srv_store_lock_descriptor(const srv_store *store)
{
    return store->lock;
}

/* Takes the lock over that the other server has passed on. False if it is that of another folder. */
static bool take_lock(srv_store *store, int lock, char *error, size_t size)
{
    struct stat here, passed;
    store->lock = lock;
    bool same   = fstatat(store->root, "lock", &here, 0) == 0 && fstat(lock, &passed) == 0 &&
                here.st_dev == passed.st_dev && here.st_ino == passed.st_ino;
    if (!same) snprintf(error, size, "the server that hands over uses another store than %.300s", store->folder);
    return same;
}

srv_store *srv_store_join(const char *folder, srv_log *log, int lock, char *error, size_t size)
{
    srv_store *store = make_store(folder, log, error, size);
    if (!store) {
        close(lock);
        return NULL;
    }
    store->joined = true;
    store->root   = srv_folder_open(AT_FDCWD, folder);
    bool ok       = (store->root >= 0 || fail(store, "open", error, size)) && take_lock(store, lock, error, size) &&
              check_format(store, error, size) && open_models(store, error, size);
    if (ok) return store;
    srv_store_close(store);
    return NULL;
}
