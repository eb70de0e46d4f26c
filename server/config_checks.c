/* config_checks.c - check settings against each other, and texts that the table of settings cannot check. */
#include "settings.h"
#include "server/access/networks.h"
#include "server/net/listen.h"
#include <string.h>

/* Checks --listen, whose syntax the table cannot express. */
static bool check_addresses(const srv_config *config, char *error, size_t error_size)
{
    srv_address addresses[SRV_LISTEN_MOST];
    if (srv_addresses_parse(config->listen, addresses) > 0) return true;
    snprintf(error, error_size,
             "--listen is \"%.200s\"; expected HOST:PORT, such as 127.0.0.1:8088, [::1]:8088 or 0.0.0.0:8088, or "
             "unix:PATH (at most 107 bytes), or up to %d of them with commas between",
             config->listen, SRV_LISTEN_MOST);
    return false;
}

/* Checks --health-listen, whose addresses speak plain HTTP to clients themselves. */
static bool check_health_addresses(const srv_config *config, char *error, size_t error_size)
{
    srv_address addresses[SRV_LISTEN_MOST];
    if (!config->health_listen) return true;
    size_t n    = srv_addresses_parse(config->health_listen, addresses);
    bool   good = n > 0;
    for (size_t i = 0; i < n; i++)
        good = good && !addresses[i].plain && !addresses[i].proxy;
    if (!good)
        snprintf(error, error_size,
                 "--health-listen is \"%.200s\"; expected HOST:PORT, such as 127.0.0.1:8087, or unix:PATH (at most 107 "
                 "bytes), or up to %d of them with commas between; +plain and +proxy are for --listen",
                 config->health_listen, SRV_LISTEN_MOST);
    return good;
}

/* Checks --trusted-proxy, which a listener for the PROXY protocol needs. */
static bool check_proxies(const srv_config *config, char *error, size_t error_size)
{
    srv_networks networks;
    srv_address  addresses[SRV_LISTEN_MOST];
    size_t       n    = srv_addresses_parse(config->listen, addresses);
    bool         good = srv_networks_parse(config->trusted_proxies, &networks), needed = false;
    for (size_t i = 0; i < n; i++)
        needed |= addresses[i].proxy;
    if (!good)
        snprintf(error, error_size,
                 "--trusted-proxy is \"%.200s\"; expected addresses and networks such as 127.0.0.1, 10.0.0.0/8 or "
                 "unix, up to "
                 "%d, with commas between",
                 config->trusted_proxies, SRV_NETWORKS);
    else if (needed && networks.n == 0)
        snprintf(error, error_size, "--listen has +proxy: --trusted-proxy must say from where proxies connect");
    return good && (!needed || networks.n > 0);
}

/* Checks --host and --allow-origin. */
static bool check_lists(const srv_config *config, char *error, size_t error_size)
{
    if (config->hosts && !api_hosts_are_valid(config->hosts)) {
        snprintf(error, error_size,
                 "--host is \"%.200s\"; expected names without port, such as robots.example, with commas between",
                 config->hosts);
        return false;
    }
    if (!config->origins || api_origins_are_valid(config->origins)) return true;
    snprintf(error, error_size,
             "--allow-origin is \"%.200s\"; expected origins such as http://localhost:5173 with commas between, or *",
             config->origins);
    return false;
}

/* Checks the files of TLS: none is of use without the certificate and its key. */
static bool check_tls(const srv_config *config, char *error, size_t error_size)
{
    bool certificate = config->tls_certificate != NULL, key = config->tls_key != NULL;
    if (certificate == key && (certificate || !config->tls_client_ca)) return true;
    snprintf(error, error_size,
             "%s needs --tls-certificate FILE and --tls-key FILE, the certificate of the server and its key",
             config->tls_client_ca ? "--tls-client-ca" : "TLS");
    return false;
}

bool srv_config_check(const srv_config *config, char *error, size_t error_size)
{
    return check_addresses(config, error, error_size) && check_health_addresses(config, error, error_size) &&
           check_lists(config, error, error_size) && check_tls(config, error, error_size) &&
           check_proxies(config, error, error_size);
}
