/* durable_file.h - read and write whole files and folders durably: if a function returns true, the data are on the
 * disk. The name of a new file is on the disk after its folder is synced. On failure errno has the reason. `folder`
 * is a descriptor. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Creates the folder and its missing parents. */
bool srv_folder_make(const char *path);

/* Gives a file or folder that this process has just made the owner of `folder`, so that a store which root restores
 * stays readable for the user of the service. A file that has another name too may be one of root's, linked here by
 * that user, and keeps its owner. Without the right to change owners, nothing happens. */
void srv_owner_take(int fd, int folder);

/* Opens a subfolder (AT_FDCWD: of the working directory). -1 with errno. */
int srv_folder_open(int folder, const char *name);

/* Creates or overwrites a file, which gets the owner of its folder (srv_owner_take). */
bool srv_file_write(int folder, const char *name, const char *bytes, size_t length);

/* Reads a regular file of fewer than `limit` bytes; the result is NUL-terminated and freed by the caller. */
char *srv_file_read(int folder, const char *name, size_t limit, size_t *length);

/* As srv_file_read for a file that is open; the descriptor stays open, and its offset moves. */
char *srv_descriptor_read(int fd, size_t limit, size_t *length);

/* Reads the rest of a stream, such as standard input, if it is shorter than `limit` bytes; the result is NUL-terminated
 * and freed by the caller. */
char *srv_stream_read(FILE *stream, size_t limit, size_t *length);

/* Reads a file or pipe that is the argument of a command, or standard input for "-", if it is shorter than `limit`
 * bytes; the result is NUL-terminated and freed by the caller. */
char *srv_input_read(const char *name, size_t limit, size_t *length);
