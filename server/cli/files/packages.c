/* packages.c - finds packages of ROS and models of Gazebo; see packages.h. */
#define _GNU_SOURCE /* memmem */
#include "packages.h"
#include "server/store/durable_file.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_MAX = 1 << 20 };

/* True if "/" and the path is a folder. */
static bool is_folder(const char *path)
{
    struct stat status;
    char        whole[API_FILE_PATH + 1];
    snprintf(whole, sizeof whole, "/%s", path);
    return stat(whole, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Writes folder/name, if it is a folder. */
static bool try_folder(const char *folder, const char *name, char found[API_FILE_PATH])
{
    return api_files_join(folder, name, found) && is_folder(found);
}

/* True if the folder's package.xml has this <name>. */
static bool manifest_names(const char *folder, const char *name)
{
    char   path[API_FILE_PATH + 20], tag[API_FILE_PATH];
    size_t length = 0;
    snprintf(path, sizeof path, "/%s/package.xml", folder);
    char *text  = srv_file_read(AT_FDCWD, path, MANIFEST_MAX, &length);
    int   n     = snprintf(tag, sizeof tag, "<name>%s</name>", name);
    bool  names = text && n > 0 && (size_t)n < sizeof tag && memmem(text, length, tag, (size_t)n);
    free(text);
    return names;
}

/* Searches `folder` and its parents for one of this name or with its package.xml, each parent for a subfolder of this
 * name, and last `folder` itself for such a subfolder. */
static bool find_near(const char *name, const char *folder, char found[API_FILE_PATH])
{
    char around[API_FILE_PATH];
    snprintf(around, sizeof around, "%s", folder);
    while (*around) {
        char *slash = strrchr(around, '/');
        if (strcmp(slash ? slash + 1 : around, name) == 0 || manifest_names(around, name)) {
            snprintf(found, API_FILE_PATH, "%s", around);
            return true;
        }
        *(slash ? slash : around) = '\0';
        if (*around && try_folder(around, name, found)) return true;
    }
    return try_folder(folder, name, found);
}

/* Searches the folders of a list, separated by ":", and their subfolders share/ and src/. */
static bool find_in(const char *name, const char *list, char found[API_FILE_PATH])
{
    static const char *const within[] = {"", "/share", "/src"};
    char                     cwd[API_FILE_PATH], folder[API_FILE_PATH], place[API_FILE_PATH], entry[API_FILE_PATH];
    if (!list || !getcwd(cwd, sizeof cwd)) return false;
    for (const char *part = list, *end; *part; part = end + (*end == ':')) {
        end = part + strcspn(part, ":");
        snprintf(entry, sizeof entry, "%.*s", (int)(end - part), part);
        if (end == part || !api_files_join(cwd + 1, entry, folder)) continue;
        const char *base = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
        if (strcmp(base, name) == 0 || manifest_names(folder, name)) { /* ROS_PACKAGE_PATH may name a package itself */
            snprintf(found, API_FILE_PATH, "%s", folder);
            return true;
        }
        for (size_t i = 0; i < 3; i++)
            if ((size_t)snprintf(place, sizeof place, "%s%s", folder, within[i]) < sizeof place &&
                try_folder(place, name, found))
                return true;
    }
    return false;
}

bool cli_package_find(const char *name, const char *folder, const char *path, char found[API_FILE_PATH])
{
    return find_near(name, folder, found) || find_in(name, path, found) ||
           find_in(name, getenv("ROS_PACKAGE_PATH"), found) || find_in(name, getenv("AMENT_PREFIX_PATH"), found) ||
           find_in(name, getenv("GZ_SIM_RESOURCE_PATH"), found);
}
