/* client_account.h - find the account of the client of a request, see server/work/account.h.
 *
 * The client is, in this order: the one that a credential names, the address that a trusted proxy has forwarded, the
 * user at the other end of a Unix-domain socket, the address at the other end of the connection. The 64 bits of an IPv6
 * address that a machine chooses for itself do not count. */
#pragma once
#include "connection.h"

/* Refers to the account of the connection's peer, which counts the connection. The connection keeps it. Connections of
 * trusted proxies, which are those of many clients, are not counted. `proxies` NULL: this connection is not counted. */
void srv_connection_open_account(srv_accounts *accounts, const srv_networks *proxies, srv_connection *connection);
void srv_connection_close_accounts(srv_accounts *accounts, srv_connection *connection);

/* Returns the account of a request, which lives until the next request of its connection. `identity` NULL or without
 * name: not recognised. `forwarded` NULL: no trusted proxy has named a client. */
srv_account *srv_client_account(srv_accounts *accounts, srv_connection *connection, const api_identity *identity,
                                const srv_ip *forwarded);

/* One request that has ended at the time `now`, ns, for the figures of its client. */
typedef struct srv_use {
    uint64_t work; /* ns of processor time */
    unsigned status;
    uint64_t now;
} srv_use;

/* Counts a request for its client. Figures reach api_client_count at once for a refusal, or if the connection has
 * counted nothing for a tenth of a second, otherwise for 64 requests or a millisecond of work together, and when the
 * connection closes. */
void srv_client_use(srv_connection *connection, const srv_account *account, const srv_use *use);
