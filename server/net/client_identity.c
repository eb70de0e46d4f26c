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

bool srv_identify(const srv_credentials *credentials, const srv_connection *connection, const srv_head *head,
                  api_identity *identity)
{
    (void)connection;
    *identity = (api_identity){0};
    if (!credentials->clients) return false;
    if (head->authorization) *identity = by_authorization(credentials->clients, head->authorization, time(NULL));
    return true;
}
