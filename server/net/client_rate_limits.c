/* client_rate_limits.c - see client_rate_limits.h. */
#include "client_rate_limits.h"
#include <math.h>
#include <string.h>

void srv_limit_connections(srv_loop *loop, srv_connection *connection)
{
    srv_account *account = connection->peer_account;
    if (!connection->is_counted || atomic_load(&account->connections) <= loop->server->config->client_connections)
        return;
    connection->is_surplus = !srv_connections_displace(&loop->connections, account, connection);
}

bool srv_is_probe(const api_call *call)
{
    const char *route = api_call_route(call);
    return strcmp(route, "/livez") == 0 || strcmp(route, "/readyz") == 0;
}

unsigned srv_limit_requests(srv_loop *loop, const srv_connection *connection, srv_account *account, api_call *call)
{
    const srv_config *config = loop->server->config;
    if (srv_is_probe(call)) return 0;
    if (connection->is_surplus) {
        api_refuse(call, API_TOO_MANY_CONNECTIONS, "This client has more than %zu connections.",
                   config->client_connections);
        return srv_spread_retry(loop, 1);
    }
    double wait = srv_account_request(loop->server->accounts, account, config->client_rate, loop->connections.now);
    if (wait == 0) return 0;
    api_refuse(call, API_TOO_MANY_REQUESTS, "This client sends more than %zu requests per second.",
               config->client_rate);
    return srv_spread_retry(loop, wait);
}

unsigned srv_spread_retry(srv_loop *loop, double wait)
{
    static const double golden_ratio = 0.61803398874989485;
    const double        fraction     = fmod(golden_ratio * loop->refusals++, 1);
    return (unsigned)ceil(wait * (1 + fraction));
}
