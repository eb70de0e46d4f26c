/* connection.h - keep the connections of one loop and enforce a time limit for each phase of a connection.
 *
 * libmicrohttpd limits only inactivity, so a client that sends one byte now and then could stay forever. Here each
 * phase has an absolute deadline. The time limit is the same for all connections in a phase, so the list of a phase is
 * sorted by deadline, and only its head must be checked. An expired connection is shut down; libmicrohttpd then finds
 * it closed. Only the loop's thread calls these functions. */
#pragma once
#include "peer.h"
#include "receive.h"
#include "api/client_metrics.h"
#include "server/access/credentials.h"
#include "server/work/account.h"
#include "server/work/clock.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum srv_phase {
    SRV_ARRIVED,       /* accepted, before the first request */
    SRV_READING,       /* from the request line to the last byte of the body */
    SRV_WORKING,       /* the request waits for a worker or runs; the request's own deadline applies */
    SRV_WRITING,       /* from the start of the answer until the client has received it */
    SRV_REFUSED,       /* a request was answered before its body was received, until the client closes or sends more */
    SRV_IDLE,          /* between requests */
    SRV_CLIENT_CLOSED, /* the client has closed its side and expects no further answer */
    SRV_CLOSING,       /* shut down, until libmicrohttpd closes it */
    SRV_PHASES
} srv_phase;

/* Figures of the last requests of a connection that api_client_count does not have yet, see client_account.h. */
typedef struct srv_tally {
    const srv_account *account; /* account of these requests; NULL: there are none */
    api_client_figures figures;
    uint64_t           counted; /* ns, when figures were last given to api_client_count */
} srv_tally;

typedef struct srv_connection {
    struct srv_connection *previous, *next; /* neighbours in the list of the phase, oldest first */
    int                    fd;
    srv_phase              phase;
    uint64_t               since;
    bool                   needs_lingering_close; /* true: the connection closes with input unread */
    bool                   client_closed;         /* the client has closed its side */
    srv_peer               peer;
    gnutls_session_t       tls;             /* NULL: not encrypted */
    srv_credentials       *tls_credentials; /* credentials with which the session began; NULL: not encrypted */
    srv_certificate        certificate; /* certificate of the client, as checked by the credentials of the generation */
    uint64_t               certificate_generation;
    srv_account           *peer_account;   /* account of the address or user at the other end */
    bool                   is_counted;     /* true: it is one of the account's connections */
    bool                   is_surplus;     /* the client had too many connections: the first request is refused */
    srv_account           *client_account; /* account of the last request's client, if another; NULL: none */
    srv_tally              tally;
    bool                   on_loopback; /* accepted on a loopback address: the client is on this machine */
    srv_inflow             inflow;      /* check of the bytes that the client sends */
    uint64_t               requests;    /* number of requests that libmicrohttpd has announced */
    struct srv_loop       *loop;        /* the last six fields belong to http_daemon.c and exchange*.c */
    struct MHD_Connection *mhd;
    struct srv_disconnect *hangup;
    void                  *exchange; /* the current request; NULL: none */
    bool rests; /* true: reading of the body is paused until the loop resumes it from its list `resting` */
    struct srv_connection *next_resting;
} srv_connection;

/* Called when a connection ends whose client has not sent the head of a request in time. */
typedef void srv_late_head(void *arg, const srv_connection *connection);

typedef struct srv_connections {
    srv_connection *first[SRV_PHASES], *last[SRV_PHASES];
    uint64_t        time_limit[SRV_PHASES]; /* per phase, ns; SRV_NEVER: none */
    size_t          count;
    size_t          n_closing;    /* number of connections in SRV_CLOSING */
    uint64_t        now;          /* ns, last reading of the clock; the time stamp of every event since */
    srv_late_head  *on_late_head; /* NULL: not called */
    void           *on_late_head_arg;
} srv_connections;

/* Reads the clock. Called before every turn of the loop and for every request, since one turn may serve many. */
static inline uint64_t srv_connections_read_clock(srv_connections *all)
{
    return all->now = srv_now();
}

srv_connection *srv_connection_open(srv_connections *all, int fd); /* NULL: no memory */
void            srv_connection_close(srv_connections *all, srv_connection *connection);

/* Moves a connection to a phase. A connection in SRV_CLOSING stays there. If the client has closed its side,
 * SRV_CLIENT_CLOSED replaces the phases that wait for the client. */
void srv_connection_enter(srv_connections *all, srv_connection *connection, srv_phase phase);

/* Notes that the client has closed its side. A connection that is not being answered moves to SRV_CLIENT_CLOSED, and
 * the next srv_connections_expire shuts it down. */
void srv_connection_note_client_closed(srv_connections *all, srv_connection *connection);

void srv_connection_shut(srv_connections *all, srv_connection *connection);

uint64_t srv_connection_deadline(const srv_connections *all, const srv_connection *connection); /* ns, or SRV_NEVER */
uint64_t srv_connections_next(const srv_connections *all); /* ns, earliest deadline of all; or SRV_NEVER */
void     srv_connections_expire(srv_connections *all, uint64_t now);

/* Shuts the connection that has been silent for longest: of one account, or, if `account` is NULL, of the account with
 * the most connections. Silent are those that wait for the client: for a request, for the rest of one, or for the
 * client to read its answer; none gives way in its first moments. `spared` is not shut. False if there is none. */
bool srv_connections_displace(srv_connections *all, const srv_account *account, const srv_connection *spared);

/* Limits connections without a request to `grace` ns from now, new ones included. Used when the server shuts down. */
void srv_connections_limit_idle(srv_connections *all, uint64_t grace);
