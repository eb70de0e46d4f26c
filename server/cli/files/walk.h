/* walk.h - list files of folders. Paths are absolute without their first "/". */
#pragma once
#include <stdbool.h>

bool cli_is_folder(const char *path); /* a path as the user gives it */

/* Calls `visit` for each XML file, by its ending, in a folder and the folders in it, in alphabetical order; symbolic
 * links to folders and hidden folders are not followed. False after printing an error: the folder cannot be read, it
 * has too many files, or `visit` returned false. */
typedef bool cli_walk_visit(void *arg, const char *path);
bool         cli_walk_all(const char *folder, cli_walk_visit *visit, void *arg);

/* Calls `visit` with the path of each file of a folder that has this ending. False: `visit` returned false. */
bool cli_walk_ending(const char *folder, const char *ending, cli_walk_visit *visit, void *arg);
