/* load_folder.c - load the bundled models, a folder of model documents, when the server starts. */
#include "api/service/http/call.h"
#include "api/base/memory/shortage.h"
#include "api/robots/model/model_loops.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a regular file of at most `limit` bytes; the caller frees. O_NONBLOCK and the type check keep a pipe from
 * blocking the start. */
static char *read_file(const char *path, size_t limit, size_t *length, api_problem *problem)
{
    struct stat status;
    int         fd    = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE       *file  = fd < 0 ? NULL : fdopen(fd, "rb");
    char       *bytes = NULL;
    if (!file || fstat(fd, &status) != 0)
        api_fail(problem, API_INTERNAL_ERROR, NULL, "cannot open it: %s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        api_fail(problem, API_INTERNAL_ERROR, NULL, "it is not a regular file");
    else if ((size_t)status.st_size > limit)
        api_fail(problem, API_BODY_TOO_LARGE, NULL, "%lld bytes; the limit is %zu", (long long)status.st_size, limit);
    else if (!(bytes = malloc((size_t)status.st_size + 1)))
        api_fail(problem, API_MEMORY_FULL, NULL, "no memory for %lld bytes", (long long)status.st_size);
    else
        *length = fread(bytes, 1, (size_t)status.st_size, file);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return bytes;
}

static api_model *read_model(const api *a, const char *path, const char *name, api_problem *problem)
{
    size_t length = 0;
    char  *text   = read_file(path, a->limits.body, &length, problem);
    if (!text) return NULL;
    api_shortage_forget();
    api_model *model = api_model_from_text(text, length, name, a->limits.nesting, a->limits.links, problem);
    free(text);
    model = api_find_reference(model, NULL, NULL, problem);
    if (!api_shortage_check(problem)) return model;
    api_model_release(model);
    return NULL;
}

static void copy_model_name(const char *file, char name[256])
{
    snprintf(name, 256, "%.*s", (int)(strlen(file) - strlen(".json")), file);
}

static bool load_document(api *a, const char *dir, const char *file, api_problem *problem)
{
    char path[4096], name[256];
    copy_model_name(file, name);
    if (!api_model_name_is_valid(name))
        return api_fail(problem, API_BAD_NAME, NULL, "the file's name is not a model name");
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, file) >= sizeof path)
        return api_fail(problem, API_BAD_NAME, NULL, "the path is too long");
    api_model *model = read_model(a, path, name, problem);
    if (!model) return false;
    bool loaded = api_registry_load(a->models, name, model, (api_origin){.bundled = true}, problem);
    api_model_release(model);
    return loaded;
}

/* Names a file that is not served in /readyz, and in the answers to requests on its model. */
static void report_fault(api *a, const char *dir, const char *file, const api_problem *problem, const char *text)
{
    char name[256];
    copy_model_name(file, name);
    if (api_model_name_is_valid(name)) api_registry_load_fault(a->models, name, problem, (api_origin){.bundled = true});
    api_set_reason(a, file, "%s/%s: %s", dir, file, text);
}

static int is_document(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

bool api_load_models(api *a, const char *dir, void (*report)(void *arg, const char *file, const char *problem),
                     void *arg)
{
    struct dirent **entries;
    int             n = scandir(dir, &entries, is_document, alphasort);
    if (n < 0) return false;
    for (int i = 0; i < n; i++) {
        api_problem problem;
        char        text[sizeof problem.detail + sizeof problem.pointer + 8];
        api_problem_clear(&problem);
        bool good = load_document(a, dir, entries[i]->d_name, &problem);
        snprintf(text, sizeof text, "%s%s%s", problem.detail, *problem.pointer ? " at " : "", problem.pointer);
        if (!good) report_fault(a, dir, entries[i]->d_name, &problem, text);
        report(arg, entries[i]->d_name, good ? NULL : text);
        free(entries[i]);
    }
    free(entries);
    return true;
}
