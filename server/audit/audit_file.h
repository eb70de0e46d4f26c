/* audit_file.h - write the lines of an audit queue to a file of their own, on a thread of its own.
 *
 * The file is a regular file or a FIFO. While it takes no lines (a full disk, a FIFO without a reader), the thread
 * tries again and again, and the lines stay in the queue. */
#pragma once
#include "audit_queue.h"

typedef struct srv_audit_file srv_audit_file;

/* Called with the reason when the file begins to refuse lines, and with NULL when it takes lines again. */
typedef void srv_audit_fault(void *arg, const char *reason);

/* Opens or creates the file and starts the thread. A FIFO may have no reader yet. NULL with a message. The queue and
 * `path` must outlive it. */
srv_audit_file *srv_audit_file_open(srv_audit_queue *queue, const char *path, srv_audit_fault *fault, void *arg,
                                    char *error, size_t error_size);

/* Closes the file and opens the one that is at its path now, before the next line is written. */
void srv_audit_file_reopen(srv_audit_file *file);

/* Waits until all lines are written, at most until `end`, ns, and closes the file. NULL is allowed. */
void srv_audit_file_close(srv_audit_file *file, uint64_t end);

/* True if lines can be appended to the file, or if it can be made. False with a message. */
bool srv_audit_file_check(const char *path, char *error, size_t error_size);
