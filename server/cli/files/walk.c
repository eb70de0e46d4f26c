/* walk.c - lists files of folders; see walk.h. */
#include "walk.h"
#include "api/robot_files.h"
#include "server/cli/options.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 12, VISITED_MAX = 20000 };

bool cli_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length > n && strcasecmp(name + length - n, ending) == 0;
}

/* A walk through folders. */
typedef struct walk {
    cli_walk_visit *visit;
    void           *arg;
    size_t          visited;
} walk;

static bool walk_folder(walk *w, const char *folder, unsigned depth);

static bool walk_entry(walk *w, const char *folder, const char *name, unsigned depth)
{
    char        path[API_FILE_PATH], whole[API_FILE_PATH + 1];
    struct stat status;
    if (*name == '.' || !api_files_join(folder, name, path)) return true;
    if (++w->visited > VISITED_MAX)
        return cli_error("/%s has more than %d files: name one of them", folder, VISITED_MAX);
    snprintf(whole, sizeof whole, "/%s", path);
    if (lstat(whole, &status) != 0) return true;
    if (S_ISDIR(status.st_mode)) return depth == DEPTH_MAX || walk_folder(w, path, depth + 1);
    return !api_has_robot_ending(name) || stat(whole, &status) != 0 || !S_ISREG(status.st_mode) ||
           w->visit(w->arg, path);
}

static bool walk_folder(walk *w, const char *folder, unsigned depth)
{
    struct dirent **entries;
    char            whole[API_FILE_PATH + 1];
    bool            more = true;
    snprintf(whole, sizeof whole, "/%s", folder);
    int n = scandir(whole, &entries, NULL, alphasort);
    if (n < 0) return depth > 0 || cli_error("cannot read %s: %s", whole, strerror(errno));
    for (int i = 0; i < n; i++) {
        more = more && walk_entry(w, folder, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return more;
}

bool cli_walk_all(const char *folder, cli_walk_visit *visit, void *arg)
{
    walk w = {.visit = visit, .arg = arg};
    return walk_folder(&w, folder, 0);
}

bool cli_walk_ending(const char *folder, const char *ending, cli_walk_visit *visit, void *arg)
{
    struct dirent **entries;
    char            path[API_FILE_PATH + 1];
    bool            more = true;
    snprintf(path, sizeof path, "/%s", folder);
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (more && ends_with(entries[i]->d_name, ending) && api_files_join(folder, entries[i]->d_name, path))
            more = visit(arg, path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return more;
}
