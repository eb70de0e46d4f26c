/* default_folders.c - determine the folders of the models and of the store (config.h). */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Returns the length of the path's folder: the last slash and what follows are cut off. */
static int folder_of(const char *path, int length)
{
    while (length > 0 && path[--length] != '/')
        ;
    return length;
}

/* The executable is PREFIX/bin/torqued, or build/torqued in the source tree (build/asan/torqued in a sanitizer build).
 * The prefix is where the executable lies, so that an installation can be moved as a whole. */
void srv_config_models_folder(const srv_config *config, char *folder, size_t size)
{
    if (config->models) {
        snprintf(folder, size, "%s", config->models);
        return;
    }
    char executable[4000];
    int  length = (int)readlink("/proc/self/exe", executable, sizeof executable);
    if (length < 0) length = 0; /* /proc is not mounted: the prefix is taken as empty */
    int prefix = folder_of(executable, folder_of(executable, length)), tree = prefix;
    snprintf(folder, size, "%.*s/share/torqued/models", prefix, executable);
    for (int up = 0; up < 2 && tree > 0 && !is_folder(folder); up++, tree = folder_of(executable, tree))
        snprintf(folder, size, "%.*s/models", tree, executable);
    if (!is_folder(folder)) snprintf(folder, size, "%.*s/share/torqued/models", prefix, executable);
}

bool srv_config_store_folder(const srv_config *config, char *folder, size_t size, char *error, size_t error_size)
{
    const char *state = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int         length = -1;
    if (config->store)
        length = snprintf(folder, size, "%s", config->store);
    else if (state && *state)
        /* STATE_DIRECTORY may be a list: take its first entry. */
        length = snprintf(folder, size, "%.*s", (int)strcspn(state, ":"), state);
    else if (xdg && *xdg == '/') /* the XDG specification requires relative paths to be ignored */
        length = snprintf(folder, size, "%s/torqued", xdg);
    else if (home && *home == '/')
        length = snprintf(folder, size, "%s/.local/state/torqued", home);
    if (length >= 0 && (size_t)length < size) return true;
    snprintf(error, error_size, "%s; name the folder that keeps the models with --store DIR",
             length < 0 ? "there is no home folder" : "the store's path is too long");
    return false;
}
