/* lingering_close.h - keep reading a connection for a while after a request was answered before its body was read.
 *
 * Closing a socket with unread input resets the connection, and the reset may overtake the answer: the client sees a
 * broken pipe instead of the 413. libmicrohttpd has already closed the sending side. Further input is read and
 * discarded here until the client closes its side, or a limit of time or bytes is reached. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

typedef struct srv_lingering_socket srv_lingering_socket;

typedef struct srv_lingering_list {
    srv_lingering_socket *first, *last; /* list of sockets, oldest first */
    size_t                count;
} srv_lingering_list;

/* Starts a lingering close on a duplicate of the descriptor; the caller closes its own. Does nothing if too many
 * sockets linger already. */
void srv_lingering_close_begin(srv_lingering_list *all, uv_loop_t *loop, int fd);

uint64_t srv_lingering_close_next(const srv_lingering_list *all); /* ns, earliest deadline; or SRV_NEVER */
void     srv_lingering_close_expire(srv_lingering_list *all, uint64_t now);
void     srv_lingering_close_end_all(srv_lingering_list *all); /* ends all; the loop must run once more to free them */
