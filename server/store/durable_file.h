/* durable_file.h - whole files and folders, durably: what returns true is on the disk, but for the name of a new file,
 * which is there once its folder is synced. On false errno says why. `folder` is a descriptor. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Makes the folder and those above it. */
bool srv_folder_make(const char *path);

/* Opens a folder of a folder (AT_FDCWD: of the working one). -1: errno. */
int srv_folder_open(int folder, const char *name);

/* Creates or overwrites. */
bool srv_file_write(int folder, const char *name, const char *bytes, size_t length);

/* The whole of a regular file, NUL-terminated, of less than `limit` bytes. The caller frees. */
char *srv_file_read(int folder, const char *name, size_t limit, size_t *length);

/* What is left of a stream, such as standard input; the same otherwise. */
char *srv_stream_read(FILE *stream, size_t limit, size_t *length);

/* The same of what a command is given: a file, a pipe, or, called "-", standard input. */
char *srv_input_read(const char *name, size_t limit, size_t *length);
