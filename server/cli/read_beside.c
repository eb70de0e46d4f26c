/* read_beside.c - see read_beside.h. Paths are compared after links are followed, so that no link leads outside. */
#include "read_beside.h"
#include "server/store/durable_file.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INCLUDED_MAX = 64 << 20 }; /* bytes of one included file */

/* Writes the folder of a file, with a slash at its end. */
static void folder_of(const char *file, char folder[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - file) + 1 : 2, slash ? file : "./");
}

static bool is_inside(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || strcmp(folder, "/") == 0);
}

char *srv_read_beside(void *model_file, const char *name, size_t *length)
{
    struct stat status;
    char        folder[PATH_MAX], path[2 * PATH_MAX], *bytes = NULL;
    if (strcmp(model_file, "-") == 0 || *name == '/') return NULL;
    folder_of(model_file, folder);
    snprintf(path, sizeof path, "%s%.*s", folder, PATH_MAX - 1, name);
    char *real_folder = realpath(folder, NULL), *real_path = realpath(path, NULL);
    if (real_folder && real_path && is_inside(real_path, real_folder) && stat(real_path, &status) == 0 &&
        S_ISREG(status.st_mode))
        bytes = srv_input_read(real_path, INCLUDED_MAX, length);
    free(real_folder);
    free(real_path);
    return bytes;
}
