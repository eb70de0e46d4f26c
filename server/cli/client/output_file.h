/* output_file.h - write the file that --output names as a whole or not at all.
 *
 * A regular file is written under a temporary name in the same folder, NAME.torqued-XXXXXX, and renamed when it is
 * complete. Until then the earlier file keeps its content, also for a command that reads it as its input. The
 * temporary file is removed when the command fails or a signal such as SIGINT, SIGTERM or SIGHUP ends it; only SIGKILL
 * leaves it behind.
 *
 * - Symbolic links are followed: the file that they lead to is replaced. If a file has several hard links, only the
 *   name that was given gets the new content.
 * - A new file has the mode that the umask leaves. A replaced file keeps its mode and its access control list, and its
 *   owner and group where the system allows it. A file without permission to write is not replaced.
 * - Devices, FIFOs, sockets and links of /proc such as /dev/stdout are opened as they are, and never removed.
 * - The data are on the disk (fsync) before the rename: after a crash of the machine the name has the earlier content
 *   or the whole new one. The folder is not synced, so that the earlier one may come back. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

typedef struct cli_output_file {
    FILE       *stream;    /* NULL: not open */
    const char *name;      /* for messages: the caller's, or "standard output" */
    char       *target;    /* the file that will be replaced; NULL: the stream writes to the output itself */
    char       *temporary; /* name of the file that the stream writes; NULL if `target` is */
} cli_output_file;

/* Opens the file `name`; "-" or NULL for standard output. At most one is open at a time. False after printing an error
 * that names the file, and the folder if the temporary file cannot be made; then nothing is open. */
bool cli_output_file_open(cli_output_file *file, const char *name);

/* Returns true as long as no write has failed. Else prints an error with the reason in errno: call it after the writes.
 */
bool cli_output_file_check(const cli_output_file *file);

/* Writes what is buffered, and gives the file its name. False after printing an error: the earlier file is unchanged.
 * If only the rename fails, the temporary file stays, and the error names it. */
bool cli_output_file_keep(cli_output_file *file);

/* Closes the file. Without cli_output_file_keep the temporary file is removed. Initialise with {0} if it may be
 * discarded without being opened. */
void cli_output_file_discard(cli_output_file *file);
