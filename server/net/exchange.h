/* exchange.h - process one request and its answer: connects libmicrohttpd's callbacks with the functions of api.h.
 *
 *     begin ── receive* ── complete ──┬── runs on this thread ───── answer ── close
 *                                     └── suspend ─ worker ─ resume ─ complete ─┘
 *
 * An exchange belongs to its connection and is used on the loop's thread. While it is suspended, the worker pool
 * owns its job. */
#pragma once
#include "event_loop.h"

typedef struct srv_exchange srv_exchange;

/* Creates an exchange when the request line has been read. NULL: no memory. */
srv_exchange *srv_exchange_open(srv_loop *loop, srv_connection *connection, struct MHD_Connection *mhd,
                                const char *target);
/* Counts and logs the request, and frees the exchange. `delivered`: the client has received the whole answer. */
void srv_exchange_close(srv_exchange *x, bool delivered);

/* Answers 503 because there was no memory to read more of the request. The connection must be closed afterwards. */
void srv_exchange_end_short(srv_exchange *x);

bool            srv_exchange_begun(const srv_exchange *x);
enum MHD_Result srv_exchange_begin(srv_exchange *x, const char *method);
enum MHD_Result srv_exchange_receive(srv_exchange *x, const char *data, size_t length);
enum MHD_Result srv_exchange_complete(srv_exchange *x);

void srv_exchange_resume(srv_job *job);    /* called when a worker has finished the job */
void srv_exchange_cancel(srv_exchange *x); /* called when the client of a suspended request has disconnected */

/* Continues requests that wait for a change of a shared store, if this server has applied the change meanwhile. */
void srv_exchanges_advance(srv_loop *loop);

/* Resumes some of the bodies that were paused because a turn of the loop was full. */
void srv_exchanges_go_on(srv_loop *loop);

/* Carries out new orders to give memory back (srv_account_want_memory): ends the receiving of the largest body of such
 * a client. */
void srv_exchanges_yield(srv_loop *loop);

/* Refuses requests whose deadline passes while they wait for their body or for a worker. (A worker checks the
 * deadline of a running request itself.) Returns the earliest deadline still to come, ns, or SRV_NEVER. */
uint64_t srv_exchanges_expire(srv_loop *loop, uint64_t now);
