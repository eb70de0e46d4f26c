/* files.c - finds files by name; see files.h. */
#define _GNU_SOURCE /* memmem */
#include "files.h"
#include <string.h>

/* --- paths -------------------------------------------------------------------------------------------------------- */

void api_files_folder(const char *path, char folder[API_FILE_PATH])
{
    const char *slash  = strrchr(path, '/');
    size_t      length = slash ? (size_t)(slash - path) : 0;
    if (length >= API_FILE_PATH) length = 0;
    memcpy(folder, path, length);
    folder[length] = '\0';
}

/* Appends the parts of `name` to the path of *length bytes. */
static bool append_parts(char path[API_FILE_PATH], size_t *length, const char *name)
{
    for (const char *part = name; *part;) {
        size_t n = strcspn(part, "/");
        if (n == 2 && memcmp(part, "..", 2) == 0) {
            if (*length == 0) return false;
            while (*length > 0 && path[--*length] != '/') {
            }
        } else if (n > 0 && !(n == 1 && *part == '.')) {
            if (*length + n + 2 > API_FILE_PATH) return false;
            if (*length > 0) path[(*length)++] = '/';
            memcpy(path + *length, part, n);
            *length += n;
        }
        part += n + (part[n] == '/');
    }
    path[*length] = '\0';
    return true;
}

bool api_files_join(const char *folder, const char *name, char path[API_FILE_PATH])
{
    size_t length = 0;
    return (*name == '/' || append_parts(path, &length, folder)) && append_parts(path, &length, name) && length > 0;
}

static const api_file_entry *find_path(const api_files *files, const char *path)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->entry[i].path, path) == 0) return &files->entry[i];
    return NULL;
}

/* --- packages ----------------------------------------------------------------------------------------------------- */

/* A name "package://NAME/REST" or "model://NAME/REST". */
typedef struct package_name {
    const char *name; /* [length] */
    size_t      length;
    char        inner[API_FILE_PATH]; /* REST in normal form, without "." and ".." */
} package_name;

/* True if the package.xml of the folder, path[0..length), names the package. */
static bool manifest_has(const api_files *files, const char *path, size_t length, const package_name *package)
{
    char manifest[API_FILE_PATH];
    if (length + sizeof "/package.xml" > sizeof manifest) return false;
    memcpy(manifest, path, length);
    strcpy(manifest + length, length > 0 ? "/package.xml" : "package.xml");
    const api_file_entry *found = find_path(files, manifest);
    const char           *open  = found ? memmem(found->bytes, found->length, "<name>", 6) : NULL;
    if (!open) return false;
    open += 6;
    size_t inner = found->length - (size_t)(open - found->bytes);
    while (inner > 0 && strchr(" \t\r\n", *open) && *open)
        open++, inner--;
    return inner > package->length && memcmp(open, package->name, package->length) == 0 &&
           strchr("< \t\r\n", open[package->length]) && open[package->length];
}

/* True if the entry is the file `rest` of a folder that has the name of the package. */
static bool is_in_package(const api_files *files, const api_file_entry *entry, const package_name *package)
{
    size_t whole = strlen(entry->path), inner = strlen(package->inner), n = package->length;
    if (whole < inner || strcmp(entry->path + whole - inner, package->inner) != 0) return false;
    if (whole > inner && entry->path[whole - inner - 1] != '/') return false;
    size_t folder = whole > inner ? whole - inner - 1 : 0;
    if (folder >= n && memcmp(entry->path + folder - n, package->name, n) == 0 &&
        (folder == n || entry->path[folder - n - 1] == '/'))
        return true;
    return manifest_has(files, entry->path, folder, package);
}

/* Number of folders that a path shares with a folder. */
static size_t shared_folders(const char *path, const char *folder)
{
    size_t shared = 0;
    for (size_t i = 0;; i++) {
        bool path_ends = path[i] == '/', folder_ends = folder[i] == '/' || (folder[i] == '\0' && i > 0);
        if (path_ends && folder_ends) shared++;
        if (path[i] != folder[i] || path[i] == '\0') return shared;
    }
}

static bool is_nearer(const api_file_entry *a, const api_file_entry *b, const char *folder)
{
    size_t shared_a = shared_folders(a->path, folder), shared_b = shared_folders(b->path, folder);
    size_t length_a = strlen(a->path), length_b = strlen(b->path);
    if (shared_a != shared_b) return shared_a > shared_b;
    return length_a != length_b ? length_a < length_b : strcmp(a->path, b->path) < 0;
}

static const api_file_entry *find_in_package(const api_files *files, const char *folder, const char *name)
{
    const api_file_entry *best = NULL;
    package_name          package;
    package.name   = name;
    package.length = strcspn(name, "/");
    if (package.length == 0 || !api_files_join("", name + package.length, package.inner)) return NULL;
    for (size_t i = 0; i < files->n; i++)
        if (is_in_package(files, &files->entry[i], &package) && (!best || is_nearer(&files->entry[i], best, folder)))
            best = &files->entry[i];
    return best;
}

const api_file_entry *api_files_find(const api_files *files, const char *from_folder, const char *name)
{
    char        path[API_FILE_PATH];
    const char *scheme = strstr(name, "://");
    if (!files) return NULL;
    if (strncmp(name, "package://", 10) == 0) return find_in_package(files, from_folder, name + 10);
    if (strncmp(name, "model://", 8) == 0) return find_in_package(files, from_folder, name + 8);
    if (strncmp(name, "file://", 7) == 0)
        name += 7;
    else if (scheme)
        return NULL;
    return api_files_join(from_folder, name, path) ? find_path(files, path) : NULL;
}

const char *api_files_plain_name(const char *name)
{
    if (strncmp(name, "file://", 7) == 0) name += 7;
    return *name == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "://") ? NULL : name;
}
