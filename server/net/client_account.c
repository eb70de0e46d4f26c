/* client_account.c - see client_account.h. */
#include "client_account.h"
#include <stdio.h>
#include <string.h>

/* Writes the name of the account of an address. */
static void name_address(const srv_ip *ip, char name[SRV_ACCOUNT_NAME])
{
    static const uint8_t ipv4_mapped[12] = {[10] = 0xff, [11] = 0xff};
    enum { NETWORK_BYTES = 8 };
    srv_ip network = *ip;
    char   text[SRV_IP_TEXT];
    bool   is_ipv4 = memcmp(ip->bytes, ipv4_mapped, sizeof ipv4_mapped) == 0;
    if (!is_ipv4) memset(network.bytes + NETWORK_BYTES, 0, sizeof network.bytes - NETWORK_BYTES);
    srv_ip_print(&network, text);
    snprintf(name, SRV_ACCOUNT_NAME, "address:%s%s", text, is_ipv4 ? "" : "/64");
}

void srv_connection_open_account(srv_accounts *accounts, const srv_networks *proxies, srv_connection *connection)
{
    const srv_peer *peer                   = &connection->peer;
    char            name[SRV_ACCOUNT_NAME] = "unknown";
    if (peer->is_user)
        snprintf(name, sizeof name, "uid:%u", (unsigned)peer->uid);
    else if (peer->has_ip)
        name_address(&peer->ip, name);
    connection->peer_account = srv_account_take(accounts, name);
    connection->is_counted   = proxies && !srv_peer_is_in(peer, proxies);
    if (connection->is_counted) atomic_fetch_add(&connection->peer_account->connections, 1);
}

/* Gives the figures of a connection to api_client_count. */
static void count_tally(srv_tally *tally, uint64_t now)
{
    if (tally->account) api_client_count(*tally->account->name ? tally->account->name : "unknown", &tally->figures);
    *tally = (srv_tally){.counted = now};
}

void srv_client_use(srv_connection *connection, const srv_account *account, const srv_use *use)
{
    enum { PAUSE = 100000000, WORK = 1000000, REQUESTS = 64 };
    srv_tally *tally = &connection->tally;
    if (tally->account != account) count_tally(tally, 0);
    tally->account = account;
    tally->figures.amount[API_CLIENT_WORK] += use->work;
    tally->figures.amount[API_CLIENT_REQUESTS]++;
    bool is_refused = (use->status >= 400 && use->status < 500) || use->status == 503;
    tally->figures.amount[API_CLIENT_REFUSALS] += is_refused;
    if (is_refused || use->now - tally->counted >= PAUSE || tally->figures.amount[API_CLIENT_WORK] >= WORK ||
        tally->figures.amount[API_CLIENT_REQUESTS] >= REQUESTS)
        count_tally(tally, use->now);
}

void srv_connection_close_accounts(srv_accounts *accounts, srv_connection *connection)
{
    if (connection->is_counted) atomic_fetch_sub(&connection->peer_account->connections, 1);
    count_tally(&connection->tally, 0);
    srv_account_leave(accounts, connection->peer_account);
    srv_account_leave(accounts, connection->client_account);
}

srv_account *srv_client_account(srv_accounts *accounts, srv_connection *connection, const api_identity *identity,
                                const srv_ip *forwarded)
{
    char name[SRV_ACCOUNT_NAME];
    if (identity && identity->name && !identity->refused)
        snprintf(name, sizeof name, "client:%s", identity->name);
    else if (forwarded)
        name_address(forwarded, name);
    else
        return connection->peer_account;
    srv_account *last = connection->client_account;
    if (last && strcmp(last->name, name) == 0) return last;
    count_tally(&connection->tally, 0); /* the account may end */
    connection->client_account = srv_account_take(accounts, name);
    srv_account_leave(accounts, last);
    return connection->client_account;
}
