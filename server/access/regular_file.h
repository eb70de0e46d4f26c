/* regular_file.h - open a file of settings, clients or certificates, which must be a regular file: a FIFO would keep
 * the server waiting for its writer, and what was read from it cannot be read again. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens a regular file to read it; symbolic links are followed. NULL with a reason. */
FILE *srv_regular_file_open(const char *path, char *reason, size_t size);

/* As srv_regular_file_open, for a file that decides what the server does: other users must not be able to write it. */
FILE *srv_trusted_file_open(const char *path, char *reason, size_t size);
