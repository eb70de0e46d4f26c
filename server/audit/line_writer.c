/* line_writer.c - writes whole lines piece by piece (line_writer.h). */
#include "line_writer.h"
#include "server/work/clock.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

/* Waits until the descriptor can be written. False with errno if that does not happen before give_up_at. */
static bool wait_for_reader(srv_line_writer *writer)
{
    struct pollfd room = {.fd = writer->fd, .events = POLLOUT};
    errno              = ETIMEDOUT;
    while (poll(&room, 1, 100) == 0)
        if (srv_now() >= atomic_load(&writer->give_up_at)) return false;
    errno = EPIPE; /* POLLERR: the reader of the pipe is gone; POLLNVAL: the descriptor is closed */
    return room.revents & POLLOUT;
}

/* Returns how many bytes to write at once: whole lines as far as PIPE_BUF allows. A pipe that polls writable has room
 * for PIPE_BUF bytes, so the write does not block unless other processes write too. */
static size_t next_piece(const char *text, size_t length)
{
    if (length <= PIPE_BUF) return length;
    size_t piece = PIPE_BUF;
    while (piece > 0 && text[piece - 1] != '\n')
        piece--;
    return piece;
}

srv_written srv_write_lines(srv_line_writer *writer, const char *text, size_t length, size_t *done)
{
    while (*done < length) {
        ssize_t written =
            wait_for_reader(writer) ? write(writer->fd, text + *done, next_piece(text + *done, length - *done)) : -1;
        if (written < 0 && (errno == EPIPE || errno == EBADF)) return SRV_GONE;
        if (written < 0 && errno != EINTR && errno != EAGAIN) return SRV_BLOCKED;
        if (written == 0) errno = EIO;
        if (written == 0) return SRV_BLOCKED;
        if (written > 0) *done += (size_t)written;
    }
    return SRV_WRITTEN;
}
