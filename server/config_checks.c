/* config_checks.c - checks settings against each other, and texts that the table of settings cannot check. */
#include "settings.h"
#include "server/access/networks.h"
#include "server/net/listen.h"
#include <string.h>
#include <sys/stat.h>

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

/* Checks --health-listen: its addresses always speak plain HTTP, and no proxy with PROXY headers stands before them. */
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
             "--allow-origin is \"%.200s\"; expected origins such as http://localhost:5173 with commas between, "
             "without a path or a slash at the end, or *",
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

/* A setting must not be above another one, which limits it. `scale`: units of the second in one unit of the first. A
 * default follows its limit if `follows`. */
typedef struct bound {
    const char *lower, *upper;
    double      scale;
    bool        follows;
    bool        of_one_client; /* the limit is the part of the upper one that a client may have */
} bound;

static const bound bounds[] = {
    /* a larger body would never fit: it is refused as too large, not as a shortage */
    {"max-body", "memory", 1, true, true},
    {"max-answer", "memory", 1, true, true},
    {"client-work", "queue", 1, false, false},
    {"inline-limit", "timeout", 1e-6, false, false}, /* longer requests would hold their loop beyond their deadline */
};

static const srv_setting *setting_named(const char *name)
{
    return srv_setting_find(name, strlen(name));
}

static double number_of(const srv_config *config, const srv_setting *s)
{
    const void *value = (const char *)config + s->offset;
    return s->kind == COUNT || s->kind == BYTES ? (double)*(const size_t *)value : *(const double *)value;
}

/* Refuses a limit above the one that contains it, such as --max-body above --memory. */
static bool check_bounds(srv_config *config, char *error, size_t error_size)
{
    for (const bound *b = bounds; b < bounds + sizeof bounds / sizeof bounds[0]; b++) {
        const srv_setting *lower = setting_named(b->lower), *upper = setting_named(b->upper);
        char               first[600], second[600];
        double             most = number_of(config, upper);
        if (b->of_one_client) most = (double)api_memory_of_one_client((size_t)most);
        if (number_of(config, lower) * b->scale <= most) continue;
        if (b->follows && srv_setting_origin(config, lower) == SRV_BY_DEFAULT) {
            *(size_t *)((char *)config + lower->offset) = (size_t)most;
            continue;
        }
        srv_setting_describe(config, lower, first, sizeof first);
        srv_setting_describe(config, upper, second, sizeof second);
        const bool part = b->of_one_client && number_of(config, lower) <= number_of(config, upper);
        snprintf(error, error_size, "%s is above %s%s, which limits it; lower --%s or raise --%s", first,
                 part ? "three quarters of " : "", second, b->lower, b->upper);
        return false;
    }
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (!a || !b) return false;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Refuses files and folders that would spoil each other: lines appended to a file that is read, and bundled models in
 * the folder of the store. */
static bool check_files(const srv_config *config, char *error, size_t error_size)
{
    static const char *const read_files[] = {"config", "tokens", "tls-certificate", "tls-key", "tls-client-ca"};
    char                     records[4200];
    for (size_t i = 0; i < sizeof read_files / sizeof read_files[0]; i++) {
        const srv_setting *s    = setting_named(read_files[i]);
        const char        *file = *(const char *const *)(const void *)((const char *)config + s->offset);
        if (!is_same_file(config->audit_log, file)) continue;
        snprintf(error, error_size,
                 "--audit-log and --%s are the same file, %.200s; give the audit log a file of its own", s->name, file);
        return false;
    }
    snprintf(records, sizeof records, "%s/models", config->store ? config->store : "");
    if (!is_same_file(config->models, config->store) && !is_same_file(config->models, config->store ? records : NULL))
        return true;
    snprintf(error, error_size, "--models and --store are the same folder, %.200s; give the store a folder of its own",
             config->models);
    return false;
}

bool srv_config_check(srv_config *config, char *error, size_t error_size)
{
    return check_addresses(config, error, error_size) && check_health_addresses(config, error, error_size) &&
           check_lists(config, error, error_size) && check_tls(config, error, error_size) &&
           check_proxies(config, error, error_size) && check_bounds(config, error, error_size) &&
           check_files(config, error, error_size);
}

/* Kinds of addresses in --listen. */
typedef struct listening {
    bool tcp, encrypted, local; /* encrypted: TCP without +plain; local: a Unix-domain socket */
} listening;

static listening kinds_of_addresses(const srv_config *config)
{
    srv_address addresses[SRV_LISTEN_MOST];
    listening   kinds = {false, false, false};
    size_t      n     = srv_addresses_parse(config->listen, addresses);
    for (size_t i = 0; i < n; i++) {
        kinds.local |= *addresses[i].path != '\0';
        kinds.tcp |= *addresses[i].path == '\0';
        kinds.encrypted |= *addresses[i].path == '\0' && !addresses[i].plain;
    }
    return kinds;
}

/* Reports a setting that is no default and has no effect. */
static void report_idle(const srv_config *config, const char *name, const char *reason,
                        void (*visit)(void *arg, const char *name, const char *reason), void *arg)
{
    if (srv_setting_origin(config, setting_named(name)) != SRV_BY_DEFAULT) visit(arg, name, reason);
}

void srv_config_visit_idle(const srv_config *config, void (*visit)(void *arg, const char *name, const char *reason),
                           void             *arg)
{
    listening    kinds = kinds_of_addresses(config);
    srv_networks proxies;
    if (!kinds.local) report_idle(config, "socket-mode", "--listen has no unix:PATH", visit, arg);
    if (!kinds.encrypted) report_idle(config, "tls-certificate", "--listen has no TCP address with TLS", visit, arg);
    if (!kinds.local && srv_networks_parse(config->trusted_proxies, &proxies) && proxies.unix_sockets)
        report_idle(config, "trusted-proxy", "--listen has no unix:PATH for the proxies \"unix\"", visit, arg);
    if (!kinds.tcp) report_idle(config, "insecure", "--listen has no TCP address", visit, arg);
    if (config->client_connections > config->connections)
        report_idle(config, "client-connections", "--connections limits each client before", visit, arg);
    if (config->log_sample == 1)
        report_idle(config, "log-slow", "with --log-sample 1 every request has a line", visit, arg);
    if (config->log_level < SRV_INFO)
        report_idle(config, "log-sample", "requests have lines from --log-level info on", visit, arg);
}
