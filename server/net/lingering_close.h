/* lingering_close.h - reads on, for a while, where a request was answered before its body was read.
 *
 * Closing a socket with input unread resets the connection, and the reset may overtake the answer: the client sees a
 * broken pipe, not the 413. libmicrohttpd has sent the end of its side; what the client still sends is read here and
 * thrown away, until it ends its side too or has had time and bytes enough. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

typedef struct srv_lingering_socket srv_lingering_socket;

typedef struct srv_lingering_list {
    srv_lingering_socket *first, *last; /* the oldest first */
    size_t                count;
} srv_lingering_list;

/* Keeps a duplicate of the descriptor; the caller closes its own. Nothing happens when too many linger already. */
void srv_lingering_close_begin(srv_lingering_list *all, uv_loop_t *loop, int fd);

uint64_t srv_lingering_close_next(const srv_lingering_list *all); /* the earliest deadline, or SRV_NEVER */
void     srv_lingering_close_expire(srv_lingering_list *all, uint64_t now);
void     srv_lingering_close_end_all(srv_lingering_list *all); /* all of them; the loop must run once more */
