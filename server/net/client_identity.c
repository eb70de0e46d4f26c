/* client_identity.c - see client_identity.h. */
#include "client_identity.h"
#include <string.h>
#include <strings.h>
#include <time.h>

static const char scheme[] = "Bearer";

static api_identity by_authorization(const srv_clients *clients, const char *authorization, time_t now)
{
    size_t length = sizeof scheme - 1, blanks = 0;
    if (strncasecmp(authorization, scheme, length) == 0) blanks = strspn(authorization + length, " ");
    if (blanks == 0) return (api_identity){.refused = "Authorization has another scheme than Bearer"};
    return srv_clients_by_token(clients, authorization + length + blanks, now);
}

/* Checks the client's certificate once for a connection, and again after the authorities were read anew. */
static const srv_certificate *certificate_of(const srv_credentials *credentials, srv_connection *connection)
{
    if (connection->certificate_generation != credentials->generation)
        srv_tls_check_client(credentials->tls, connection->tls, &connection->certificate);
    connection->certificate_generation = credentials->generation;
    return &connection->certificate;
}

/* Without a file of clients, every client with a certificate of the authorities may do everything. With one, a client
 * has the roles of its line; without a line it has none. */
static api_identity by_certificate(const srv_clients *clients, const srv_certificate *certificate, time_t now)
{
    /* Without a signature of an authority, a certificate can contain any name. */
    if (certificate->refused) return (api_identity){.refused = certificate->refused};
    api_identity found = {.name = certificate->common_name, .roles = clients ? 0 : API_ROLE_ADMIN};
    api_identity line  = clients ? srv_clients_by_certificate(clients, certificate->common_name, now) : found;
    if (line.name) found = line;
    if (now >= certificate->expires) found.refused = "the client certificate has expired";
    return found;
}

/* A line of the user goes before lines of its groups. */
static api_identity by_user(const srv_clients *clients, const srv_peer *peer, time_t now)
{
    api_identity found = srv_clients_by_uid(clients, peer->uid, now);
    for (size_t i = 0; i < peer->n_groups && !found.name; i++)
        found = srv_clients_by_gid(clients, peer->groups[i], now);
    return found;
}

bool srv_identify(const srv_credentials *credentials, srv_connection *connection, const srv_head *head,
                  api_identity *identity)
{
    const srv_clients     *clients      = credentials->clients;
    const srv_certificate *certificate  = NULL;
    bool                   is_forwarded = head->forwarded || head->x_forwarded_for;
    *identity                           = (api_identity){0};
    if (!srv_access_is_controlled(credentials)) return false;
    if (connection->tls && !is_forwarded) certificate = certificate_of(credentials, connection);
    if (head->authorization && clients)
        *identity = by_authorization(clients, head->authorization, time(NULL));
    else if (certificate && certificate->shown)
        *identity = by_certificate(clients, certificate, time(NULL));
    else if (connection->peer.is_user && clients && !is_forwarded)
        *identity = by_user(clients, &connection->peer, time(NULL));
    return true;
}
