/* receive.h - give libmicrohttpd only bytes that server/framing has checked.
 *
 * libmicrohttpd 0.9.75 has no hook in front of its parser, but it calls recv (and gnutls_record_recv for TLS) through
 * the dynamic linker. This file defines both functions for the whole program; for the sockets attached here they return
 * checked bytes, for all others they do what the libraries' functions do. The bytes are plaintext in both cases. A
 * relay through a socket pair would need no such function, but TLS of our own, and four more system calls and one more
 * event for every request. Calls and events are counted from the calls that a relay makes; no relay was built and
 * measured.
 *
 * libmicrohttpd polls with edge-triggered epoll and takes a short read as "nothing left", so a read returns less than
 * it was asked for only if the socket is drained. */
#pragma once
#include "server/framing/framing.h"
#include <sys/types.h>

/* The receiving side of a connection. */
typedef struct srv_inflow {
    srv_framing framing;
    bool        encrypted; /* true: recv sees TLS records, and gnutls_record_recv the plaintext */
    char       *pending;   /* bytes that were received but not passed on, allocated only while there are any */
    size_t      capacity, ready, held;        /* pending[0 .. ready) may be passed on, `held` bytes follow */
    void (*begun)(struct srv_inflow *inflow); /* called when the first bytes of a request have arrived; NULL: none */
    void (*short_of_memory)(struct srv_inflow *inflow); /* called before a read fails for lack of memory; NULL: none */
} srv_inflow;

/* Begin and end the check of the bytes that this thread receives from a socket. False: no memory. */
bool srv_receive_attach(int fd, srv_inflow *inflow);
void srv_receive_detach(int fd, srv_inflow *inflow);

/* Frees the thread's table of sockets. Call when none is attached any more. */
void srv_receive_end(void);

/* True while a request has begun to arrive, but not ended. */
bool srv_inflow_is_midway(const srv_inflow *inflow);

/* True if the connection's current request, the `number`th from 1, is the malformed one. */
static inline bool srv_inflow_refuses(const srv_inflow *inflow, uint64_t number)
{
    return inflow->framing.stage == SRV_MALFORMED && inflow->framing.messages == number;
}
