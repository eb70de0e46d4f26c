/* config.c - see config.h. */
#define _GNU_SOURCE /* environ */
#include "config.h"
#include "server/access/networks.h"
#include "server/net/listen.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SWITCH: the flag alone says yes; the variable says yes or no. */
typedef enum kind { TEXT, COUNT, BYTES, SECONDS, MICROSECONDS, CHOICE, OCTAL, SWITCH } kind;

typedef struct setting {
    const char *name; /* the flag is --name, the variable TORQUED_NAME */
    const char *value;
    kind        kind;
    size_t      offset;
    double      least, most;
    const char *default_text; /* NULL: no default; only a TEXT setting may be absent */
    const char *choices;
    const char *help;
} setting;

#define PREFIX        "TORQUED_" /* prefix of environment variables */
#define OFFSET(field) offsetof(srv_config, field)
#define MB            1048576.0
#define TB            1099511627776.0

static const setting settings[] = {
    {"listen", "HOST:PORT", TEXT, OFFSET(listen), 0, 0, "127.0.0.1:8088", NULL,
     "addresses to listen on, separated by commas: IPv4, [IPv6] or a name, port 0 for a free one; or unix:PATH for a "
     "unix socket; HOST:PORT+plain speaks no TLS, HOST:PORT+proxy expects the PROXY protocol"},
    {"socket-mode", "MODE", OCTAL, OFFSET(socket_mode), 0, 0777, "600", NULL,
     "permissions of unix sockets, octal; a client needs write permission to connect"},
    {"host", "NAME", TEXT, OFFSET(hosts), 0, 0, NULL, NULL,
     "names by which clients may call the server, separated by commas; IP addresses and localhost always may (default: "
     "any "
     "name, but none on loopback addresses)"},
    {"allow-origin", "ORIGIN", TEXT, OFFSET(origins), 0, 0, NULL, NULL,
     "web origins whose pages may use the server, separated by commas, such as http://localhost:5173, or * for all "
     "(default: only its own pages)"},
    {"tokens", "FILE", TEXT, OFFSET(tokens), 0, 0, NULL, NULL,
     "file of the clients that may use the server: tokens (made by torqued token), users and their roles (default: "
     "every "
     "client may do everything)"},
    {"tls-certificate", "FILE", TEXT, OFFSET(tls_certificate), 0, 0, NULL, NULL,
     "certificate of the server and the chain up to its authority, PEM: TCP listeners then speak TLS 1.2 or 1.3 "
     "(default: "
     "no TLS)"},
    {"tls-key", "FILE", TEXT, OFFSET(tls_key), 0, 0, NULL, NULL, "private key of --tls-certificate, PEM"},
    {"tls-client-ca", "FILE", TEXT, OFFSET(tls_client_ca), 0, 0, NULL, NULL,
     "certificates of the authorities that sign the certificates of clients, PEM; without --tokens every client with "
     "such "
     "a certificate may do everything (default: no client certificates)"},
    {"insecure", NULL, SWITCH, OFFSET(insecure), 0, 0, "no", "no|yes",
     "listen on addresses that other machines can reach also without TLS or without access control"},
    {"trusted-proxy", "ADDRESS", TEXT, OFFSET(trusted_proxies), 0, 0, NULL, NULL,
     "addresses or networks of proxies, separated by commas, such as 127.0.0.1,10.0.0.0/8, or unix for programs at "
     "unix "
     "sockets: their Forwarded and X-Forwarded-For name the client, and HOST:PORT+proxy takes connections from them "
     "alone "
     "(default: none)"},
    {"models", "DIR", TEXT, OFFSET(models), 0, 0, NULL, NULL,
     "folder of the bundled robots (default: models/ of the source tree, else of the installation)"},
    {"store", "DIR", TEXT, OFFSET(store), 0, 0, NULL, NULL,
     "folder that keeps the models of clients (default: $STATE_DIRECTORY, else $XDG_STATE_HOME/torqued, else "
     "~/.local/state/torqued), or postgresql://... for a database that several servers share"},
    {"max-body", "BYTES", BYTES, OFFSET(max_body), 1024, TB, "256M", NULL,
     "largest body of a request, at most --memory"},
    {"max-answer", "BYTES", BYTES, OFFSET(max_answer), 1024, TB, "256M", NULL,
     "largest body of an answer, at most --memory"},
    {"memory", "BYTES", BYTES, OFFSET(memory), MB, TB, "2G", NULL,
     "bodies, decoded requests and answers in flight, all together"},
    {"model-memory", "BYTES", BYTES, OFFSET(model_memory), MB, TB, "1G", NULL,
     "all models together; a further one is answered 507, or, if it is in the store, left alone and named by /readyz"},
    {"max-rows", "N", COUNT, OFFSET(max_rows), 1, 1e9, "131072", NULL, "largest number of states in one request"},
    {"max-nesting", "N", COUNT, OFFSET(max_nesting), 4, 1024, "32", NULL, "deepest nesting of arrays and objects"},
    {"max-models", "N", COUNT, OFFSET(max_models), 1, 1e6, "1024", NULL, "largest number of models"},
    {"max-links", "N", COUNT, OFFSET(max_links), 1, 1e5, "2048", NULL, "largest number of links of one model"},
    {"connections", "N", COUNT, OFFSET(connections), 1, 1e6, "1024", NULL,
     "largest number of open connections; a further one takes the place of the longest silent one, or waits"},
    {"client-connections", "N", COUNT, OFFSET(client_connections), 0, 1e6, "0", NULL,
     "largest number of open connections of one client; a further one takes the place of its longest silent one, or is "
     "answered 429; 0: three quarters of --connections"},
    {"client-rate", "N", COUNT, OFFSET(client_rate), 0, 1e6, "0", NULL,
     "requests per second of one client, /livez and /readyz excepted, and at once after a pause of a second; further "
     "ones "
     "are answered 429; 0: any number"},
    {"timeout", "SECONDS", SECONDS, OFFSET(timeout), 0.001, 86400, "60", NULL,
     "time for one request, from the end of its headers; upper limit of Request-Timeout"},
    {"read-deadline", "SECONDS", SECONDS, OFFSET(read_deadline), 0.01, 86400, "60", NULL,
     "time for a request to arrive completely"},
    {"write-deadline", "SECONDS", SECONDS, OFFSET(write_deadline), 0.01, 86400, "60", NULL,
     "time for a client to receive its answer"},
    {"idle-timeout", "SECONDS", SECONDS, OFFSET(idle_timeout), 0.01, 86400, "75", NULL,
     "time for which an idle connection is kept open"},
    {"queue", "SECONDS", SECONDS, OFFSET(queue), 0.001, 86400, "1", NULL,
     "estimated work that may wait for each worker, of all clients, who share it; beyond it requests are answered 503"},
    {"client-work", "SECONDS", SECONDS, OFFSET(client_work), 0, 86400, "0", NULL,
     "estimated work of one client that may wait for each worker, even while no other client waits; 0: as much as "
     "--queue"},
    {"workers", "N", COUNT, OFFSET(workers), 0, 1024, "0", NULL,
     "threads for long requests; 0: the usable cores minus the loops, at least 1"},
    {"loops", "N", COUNT, OFFSET(loops), 0, SRV_LOOPS_MOST, "0", NULL,
     "threads for connections and short requests; 0: one for every four usable cores, at least 1"},
    {"inline-limit", "MICROSECONDS", MICROSECONDS, OFFSET(inline_limit), 0, 1e6, "100", NULL,
     "requests with a shorter estimate run on the loop of their connection"},
    {"drain-delay", "SECONDS", SECONDS, OFFSET(drain_delay), 0, 86400, "0", NULL,
     "time after SIGTERM in which /readyz answers 503 and all else is served, so that balancers learn of the stop"},
    {"drain", "SECONDS", SECONDS, OFFSET(drain), 0, 86400, "30", NULL,
     "time for requests in flight to finish after SIGTERM and --drain-delay"},
    {"target", "NAME", TEXT, OFFSET(target), 0, 0, NULL, NULL,
     "instruction set of the kernels: scalar, sse2, scalar_unfused, sse2_unfused, fma, avx2, avx512 or neon "
     "(default: the fastest of the machine)"},
    {"log-format", "FORMAT", CHOICE, OFFSET(log_format), 0, 0, "auto", "auto|text|json",
     "auto, text or json; auto is text on a terminal, json otherwise"},
    {"log-level", "LEVEL", CHOICE, OFFSET(log_level), 0, 0, "info", "error|warning|info|debug",
     "error, warning, info (one line per request) or debug"},
    {"log-sample", "N", COUNT, OFFSET(log_sample), 1, 1e9, "1", NULL,
     "one of N routine requests has a line in the log, which counts the omitted ones; requests that fail or are slow "
     "always have one"},
    {"log-refusals", "N", COUNT, OFFSET(log_refusals), 1, 1e9, "10", NULL,
     "lines per second for requests that are refused with 429 or 503; the log counts the omitted ones"},
    {"log-slow", "SECONDS", SECONDS, OFFSET(log_slow), 0, 86400, "0.1", NULL,
     "time in the server from which a request is slow, for --log-sample"},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static void *field(srv_config *config, const setting *s)
{
    return (char *)config + s->offset;
}

static const void *field_of(const srv_config *config, const setting *s)
{
    return (const char *)config + s->offset;
}

static void variable_name(const setting *s, char *name, size_t size)
{
    snprintf(name, size, PREFIX "%s", s->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
}

/* Reads a plain decimal number such as "256M", "0.5" or "1024". K, M and G (powers of 1024) are allowed if
 * `suffixes`. strtod alone would also accept "inf", "0x10" and " 1". */
static bool parse_number(const char *text, bool suffixes, double *value)
{
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || digits > 30 || strspn(text, ".") == digits) return false;
    char *end;
    *value = strtod(text, &end);
    if (end != text + digits) return false;
    if (!*end) return true;
    const char *unit = strchr("KMG", *end);
    if (!suffixes || !unit || end[1]) return false;
    *value *= (double)(1u << (10 * (unit - "KMG" + 1)));
    return true;
}

/* Describes the valid values: "1024 to 1024G", "error|warning|info|debug". */
static void describe_range(const setting *s, char *text, size_t size)
{
    if (s->kind == TEXT)
        snprintf(text, size, "%s", s->value);
    else if (s->kind == CHOICE || s->kind == SWITCH)
        snprintf(text, size, "%s", s->choices);
    else if (s->kind == BYTES)
        snprintf(text, size, "%.15g to %.15gG", s->least, s->most / (1024 * MB));
    else if (s->kind == OCTAL)
        snprintf(text, size, "%o to %o", (unsigned)s->least, (unsigned)s->most);
    else
        snprintf(text, size, "%.15g to %.15g", s->least, s->most);
}

static bool set_choice(const setting *s, const char *text, int *chosen)
{
    size_t length = strlen(text);
    int    index  = 0;
    for (const char *choice = s->choices; choice; choice = strchr(choice, '|'), index++) {
        choice += *choice == '|';
        size_t size = strcspn(choice, "|");
        if (size != length || memcmp(choice, text, size) != 0) continue;
        *chosen = index;
        return true;
    }
    return false;
}

static bool set_octal(const setting *s, const char *text, int *value)
{
    size_t digits = strspn(text, "01234567");
    if (digits == 0 || digits > 4 || text[digits]) return false;
    *value = (int)strtol(text, NULL, 8);
    return *value >= s->least && *value <= s->most;
}

static bool set_value(srv_config *config, const setting *s, const char *text)
{
    double value;
    switch (s->kind) {
    case TEXT: *(const char **)field(config, s) = text; return *text != '\0';
    case SWITCH:
    case CHOICE: return set_choice(s, text, field(config, s));
    case OCTAL: return set_octal(s, text, field(config, s));
    case COUNT:
    case BYTES:
        if (!parse_number(text, s->kind == BYTES, &value) || value < s->least || value > s->most) return false;
        if (value != floor(value)) return false;
        *(size_t *)field(config, s) = (size_t)value;
        return true;
    case SECONDS:
    case MICROSECONDS:
        if (!parse_number(text, false, &value) || value < s->least || value > s->most) return false;
        *(double *)field(config, s) = value;
        return true;
    }
    return false;
}

static bool set_or_report(srv_config *config, const setting *s, const char *source, const char *text, char *error,
                          size_t error_size)
{
    if (set_value(config, s, text)) return true;
    static const char *const expected[] = {[TEXT]         = "",
                                           [COUNT]        = "a whole number, ",
                                           [BYTES]        = "a size such as 64K, 256M or 2G, ",
                                           [SECONDS]      = "seconds, ",
                                           [MICROSECONDS] = "microseconds, ",
                                           [CHOICE]       = "one of ",
                                           [SWITCH]       = "one of ",
                                           [OCTAL]        = "an octal number, "};
    char                     range[120];
    describe_range(s, range, sizeof range);
    snprintf(error, error_size, "%s is \"%.80s\"; expected %s%s", source, text, expected[s->kind], range);
    return false;
}

static bool read_environment(srv_config *config, char *error, size_t error_size)
{
    for (const setting *s = settings; s < settings + N_SETTINGS; s++) {
        char variable[64];
        variable_name(s, variable, sizeof variable);
        const char *text = getenv(variable);
        if (text && *text && !set_or_report(config, s, variable, text, error, error_size)) return false;
    }
    return true;
}

static const setting *find_setting(const char *name, size_t length)
{
    for (const setting *s = settings; s < settings + N_SETTINGS; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0) return s;
    return NULL;
}

/* Reads the flag at argv[*index], "--name value" or "--name=value", and advances *index past it. */
static bool read_flag(srv_config *config, int argc, char *const argv[], int *index, char *error, size_t error_size)
{
    const char    *flag   = argv[(*index)++];
    size_t         length = strcspn(flag, "=");
    const setting *s      = strncmp(flag, "--", 2) == 0 ? find_setting(flag + 2, length - 2) : NULL;
    if (!s) {
        snprintf(error, error_size, "\"%.80s\" is not a %ssetting of torqued; torqued %s--help lists them", flag,
                 *flag == '-' ? "" : "command or ", *flag == '-' ? "serve " : "");
        return false;
    }
    char name[64];
    snprintf(name, sizeof name, "--%s", s->name);
    if (s->kind == SWITCH && !flag[length]) return set_value(config, s, "yes");
    if (flag[length] == '=') return set_or_report(config, s, name, flag + length + 1, error, error_size);
    if (*index == argc) {
        snprintf(error, error_size, "%s needs a value: %s %s", name, name, s->value);
        return false;
    }
    return set_or_report(config, s, name, argv[(*index)++], error, error_size);
}

/* Limits bodies and answers to the memory budget: a larger body or answer never fits, so it is refused as too large
 * (413), not as a temporary shortage (503). */
static void clip_sizes(srv_config *config)
{
    if (config->max_body > config->memory) config->max_body = config->memory;
    if (config->max_answer > config->memory) config->max_answer = config->memory;
}

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

bool srv_config_is_switch(const char *flag)
{
    const setting *s = strncmp(flag, "--", 2) == 0 ? find_setting(flag + 2, strlen(flag + 2)) : NULL;
    return s && s->kind == SWITCH;
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

static srv_action parse_action(const char *flag)
{
    if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0) return SRV_HELP;
    if (strcmp(flag, "--version") == 0) return SRV_VERSION;
    if (strcmp(flag, "--settings-table") == 0) return SRV_SETTINGS_TABLE;
    return SRV_SERVE;
}

srv_action srv_config_read(srv_config *config, int argc, char *const argv[], char *error, size_t error_size)
{
    *config = (srv_config){0};
    for (const setting *s = settings; s < settings + N_SETTINGS; s++)
        if (s->default_text) set_value(config, s, s->default_text);
    if (!read_environment(config, error, error_size)) return SRV_MISUSE;
    for (int index = 1; index < argc;) {
        srv_action action = parse_action(argv[index]);
        if (action != SRV_SERVE) return action;
        if (!read_flag(config, argc, argv, &index, error, error_size)) return SRV_MISUSE;
    }
    clip_sizes(config);
    bool valid = check_addresses(config, error, error_size) && check_lists(config, error, error_size) &&
                 check_tls(config, error, error_size) && check_proxies(config, error, error_size);
    return valid ? SRV_SERVE : SRV_MISUSE;
}

void srv_config_describe(void (*visit)(void *arg, const srv_setting_text *setting), void *arg)
{
    for (const setting *s = settings; s < settings + N_SETTINGS; s++) {
        char variable[64];
        variable_name(s, variable, sizeof variable);
        const srv_setting_text text = {.name         = s->name,
                                       .value        = s->value,
                                       .variable     = variable,
                                       .default_text = s->default_text,
                                       .choices      = s->choices,
                                       .help         = s->help};
        visit(arg, &text);
    }
}

void srv_config_table(FILE *out)
{
    fputs("| flag | variable | range | default | meaning |\n|---|---|---|---|---|\n", out);
    for (const setting *s = settings; s < settings + N_SETTINGS; s++) {
        char variable[64], range[120];
        variable_name(s, variable, sizeof variable);
        describe_range(s, range, sizeof range);
        for (char *bar = range; (bar = strchr(bar, '|'));) /* a bar would end the table cell */
            *bar = '/';
        fprintf(out, "| `--%s%s%s` | `%s` | %s | %s | %s |\n", s->name, s->value ? " " : "", s->value ? s->value : "",
                variable, range, s->default_text ? s->default_text : "", s->help);
    }
}

static void print_bytes(size_t bytes, char *text, size_t size)
{
    static const char units[] = "GMK";
    for (unsigned shift = 30, i = 0; shift; shift -= 10, i++)
        if (bytes && bytes % ((size_t)1 << shift) == 0) {
            snprintf(text, size, "%zu%c", bytes >> shift, units[i]);
            return;
        }
    snprintf(text, size, "%zu", bytes);
}

static void print_value(const srv_config *config, const setting *s, char *text, size_t size)
{
    const void *value = field_of(config, s);
    const char *string;
    switch (s->kind) {
    case TEXT:
        string = *(const char *const *)value;
        snprintf(text, size, "%s", string ? string : "");
        return;
    case COUNT: snprintf(text, size, "%zu", *(const size_t *)value); return;
    case BYTES: print_bytes(*(const size_t *)value, text, size); return;
    case OCTAL: snprintf(text, size, "%o", (unsigned)*(const int *)value); return;
    case SECONDS:
    case MICROSECONDS: snprintf(text, size, "%.15g", *(const double *)value); return;
    case SWITCH:
    case CHOICE:
        string = s->choices;
        for (int i = *(const int *)value; i > 0; i--)
            string = strchr(string, '|') + 1;
        snprintf(text, size, "%.*s", (int)strcspn(string, "|"), string);
        return;
    }
}

void srv_config_visit(const srv_config *config, void (*visit)(void *arg, const char *name, const char *value),
                      void             *arg)
{
    for (const setting *s = settings; s < settings + N_SETTINGS; s++) {
        char text[1024];
        print_value(config, s, text, sizeof text);
        visit(arg, s->name, text);
    }
}

/* Variables of the sub-commands that ask a server (server/cli/client/connection.c), and of the clients in api/clients.
 */
static const char *const client_variables[] = {PREFIX "URL",         PREFIX "TOKEN_FILE", PREFIX "CA_FILE",
                                               PREFIX "CERTIFICATE", PREFIX "KEY",        PREFIX "TOKEN"};

static bool is_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof client_variables / sizeof client_variables[0]; i++)
        if (strlen(client_variables[i]) == length && memcmp(client_variables[i], name, length) == 0) return true;
    for (const setting *s = settings; s < settings + N_SETTINGS; s++) {
        char variable[64];
        variable_name(s, variable, sizeof variable);
        if (strlen(variable) == length && memcmp(variable, name, length) == 0) return true;
    }
    return false;
}

void srv_config_visit_unknown(void (*visit)(void *arg, const char *name), void *arg)
{
    for (char *const *entry = environ; *entry; entry++) {
        char   name[64];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0 || is_variable(*entry, length)) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        visit(arg, name);
    }
}

api_config srv_config_api(const srv_config *c)
{
    return (api_config){.version = TORQUED_VERSION,
                        .target  = c->target,
                        .hosts   = c->hosts,
                        .origins = c->origins,
                        .limits  = {.body         = c->max_body,
                                    .answer       = c->max_answer,
                                    .memory       = c->memory,
                                    .rows         = c->max_rows,
                                    .nesting      = (unsigned)c->max_nesting,
                                    .models       = c->max_models,
                                    .model_memory = c->model_memory,
                                    .links        = c->max_links,
                                    .timeout      = c->timeout}};
}
