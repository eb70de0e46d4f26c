/* receive.c - see receive.h. */
#include "receive.h"
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_LEAST = 4096 /* bytes asked for while a head is incomplete */ };

/* Where bytes come from: a socket or a TLS session. */
typedef struct source {
    ssize_t (*read)(void *handle, void *buffer, size_t size); /* like recv; negative results are errors */
    void   *handle;
    ssize_t again, no_memory; /* results for "no bytes now" and "no memory" */
    bool    has_records;      /* true: a short read does not mean that nothing is left */
} source;

/* The inflows of this thread's sockets by descriptor. */
static _Thread_local struct {
    srv_inflow **of;
    size_t       size;
} table;

bool srv_receive_attach(int fd, srv_inflow *inflow)
{
    size_t wanted = (size_t)fd + 1;
    if (wanted > table.size) {
        size_t       size = wanted < 2 * table.size ? 2 * table.size : wanted;
        srv_inflow **of   = realloc(table.of, size * sizeof *of);
        if (!of) return false;
        memset(of + table.size, 0, (size - table.size) * sizeof *of);
        table.of   = of;
        table.size = size;
    }
    table.of[fd] = inflow;
    return true;
}

void srv_receive_detach(int fd, srv_inflow *inflow)
{
    if ((size_t)fd < table.size && table.of[fd] == inflow) table.of[fd] = NULL;
    free(inflow->pending);
    inflow->pending = NULL;
}

void srv_receive_end(void)
{
    free(table.of);
    table.of   = NULL;
    table.size = 0;
}

static srv_inflow *find_inflow(int fd)
{
    return fd >= 0 && (size_t)fd < table.size ? table.of[fd] : NULL;
}

bool srv_inflow_is_midway(const srv_inflow *in)
{
    return in->held > 0 || in->ready > 0 || srv_framing_is_midway(&in->framing);
}

static bool make_room(srv_inflow *in, size_t more)
{
    size_t wanted = in->ready + in->held + more;
    if (wanted <= in->capacity && in->pending) return true;
    char *pending = realloc(in->pending, wanted);
    if (!pending) return false;
    in->pending  = pending;
    in->capacity = wanted;
    return true;
}

/* Moves ready bytes to the buffer. */
static size_t take(srv_inflow *in, char *buffer, size_t size)
{
    size_t n = in->ready < size ? in->ready : size;
    if (n == 0) return 0;
    memcpy(buffer, in->pending, n);
    in->ready -= n;
    if (in->ready + in->held > 0) {
        memmove(in->pending, in->pending + n, in->ready + in->held);
    } else {
        free(in->pending);
        in->pending = NULL;
    }
    return n;
}

/* Appends the substitute of a malformed message. */
static bool add_substitute(srv_inflow *in)
{
    const srv_framing *f = &in->framing;
    if (!make_room(in, f->substitute_length)) return false;
    memcpy(in->pending + in->ready, f->substitute, f->substitute_length);
    in->ready += f->substitute_length;
    return true;
}

/* Checks `fresh` bytes that follow the held ones in `pending`, where nothing is ready. False: no memory. */
static bool check_pending(srv_inflow *in, size_t fresh)
{
    srv_framed framed = srv_framing_check(&in->framing, in->pending, in->held, fresh);
    in->ready         = framed.ready;
    in->held          = framed.held;
    return in->framing.stage != SRV_MALFORMED || add_substitute(in);
}

/* Checks bytes in the caller's buffer, while nothing is pending. Bytes that must wait move to `pending`; *passed counts
 * those that stay. False: no memory. */
static bool check_in_place(srv_inflow *in, char *buffer, size_t fresh, size_t *passed)
{
    srv_framed framed = srv_framing_check(&in->framing, buffer, 0, fresh);
    *passed           = framed.ready;
    if (framed.held > 0) {
        if (!make_room(in, framed.held)) return false;
        memcpy(in->pending, buffer + framed.ready, framed.held);
        in->held = framed.held;
    }
    return in->framing.stage != SRV_MALFORMED || add_substitute(in);
}

/* Reads once and checks the bytes. Returns the result of the read; *passed counts bytes written to the buffer. */
static ssize_t read_checked(srv_inflow *in, const source *from, char *buffer, size_t size, size_t *passed)
{
    bool direct = in->held == 0;
    if (!direct && !make_room(in, size)) return from->no_memory;
    ssize_t n = from->read(from->handle, direct ? buffer : in->pending + in->held, size);
    if (n <= 0) return n;
    if (in->begun && !srv_inflow_is_midway(in)) in->begun(in);
    bool ok = direct ? check_in_place(in, buffer, (size_t)n, passed) : check_pending(in, (size_t)n);
    return ok ? n : from->no_memory;
}

/* Fills the buffer with checked bytes. */
static ssize_t receive(srv_inflow *in, const source *from, char *buffer, size_t size)
{
    size_t filled  = 0;
    bool   drained = false;
    for (;;) {
        filled += take(in, buffer + filled, size - filled);
        if (filled == size || drained || in->framing.stage == SRV_MALFORMED) break;
        if (filled > 0 && from->has_records) break;
        size_t  passed = 0, asked = in->held == 0 || size - filled > READ_LEAST ? size - filled : READ_LEAST;
        ssize_t n = read_checked(in, from, buffer + filled, asked, &passed);
        if (n == from->no_memory && errno == ENOMEM) {
            if (in->short_of_memory) in->short_of_memory(in);
            return n;
        }
        if (n <= 0 && filled == 0) return n;
        drained = n <= 0 || (!from->has_records && (size_t)n < asked); /* the next read repeats an end or error */
        filled += passed;
    }
    if (filled > 0 || size == 0) return (ssize_t)filled;
    errno = EAGAIN;
    return from->again;
}

/* --- the functions that libmicrohttpd calls ------------------------------------------------------------------------
 */

static ssize_t read_socket(void *handle, void *buffer, size_t size)
{
    return recvfrom(*(int *)handle, buffer, size, 0, NULL, NULL);
}

/* gnutls_record_recv_seq is gnutls_record_recv with the number of the record, which is not needed. */
static ssize_t read_session(void *handle, void *buffer, size_t size)
{
    unsigned char number[8];
    return gnutls_record_recv_seq(handle, buffer, size, number);
}

/* Overrides the function of libc; recvfrom without an address is the same. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): those of libc are reserved */
ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    srv_inflow  *in   = find_inflow(fd);
    const source from = {.read = read_socket, .handle = &fd, .again = -1, .no_memory = -1};
    if (!in || in->encrypted || flags & MSG_PEEK) return recvfrom(fd, buffer, size, flags, NULL, NULL);
    return receive(in, &from, buffer, size);
}

/* Overrides the function of GnuTLS. */
ssize_t gnutls_record_recv(gnutls_session_t session, void *data, size_t data_size)
{
    srv_inflow  *in   = find_inflow(gnutls_transport_get_int(session));
    const source from = {.read        = read_session,
                         .handle      = session,
                         .again       = GNUTLS_E_AGAIN,
                         .no_memory   = GNUTLS_E_MEMORY_ERROR,
                         .has_records = true};
    if (!in || !in->encrypted) return read_session(session, data, data_size);
    return receive(in, &from, data, data_size);
}
