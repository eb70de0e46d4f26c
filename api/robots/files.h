/* files.h - find a file by the name that a robot's file gives it, among named files in memory: those of an archive, or
 * those that a command has gathered. A name never leads outside these files.
 *
 * Paths are relative to the root of the files, with "/" between folders, without ".", ".." and empty parts:
 * "panda/meshes/hand.stl". A folder is such a path; "" is the root. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct api_file_entry {
    const char *path;
    const char *bytes; /* [length] not terminated */
    size_t      length;
} api_file_entry;

typedef struct api_files {
    const api_file_entry *entry; /* [n] each path occurs once */
    size_t                n;
} api_files;

enum { API_FILE_PATH = 1024 /* bytes of a path, NUL included; longer names are not found */ };

/* Finds a file by its name in a file of `from_folder`:
 *
 *     meshes/hand.stl, ../hand.stl, ./hand.stl      relative to from_folder
 *     /robots/hand.stl, file:///robots/hand.stl     from the root of the files
 *     package://panda/meshes/hand.stl               the file meshes/hand.stl of a folder that is named "panda", or
 * whose model://panda/meshes/hand.stl                 package.xml has this <name>
 *
 * If several folders have the name, the file that shares most folders with from_folder counts, then that of the
 * shortest path, then the first in alphabetical order. NULL: no file has the name, it leads above the root, or `files`
 * is NULL. */
const api_file_entry *api_files_find(const api_files *files, const char *from_folder, const char *name);

/* Writes the folder of a path: "panda/meshes" for "panda/meshes/hand.stl". */
void api_files_folder(const char *path, char folder[API_FILE_PATH]);

/* Appends a relative or absolute name to a folder and removes ".", ".." and empty parts. False: the result leads above
 * the root, is the root, or is too long. */
bool api_files_join(const char *folder, const char *name, char path[API_FILE_PATH]);

/* Returns the name without `file://`. NULL: the name has another scheme, is an absolute path, or leads above its
 * folder. */
const char *api_files_plain_name(const char *name);
