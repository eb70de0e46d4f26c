/* line_writer.h - write whole lines to a descriptor whose reader may be slow or gone. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { SRV_LINE_SIZE = 4000 }; /* bytes of the longest line, shorter than PIPE_BUF, so a pipe takes it in one piece */

typedef struct srv_line_writer {
    int              fd;
    _Atomic uint64_t give_up_at; /* ns; writing does not wait for the reader beyond this time; SRV_NEVER: for ever */
} srv_line_writer;

/* SRV_GONE: the descriptor has no reader any more, and no later write can succeed. SRV_BLOCKED: it takes nothing now,
 * for the reason in errno; ETIMEDOUT: the reader is too slow. */
typedef enum srv_written { SRV_WRITTEN, SRV_BLOCKED, SRV_GONE } srv_written;

/* Writes text[*done .. length), whole lines, at most PIPE_BUF bytes at a time, and advances *done. */
srv_written srv_write_lines(srv_line_writer *writer, const char *text, size_t length, size_t *done);
