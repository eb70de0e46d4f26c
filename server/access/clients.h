/* clients.h - read the file of --tokens, which names the clients of the server, and find the client of a credential.
 *
 * Every line names a client, its roles, and the credential by which the server recognises it:
 *
 *     NAME ROLE[,ROLE]... CREDENTIAL [expires=2027-01-31T12:00:00Z] [models=PATTERN[,PATTERN]...]
 *
 * CREDENTIAL is one of
 *
 *     sha256:HEX         the SHA-256 of a token
 *     certificate:NAME   the common name of a client certificate that the authority of --tls-client-ca has signed
 *     uid:N, gid:N       the user or a group of the process at the other end of a Unix-domain socket
 *
 * Lines that begin with # and empty lines are skipped. A client may have several lines, such as an old and a new token.
 * `models` limits the client to models whose names match (api_patterns_match). A token never stands in the file. */
#pragma once
#include "api/api.h"
#include <sys/types.h>
#include <time.h>

enum { SRV_CLIENT_NAME = 65 }; /* bytes of the longest name of a client with its NUL */

typedef struct srv_clients srv_clients;

/* Reads the file. NULL with a message that names the line and what was expected. */
srv_clients *srv_clients_read(const char *path, char *error, size_t error_size);
void         srv_clients_free(srv_clients *clients);
size_t       srv_clients_count(const srv_clients *clients); /* number of lines that name a client */

typedef enum srv_client_change { SRV_CLIENT_ADDED, SRV_CLIENT_CHANGED, SRV_CLIENT_REMOVED } srv_client_change;

/* Calls `visit` for the name of each client that has other lines in `next` than in `last`; NULL: no clients. */
void srv_clients_compare(const srv_clients *last, const srv_clients                                 *next,
                         void (*visit)(void *arg, const char *name, srv_client_change change), void *arg);

/* Calls `visit` for each line without effect: its credential has expired at the time `now`, or the server does not
 * see such credentials (`users`: it has a Unix-domain socket; `certificates`: it asks for them). */
void srv_clients_visit_idle(const srv_clients *clients, time_t now, bool users, bool certificates,
                            void (*visit)(void *arg, const char *name, const char *reason), void *arg);

/* Each of these functions finds the client of a credential at the time `now` and returns its identity, whose strings
 * live as long as the clients. An unknown token and an expired credential are `refused`. A user or certificate without
 * a line gives an identity without name. */
api_identity srv_clients_by_token(const srv_clients *clients, const char *token, time_t now);
api_identity srv_clients_by_certificate(const srv_clients *clients, const char *common_name, time_t now);
api_identity srv_clients_by_uid(const srv_clients *clients, uid_t uid, time_t now);
api_identity srv_clients_by_gid(const srv_clients *clients, gid_t gid, time_t now);

/* Adds the roles in a list such as "evaluate,observe" to `roles`. False if a name is not a role. */
bool srv_roles_parse(const char *list, unsigned *roles);

/* True for 1 to 64 letters, digits and . _ - of a client's name. */
bool srv_client_name_is_valid(const char *name);

/* True for patterns of letters, digits and . _ - * ?, with commas between them. */
bool srv_patterns_are_valid(const char *patterns);
