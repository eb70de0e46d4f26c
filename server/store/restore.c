/* restore.c - see restore.h. */
#include "restore.h"
#include "checksum.h"
#include "durable_file.h"
#include "server/work/parallel.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".json"

enum { RECORD_MAX = 1 << 30, FILE_NAME_SIZE = 256, PROBLEM_SIZE = 1000 };

static bool is_named(const char *file, const char *const *names)
{
    while (*names && strcmp(file, *names) != 0)
        names++;
    return *names != NULL;
}

static bool append(srv_record_files *files, size_t *capacity, const char *name)
{
    if (files->n == *capacity) {
        size_t           more = *capacity ? 2 * *capacity : 64;
        srv_record_file *file = reallocarray(files->file, more, sizeof *file);
        if (!file) return false;
        files->file = file;
        *capacity   = more;
    }
    char *copy = strdup(name);
    if (!copy) return false;
    files->file[files->n++] = (srv_record_file){.name = copy};
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const srv_record_file *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Reads the names from an open folder. False with errno. */
static bool read_names(DIR *folder, const char *const *leftover, srv_record_files *files)
{
    static const char *const self[]   = {".", "..", NULL};
    size_t                   capacity = 0;
    struct dirent           *entry;
    while (errno = 0, (entry = readdir(folder))) {
        if (is_named(entry->d_name, leftover))
            unlinkat(dirfd(folder), entry->d_name, 0);
        else if (!is_named(entry->d_name, self) && !append(files, &capacity, entry->d_name))
            return false;
    }
    return errno == 0;
}

bool srv_records_list(int folder, const char *const *leftover, srv_record_files *files)
{
    int  fd     = srv_folder_open(folder, ".");
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    *files      = (srv_record_files){0};
    if (!stream) {
        int error = errno;
        if (fd >= 0) close(fd);
        errno = error;
        return false;
    }
    bool ok    = read_names(stream, leftover, files);
    int  error = errno;
    closedir(stream);
    if (ok && files->n > 0) qsort(files->file, files->n, sizeof *files->file, compare_names);
    if (!ok) srv_records_free(files);
    errno = error;
    return ok;
}

/* Reads one record and passes it to the api. False with the problem. */
static bool restore(int folder, api *service, const char *file, char problem[PROBLEM_SIZE])
{
    char        name[FILE_NAME_SIZE];
    api_problem found;
    size_t      stem = strlen(file) - strlen(SUFFIX), length;
    if (strlen(file) <= strlen(SUFFIX) || strcmp(file + stem, SUFFIX) != 0) {
        snprintf(problem, PROBLEM_SIZE, "it is not called NAME" SUFFIX);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)stem, file);
    char *record = srv_file_read(folder, file, RECORD_MAX, &length);
    if (!record || !srv_checksum_remove(record, &length)) {
        snprintf(problem, PROBLEM_SIZE, "%s", record ? "it is damaged: its checksum is wrong" : strerror(errno));
        api_hide_bundled(service, name);
        free(record);
        return false;
    }
    api_problem_clear(&found);
    bool good = api_restore(service, name, record, length, &found);
    free(record);
    snprintf(problem, PROBLEM_SIZE, "%s%s%s", found.detail, *found.pointer ? " at " : "", found.pointer);
    return good;
}

typedef struct restoring {
    int              folder;
    api             *service;
    srv_record_file *file;
} restoring;

static void restore_file(void *arg, size_t i)
{
    restoring       *r    = arg;
    srv_record_file *file = &r->file[i];
    char             problem[PROBLEM_SIZE];
    file->good = restore(r->folder, r->service, file->name, problem);
    if (!file->good) file->problem = strdup(problem);
}

void srv_records_restore(int folder, api *service, size_t threads, srv_record_files *files)
{
    restoring r = {folder, service, files->file};
    srv_run_parallel(threads, files->n, restore_file, &r);
}

void srv_records_free(srv_record_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].name);
        free(files->file[i].problem);
    }
    free(files->file);
    *files = (srv_record_files){0};
}
