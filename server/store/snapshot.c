/* snapshot.c - reads the records of a folder as they are at one moment, while a server may change them.
 *
 * A change replaces the file of a record by another one (store.h), and the files that are open here keep their inodes.
 * All files are opened; then the folder is listed again, and each name is compared with the open file. If all of them
 * are the same files, each name had its record from its opening until the comparison, so that the records belong to the
 * moment of the listing. Else the files that differ are opened, and the comparison is repeated. */
#include "snapshot.h"
#include "durable_file.h"
#include "record_loader.h"
#include "server/work/clock.h"
#include "server/work/cores.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t longest = 30000000000; /* ns for which the files may go on changing */

/* --- one moment --------------------------------------------------------------------------------------------------- */

/* Opens a record. A file that the process may not read stays closed, and its reading fails with the reason. False with
 * errno if the process has no descriptor left. */
static bool open_record(int folder, srv_record_file *file)
{
    file->fd = openat(folder, file->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return file->fd >= 0 || (errno != EMFILE && errno != ENFILE && errno != ENOMEM);
}

/* True if the name still has the file that was opened. */
static bool is_same_record(int folder, const srv_record_file *file)
{
    struct stat here, opened;
    if (fstatat(folder, file->name, &here, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (file->fd < 0) return faccessat(folder, file->name, R_OK, AT_EACCESS) != 0; /* the process may not read it */
    return fstat(file->fd, &opened) == 0 && here.st_ino == opened.st_ino && here.st_dev == opened.st_dev;
}

/* Reading a folder may leave out a name whose file is replaced meanwhile. */
static bool is_overlooked(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Takes the open files of `now` over into the newer list `next`, and opens those that differ. *same becomes false if
 * any differ. False with errno. */
static bool take_over(int folder, srv_record_files *now, srv_record_files *next, bool *same)
{
    size_t k = 0;
    for (size_t i = 0; i < next->n; i++) {
        srv_record_file *file = &next->file[i];
        for (; k < now->n && strcmp(now->file[k].name, file->name) < 0; k++)
            *same = false;
        bool known = k < now->n && strcmp(now->file[k].name, file->name) == 0;
        if (known && is_same_record(folder, &now->file[k])) {
            file->fd          = now->file[k].fd;
            now->file[k++].fd = -1;
            continue;
        }
        k += known;
        *same = false;
        if (!open_record(folder, file)) return false;
    }
    *same = *same && k == now->n;
    return true;
}

static bool lists_all(int folder, const srv_record_files *now, const srv_record_files *next)
{
    size_t i = 0;
    for (size_t k = 0; k < now->n; k++) {
        while (i < next->n && strcmp(next->file[i].name, now->file[k].name) < 0)
            i++;
        bool listed = i < next->n && strcmp(next->file[i].name, now->file[k].name) == 0;
        if (!listed && is_overlooked(folder, now->file[k].name)) return false;
    }
    return true;
}

/* Lists the folder and brings the open files up to date. `same` receives true if they are those of one moment. */
static bool compare_folder(int folder, srv_record_files *now, bool *same)
{
    srv_record_files next;
    *same = true;
    if (!srv_records_list(folder, false, &next)) return false;
    if (!lists_all(folder, now, &next)) {
        *same = false;
        srv_records_free(&next);
        return true;
    }
    bool opened = take_over(folder, now, &next, same);
    int  error  = errno;
    srv_records_free(now);
    *now  = next;
    errno = error;
    return opened;
}

static bool open_one_moment(int folder, srv_record_files *files, char *error, size_t size)
{
    uint64_t end  = srv_now() + longest;
    bool     same = false;
    *files        = (srv_record_files){0};
    while (!same) {
        if (srv_now() > end) {
            snprintf(error, size,
                     "the models change all the time, so that there is no moment at which to read them; "
                     "try again when there are fewer changes");
            return false;
        }
        if (compare_folder(folder, files, &same)) continue;
        snprintf(error, size, "cannot read the records of the store: %s%s", strerror(errno),
                 errno == EMFILE ? "; raise the limit of descriptors (ulimit -n)" : "");
        return false;
    }
    return true;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Opens the folder of the records of a store. -1 with a message. */
static int open_records(const char *folder, char *error, size_t size)
{
    size_t length;
    int    root   = srv_folder_open(AT_FDCWD, folder);
    char  *format = root >= 0 ? srv_file_read(root, "format", sizeof SRV_STORE_FORMAT + 80, &length) : NULL;
    int    models = format ? srv_folder_open(root, "models") : -1;
    if (!format || models < 0)
        snprintf(error, size, "there is no store in %.300s: %s; name another with --store DIR", folder,
                 strerror(errno));
    else if (strcmp(format, SRV_STORE_FORMAT) != 0) {
        snprintf(error, size, "the store %.300s has another format than this version reads", folder);
        close(models);
        models = -1;
    }
    free(format);
    if (root >= 0) close(root);
    return models;
}

bool srv_snapshot_read(const char *folder, api *service, const srv_read_watch *watch, srv_restored *restored,
                       char *error, size_t size)
{
    srv_record_files files;
    int              models = open_records(folder, error, size);
    *restored               = (srv_restored){0};
    if (models < 0) return false;
    allow_descriptors();
    bool good  = open_one_moment(models, &files, error, size);
    files.show = watch->show;
    files.arg  = watch->arg;
    if (good) srv_records_restore(models, service, srv_usable_cores(), &files);
    for (size_t i = 0; good && i < files.n; i++) {
        const srv_record_file *file = &files.file[i];
        restored->good += file->good;
        restored->bad += !file->good;
        if (!file->good) watch->damaged(watch->arg, file->name, file->problem ? file->problem : "no memory");
    }
    srv_records_free(&files);
    close(models);
    return good;
}
