/* record_loader.c - lists the files of records, reads them on several threads, and passes them to the api in order. */
#include "record_loader.h"
#include "checksum.h"
#include "durable_file.h"
#include "server/work/startup_tasks.h"
#include "server/work/priority.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MAX = 1 << 30, FILE_NAME_SIZE = 256, PROBLEM_SIZE = 1000 };
enum { AHEAD = 32 }; /* records that may be read ahead of the next one to be entered */

static bool is_leftover(const char *file)
{
    return strcmp(file, SRV_RECORD_NEXT) == 0 || strcmp(file, SRV_RECORD_PREVIOUS) == 0;
}

static bool append_record_file(srv_record_files *files, size_t *capacity, const char *name)
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
    files->file[files->n++] = (srv_record_file){.name = copy, .fd = -1};
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const srv_record_file *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Reads the names from an open folder. False with errno. */
static bool read_record_names(DIR *folder, bool cleans, srv_record_files *files)
{
    size_t         capacity = 0;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (is_leftover(name) && cleans) unlinkat(dirfd(folder), name, 0);
        if (is_leftover(name) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (!append_record_file(files, &capacity, name)) return false;
    }
    return errno == 0;
}

bool srv_records_list(int folder, bool cleans, srv_record_files *files)
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
    bool ok    = read_record_names(stream, cleans, files);
    int  error = errno;
    closedir(stream);
    if (ok && files->n > 0) qsort(files->file, files->n, sizeof *files->file, compare_names);
    if (!ok) srv_records_free(files);
    errno = error;
    return ok;
}

/* Reads one record. Stores the problem in `saved`. */
static void read_record(int folder, api *service, const srv_record_file *file, const char *name, api_saved_model *saved)
{
    size_t length;
    char  *record = file->fd >= 0 ? srv_descriptor_read(file->fd, RECORD_MAX, &length)
                                  : srv_file_read(folder, file->name, RECORD_MAX, &length);
    int    error  = errno;
    *saved        = (api_saved_model){.model = NULL};
    api_problem_clear(&saved->problem);
    if (!record)
        api_fail(&saved->problem, API_STORE_FAILED, NULL, "%s", strerror(error));
    else if (!srv_checksum_remove(record, &length))
        api_fail(&saved->problem, API_STORE_FAILED, NULL, "it is damaged: its checksum is wrong");
    else
        api_read_saved(service, name, record, length, saved);
    free(record);
}

/* Gets the name of the model from the name of a file; "" if there is none. */
static void get_model_name(const char *file, char name[FILE_NAME_SIZE])
{
    size_t length = strlen(file), suffix = strlen(SRV_RECORD_SUFFIX);
    bool   named = length > suffix && strcmp(file + length - suffix, SRV_RECORD_SUFFIX) == 0;
    snprintf(name, FILE_NAME_SIZE, "%.*s", named ? (int)(length - suffix) : 0, file);
}

/* A record that was read, in the place of its index modulo AHEAD. */
typedef struct place {
    bool            is_read;
    api_saved_model saved;
} place;

/* Threads read records in any order, at most AHEAD before their turn. Records are entered in the order of names, so
 * that the models that fit into the memory of all models are always the same. */
typedef struct restoring {
    int                     folder;
    api                    *service;
    size_t                  n;
    srv_record_file        *file;
    const srv_record_files *files;
    pthread_mutex_t         mutex;
    pthread_cond_t          entered; /* signalled when `next` has grown */
    size_t                  next;    /* index of the record that is entered next */
    place                   place[AHEAD];
} restoring;

/* Enters the model of one record. False with the problem in `saved`. */
static bool enter(const restoring *r, const srv_record_file *file, api_saved_model *saved)
{
    char name[FILE_NAME_SIZE];
    get_model_name(file->name, name);
    if (!*name) return api_fail(&saved->problem, API_BAD_NAME, NULL, "it is not called NAME" SRV_RECORD_SUFFIX);
    return api_restore(r->service, name, saved);
}

/* Enters the records whose turn it is. The caller holds the mutex. */
static void enter_in_turn(restoring *r)
{
    for (; r->next < r->n && r->place[r->next % AHEAD].is_read; r->next++) {
        srv_record_file   *file  = &r->file[r->next];
        place             *p     = &r->place[r->next % AHEAD];
        const api_problem *found = &p->saved.problem;
        char               problem[PROBLEM_SIZE];
        file->good = enter(r, file, &p->saved);
        p->is_read = false;
        if (r->files->show) r->files->show(r->files->arg, r->next + 1, r->n);
        if (file->good) continue;
        snprintf(problem, sizeof problem, "%s%s%s", found->detail, *found->pointer ? " at " : "", found->pointer);
        file->problem = strdup(problem);
    }
    pthread_cond_broadcast(&r->entered);
}

static void restore_file(void *arg, size_t i)
{
    restoring *r = arg;
    place     *p = &r->place[i % AHEAD];
    char       name[FILE_NAME_SIZE];
    get_model_name(r->file[i].name, name);
    pthread_mutex_lock(&r->mutex);
    while (i >= r->next + AHEAD)
        pthread_cond_wait(&r->entered, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
    if (*name)
        read_record(r->folder, r->service, &r->file[i], name, &p->saved);
    else
        api_problem_clear(&p->saved.problem);
    pthread_mutex_lock(&r->mutex);
    p->is_read = true;
    enter_in_turn(r);
    pthread_mutex_unlock(&r->mutex);
}

void srv_records_restore(int folder, api *service, size_t threads, srv_record_files *files)
{
    restoring r = {.folder = folder, .service = service, .n = files->n, .file = files->file, .files = files};
    srv_mutex_init(&r.mutex);
    pthread_cond_init(&r.entered, NULL);
    srv_run_startup_tasks(threads, files->n, restore_file, &r);
    pthread_cond_destroy(&r.entered);
    pthread_mutex_destroy(&r.mutex);
}

void srv_record_read(int folder, api *service, const char *file, const char *name, api_saved_model *saved)
{
    const srv_record_file record = {.name = (char *)(uintptr_t)file, .fd = -1};
    read_record(folder, service, &record, name, saved);
}

void srv_records_free(srv_record_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].name);
        free(files->file[i].problem);
        if (files->file[i].fd >= 0) close(files->file[i].fd);
    }
    free(files->file);
    *files = (srv_record_files){0};
}
