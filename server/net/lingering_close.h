/* lingering_close.h - reads on, for a while, where a request was answered before its body was read.
 *
 * Closing a socket with input unread resets the connection, and the reset may overtake the answer: the client sees a
 * broken pipe, not the 413. libmicrohttpd has sent the end of its side; what the client still sends is read here and
 * thrown away, until it ends its side too or has had time and bytes enough. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

typedef struct srv_lingerer srv_lingerer;

typedef struct srv_linger {
    srv_lingerer *first, *last; /* the oldest first */
    size_t        count;
} srv_linger;

/* Keeps a duplicate of the descriptor; the caller closes its own. Nothing happens when too many linger already. */
void srv_linger_begin(srv_linger *all, uv_loop_t *loop, int fd);

uint64_t srv_linger_next(const srv_linger *all); /* the earliest deadline, or SRV_NEVER */
void     srv_linger_expire(srv_linger *all, uint64_t now);
void     srv_linger_close(srv_linger *all); /* all of them; the loop must run once more */
