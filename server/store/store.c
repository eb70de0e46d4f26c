/* store.c - opens the folder of a store, locks it, or takes its lock over from another server, and closes it. */
#include "store_state.h"
#include "durable_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void srv_store_sign_lock(int root)
{
    char owner[32];
    int  lock   = openat(root, "lock", O_WRONLY | O_TRUNC | O_CLOEXEC);
    int  length = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (lock < 0) return;
    (void)!pwrite(lock, owner, (size_t)length, 0);
    close(lock);
}

bool srv_store_fail(const srv_store *store, const char *action, char *error, size_t size)
{
    snprintf(error, size, "cannot %s the store %.300s: %s; name another folder with --store DIR", action, store->folder,
             strerror(errno));
    return false;
}

/* Opens the lock file, and makes it where it is missing. */
static int open_lock(int root)
{
    int made = openat(root, "lock", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0) srv_owner_take(made, root);
    return made >= 0 ? made : openat(root, "lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
}

/* Locks the store. The kernel releases the lock when the process ends for any reason. The file stays open for reading
 * only, so that the file system can be made read-only. On a read-only one the file must exist already; the models of
 * such a store can still be served. */
static bool lock_store(srv_store *store, char *error, size_t size)
{
    char owner[32] = "";
    store->lock    = open_lock(store->root);
    if (store->lock < 0) return srv_store_fail(store, "lock", error, size);
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) {
        srv_store_sign_lock(store->root);
        return true;
    }
    if (errno != EWOULDBLOCK) return srv_store_fail(store, "lock", error, size);
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
    if (errno != ENOENT) return srv_store_fail(store, "read", error, size);
    bool made = srv_file_write(store->root, SRV_RECORD_NEXT, SRV_STORE_FORMAT, strlen(SRV_STORE_FORMAT)) &&
                renameat(store->root, SRV_RECORD_NEXT, store->root, "format") == 0;
    return made || srv_store_fail(store, "make", error, size);
}

/* Makes and opens the folder of the records. -1 with errno. */
static int make_models(int root)
{
    if (mkdirat(root, "models", 0777) != 0) return -1;
    int made = openat(root, "models", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made >= 0) srv_owner_take(made, root);
    return made;
}

/* Opens the folder of the records and syncs it first, because a previous server may have been interrupted in a
 * change. */
static bool open_models(srv_store *store, char *error, size_t size)
{
    store->models = srv_folder_open(store->root, "models");
    if (store->models < 0 && errno == ENOENT) store->models = make_models(store->root);
    if (store->models < 0) return srv_store_fail(store, "open", error, size);
    return (fsync(store->models) == 0 && fsync(store->root) == 0) || srv_store_fail(store, "sync", error, size);
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
    bool ok   = (made || srv_store_fail(store, "open", error, size)) && lock_store(store, error, size) &&
              check_format(store, error, size) && open_models(store, error, size);
    if (ok) return store;
    srv_store_close(store);
    return NULL;
}

void srv_store_close(srv_store *store)
{
    if (!store) return;
    srv_periodic_stop(store->probe);
    srv_handover_sync_close(store->sync);
    pthread_mutex_destroy(&store->changing);
    if (store->models >= 0) close(store->models);
    if (store->lock >= 0) close(store->lock);
    if (store->root >= 0) close(store->root);
    pthread_mutex_destroy(&store->mutex);
    free(store);
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
    bool ok = (store->root >= 0 || srv_store_fail(store, "open", error, size)) && take_lock(store, lock, error, size) &&
              check_format(store, error, size) && open_models(store, error, size);
    if (ok) return store;
    srv_store_close(store);
    return NULL;
}
