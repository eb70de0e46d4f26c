/* store_watch.c - checks at intervals whether the disk takes changes, and reports a fault and its end. */
#include "store_state.h"
#include "probe.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Every LOOK_SECONDS the probe looks at the folder and the file system. Every WRITE_LOOKS looks, and always while there
 * is a fault, it also writes a file: seldom, because a write wears flash memory. */
enum { LOOK_SECONDS = 2, WRITE_LOOKS = 30 };

void srv_store_report_disk(srv_store *store, bool faulty, int error)
{
    srv_line line;
    if (faulty)
        api_set_reason(store->service, SRV_STORE_WRITING, "store: %s: %s",
                       store->refused > 0 ? "the last change was not written" : "no model can be changed",
                       strerror(error));
    else
        api_clear_reason(store->service, SRV_STORE_WRITING);
    if (faulty == store->faulty) return;
    store->faulty = faulty;
    srv_log_begin(&line, store->log, SRV_WARNING, faulty ? "store-fault" : "store-repaired");
    srv_log_text(&line, "store", store->folder);
    srv_log_text(&line, "problem", faulty ? strerror(error) : NULL);
    srv_log_end(&line);
}

bool srv_store_is_in_place(const srv_store *store)
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
    bool good =
        srv_store_is_in_place(store) && has_room(store) && (!writes || srv_probe_folder(store->root, refused, suspect));
    int error = errno;

    pthread_mutex_lock(&store->mutex);
    if (store->changes == changes) {
        if (good) store->refused = 0;
        srv_store_report_disk(store, !good, error);
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
