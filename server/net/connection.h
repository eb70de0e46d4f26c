/* connection.h - the connections of one loop and how long each may stay in its phase.
 *
 * libmicrohttpd times out only inactivity, so that a client sending a byte now and then stays forever. Here every
 * phase has an absolute deadline, the same for all connections in it; so each phase's list is in the order of
 * deadlines, and expiry looks at the heads only. An expired connection is shut down, and libmicrohttpd finds it
 * closed. Used from the loop's thread alone. */
#pragma once
#include "server/work/clock.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum srv_phase {
    SRV_ARRIVED,       /* accepted, no request yet */
    SRV_READING,       /* from the request line to the last byte of the body */
    SRV_WORKING,       /* its request waits for a worker or is worked on: the request's own deadline holds */
    SRV_WRITING,       /* from the answer to its last byte taken */
    SRV_REFUSED,       /* answered before its body has come, until the client goes on or closes */
    SRV_IDLE,          /* between requests */
    SRV_CLIENT_CLOSED, /* the client has closed its side, and waits for no answer any more */
    SRV_CLOSING,       /* shut down, until libmicrohttpd has noticed */
    SRV_PHASES
} srv_phase;

typedef struct srv_connection {
    struct srv_connection *previous, *next; /* in the list of its phase, the longest there first */
    int                    fd;
    srv_phase              phase;
    uint64_t               since;
    bool                   needs_lingering_close; /* closes with input unread */
    bool                   client_closed;         /* the client has closed its side */
    struct srv_loop       *loop;                  /* these three are of whoever uses the list */
    struct srv_disconnect *hangup;
    void                  *exchange; /* the request it is busy with */
} srv_connection;

typedef struct srv_connections {
    srv_connection *first[SRV_PHASES], *last[SRV_PHASES];
    uint64_t        time_limit[SRV_PHASES]; /* ns; SRV_NEVER: no deadline */
    size_t          count;
    uint64_t        now; /* when the loop last looked at the clock: what happens to a connection happens then */
} srv_connections;

/* Looks at the clock: before every turn, and for every request, of which a turn may serve many. */
static inline uint64_t srv_connections_read_clock(srv_connections *all)
{
    return all->now = srv_now();
}

srv_connection *srv_connection_open(srv_connections *all, int fd); /* NULL: no memory */
void            srv_connection_close(srv_connections *all, srv_connection *connection);

/* A closing connection stays in SRV_CLOSING; one whose client is gone goes to SRV_CLIENT_CLOSED for reading or idling.
 */
void srv_connection_enter(srv_connections *all, srv_connection *connection, srv_phase phase);

/* The client has closed its side, which abandons its request: what is not being answered goes to SRV_CLIENT_CLOSED, to
 * be shut by the next expiry. */
void srv_connection_note_client_closed(srv_connections *all, srv_connection *connection);

void srv_connection_shut(srv_connections *all, srv_connection *connection);

uint64_t srv_connection_deadline(const srv_connections *all, const srv_connection *connection); /* or SRV_NEVER */
uint64_t srv_connections_next(const srv_connections *all); /* the earliest deadline, or SRV_NEVER */
void     srv_connections_expire(srv_connections *all, uint64_t now);

/* Connections without a request get `grace` ns from now, new ones too: for the end of service. */
void srv_connections_limit_idle(srv_connections *all, uint64_t grace);
