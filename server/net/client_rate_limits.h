/* client_rate_limits.h - hold each client to its numbers of connections and of requests per second. */
#pragma once
#include "event_loop.h"

/* Called for a new connection: if its client has too many, the one that has been silent for longest is shut, or the new
 * one becomes surplus. */
void srv_limit_connections(srv_loop *loop, srv_connection *connection);

bool srv_is_probe(const api_call *call); /* true: of /livez or /readyz, which are never refused nor delayed */

/* Refuses the call with 429 if its connection is surplus or its client sends too many requests; probes of /livez and
 * /readyz are never refused. Returns the Retry-After of a refused call, s; 0: it was not refused. */
unsigned srv_limit_requests(srv_loop *loop, const srv_connection *connection, srv_account *account, api_call *call);

/* Returns after how many seconds a refused client shall try again. Clients that are refused together must not return
 * together: the times lie between one and two waits, spread evenly by multiples of the golden ratio. */
unsigned srv_spread_retry(srv_loop *loop, double wait);
