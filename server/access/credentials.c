/* credentials.c - see credentials.h. */
#include "credentials.h"
#include <stdlib.h>

srv_credentials *srv_credentials_read(const srv_config *config, char *error, size_t error_size)
{
    static uint64_t  generations; /* only the main thread reads the files */
    srv_credentials *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(error, error_size, "no memory for the credentials of clients");
        return NULL;
    }
    atomic_init(&c->references, 1);
    c->generation         = ++generations;
    c->takes_certificates = config->tls_client_ca != NULL;
    srv_networks_parse(config->trusted_proxies, &c->proxies); /* srv_config_read has checked the list */
    if (config->tokens) c->clients = srv_clients_read(config->tokens, error, error_size);
    bool good = !config->tokens || c->clients;
    if (good && config->tls_certificate) c->tls = srv_tls_read(config, error, error_size);
    if (good && (!config->tls_certificate || c->tls)) return c;
    srv_credentials_release(c);
    return NULL;
}

srv_credentials *srv_credentials_share(srv_credentials *c)
{
    atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
    return c;
}

void srv_credentials_release(srv_credentials *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) > 1) return;
    srv_clients_free(c->clients);
    srv_tls_free(c->tls);
    free(c);
}
