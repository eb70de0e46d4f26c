/* exchange.h - one request and its answer: from libmicrohttpd's callbacks to the api's calls.
 *
 *     begin ── receive* ── complete ──┬── runs here ──────────────── answer ── close
 *                                     └── suspend ─ worker ─ resume ─ complete ─┘
 *
 * An exchange belongs to its connection and is used on the loop's thread; while suspended its job is the pool's. */
#pragma once
#include "event_loop.h"

typedef struct srv_exchange srv_exchange;

/* The request line is read. NULL: no memory. */
srv_exchange *srv_exchange_open(srv_loop *loop, srv_connection *connection, struct MHD_Connection *mhd,
                                const char *target);
/* `delivered`: the answer was taken whole. Logs the request. */
void srv_exchange_close(srv_exchange *x, bool delivered);

bool            srv_exchange_begun(const srv_exchange *x);
enum MHD_Result srv_exchange_begin(srv_exchange *x, const char *method, const char *version);
enum MHD_Result srv_exchange_receive(srv_exchange *x, const char *data, size_t length);
enum MHD_Result srv_exchange_complete(srv_exchange *x);

void srv_exchange_resume(srv_job *job);    /* the worker has finished it */
void srv_exchange_cancel(srv_exchange *x); /* suspended, and nobody waits for the answer */

/* Requests whose time is over while their body is to come, or while they wait for a worker, are refused. (Those a
 * worker is at look themselves.) Returns the earliest deadline to come. */
uint64_t srv_exchanges_expire(srv_loop *loop, uint64_t now);
