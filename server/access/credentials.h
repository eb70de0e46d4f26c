/* credentials.h - keep together what the server needs to recognise clients, and replace it while the server runs.
 *
 * The files are read at the start and again on SIGHUP. A set of credentials never changes; every loop has a reference
 * to the newest set, so that requests need no lock. */
#pragma once
#include "clients.h"
#include "server/config.h"
#include <stdatomic.h>

typedef struct srv_credentials {
    atomic_size_t references;
    srv_clients  *clients; /* NULL: no --tokens */
} srv_credentials;

/* Reads the files that the configuration names. NULL with a message. The caller releases it. */
srv_credentials *srv_credentials_read(const srv_config *config, char *error, size_t error_size);

srv_credentials *srv_credentials_share(srv_credentials *credentials); /* returns one more reference */
void             srv_credentials_release(srv_credentials *credentials);
