/* link.h - one connection to PostgreSQL, used by one thread. Every wait has a deadline and ends early when the store
 * closes; libpq is never allowed to block (PostgreSQL 15 documentation, sections 34.1 and 34.4). */
#pragma once
#include "fault.h"
#include "libpq.h"
#include <stdatomic.h>
#include <stdint.h>

enum { SRV_QUERY_PARAMETERS = 5, SRV_LINK_ERROR = 400, SRV_SQLSTATE = 6 };

typedef struct srv_link {
    const srv_libpq   *pq;
    const char        *url;
    const atomic_bool *closing;               /* set by another thread, which then writes to `wake` */
    int                wake;                  /* an eventfd that interrupts waiting */
    PGconn            *connection;            /* NULL: not connected */
    size_t             attempts;              /* number of the attempt to connect; the hosts are tried in turn */
    bool               notified;              /* a NOTIFY has arrived since this was cleared */
    bool               unreplicated;          /* the last query is committed, but a standby has not confirmed it */
    char               state[SRV_SQLSTATE];   /* SQLSTATE of the last query that failed; "": the connection was lost */
    srv_fault          fault;                 /* kind of the last failure */
    char               error[SRV_LINK_ERROR]; /* message of the last failure, one line */
} srv_link;

/* A statement with parameters in binary form; its results are binary, too. */
typedef struct srv_query {
    const char *text;
    int         n;
    Oid         types[SRV_QUERY_PARAMETERS]; /* 0: inferred by the server */
    const char *values[SRV_QUERY_PARAMETERS];
    int         lengths[SRV_QUERY_PARAMETERS];
} srv_query;

/* Notes a failure of a kind and its message. Returns false. */
bool srv_link_fail(srv_link *link, srv_fault fault, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tries one host. False with link->error. `deadline`: ns on CLOCK_MONOTONIC. */
bool srv_link_open(srv_link *link, uint64_t deadline);
void srv_link_close(srv_link *link);

/* Runs a statement. NULL with link->error and link->state; a connection that was lost is then closed. The caller clears
 * the result. */
PGresult *srv_link_query(srv_link *link, const srv_query *query, uint64_t deadline);

/* Runs one or more statements without parameters. False with link->error. */
bool srv_link_run(srv_link *link, const char *statements, uint64_t deadline);

/* Waits for a notification, for the eventfd or for the deadline, connected or not. False: the connection is lost. */
bool srv_link_wait(srv_link *link, uint64_t deadline);

/* A column of type bigint. */
uint64_t srv_link_number(const srv_link *link, const PGresult *result, int row, int column);
