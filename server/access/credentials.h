/* credentials.h - keep together what the server needs to recognise clients, and replace it while the server runs.
 *
 * The files are read at the start and again on SIGHUP. A set of credentials never changes; every loop has a reference
 * to the newest set, so that requests need no lock. */
#pragma once
#include "clients.h"
#include "networks.h"
#include "tls.h"
#include "server/config.h"
#include <stdatomic.h>

typedef struct srv_credentials {
    atomic_size_t references;
    uint64_t      generation;         /* number of the set; each new set has a greater one */
    srv_clients  *clients;            /* NULL: no --tokens */
    srv_tls      *tls;                /* NULL: no TLS */
    bool          takes_certificates; /* --tls-client-ca is given */
    srv_networks  proxies;            /* networks of --trusted-proxy */
} srv_credentials;

/* True if clients need a credential: the server knows them by --tokens or by certificates. */
static inline bool srv_access_is_controlled(const srv_credentials *c)
{
    return c->clients || c->takes_certificates;
}

/* Reads the files that the configuration names. NULL with a message. The caller releases it. */
srv_credentials *srv_credentials_read(const srv_config *config, char *error, size_t error_size);

srv_credentials *srv_credentials_share(srv_credentials *credentials); /* returns one more reference */
void             srv_credentials_release(srv_credentials *credentials);
