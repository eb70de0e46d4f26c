/* settings.c - see settings.h. */
#include "settings.h"
#include "server/net/listen.h"
#include <stddef.h>
#include <string.h>

#define OFFSET(field) offsetof(srv_config, field)
#define MB            SRV_MB
#define TB            1099511627776.0

const srv_setting srv_settings[] = {
    {"config", "FILE", TEXT, OFFSET(file), 0, 0, NULL, NULL,
     "file of settings, with lines such as TORQUED_MAX_ROWS=1000, read again by SIGHUP; a line overrides the variable "
     "of the environment, and a flag overrides the line (default: none)"},
    {"listen", "HOST:PORT", TEXT, OFFSET(listen), 0, 0, "127.0.0.1:8088", NULL,
     "addresses to listen on, separated by commas: IPv4, [IPv6] or a name, port 0 for a free one; or unix:PATH for a "
     "unix socket; HOST:PORT+plain speaks no TLS, HOST:PORT+proxy expects the PROXY protocol"},
    {"health-listen", "HOST:PORT", TEXT, OFFSET(health_listen), 0, 0, NULL, NULL,
     "addresses for /livez, /readyz and /metrics alone, without TLS, separated by commas: a thread of their own "
     "answers "
     "there, which no evaluation and no body delays; /metrics only to this machine unless --insecure (default: none, "
     "the "
     "three are at --listen alone)"},
    {"socket-mode", "MODE", OCTAL, OFFSET(socket_mode), 0, 0777, "600", NULL,
     "permissions of unix sockets, octal; a client needs write permission to connect"},
    {"host", "NAME", TEXT, OFFSET(hosts), 0, 0, NULL, NULL,
     "names by which clients may call the server, separated by commas; IP addresses and localhost always may (default: "
     "any name, on loopback addresses only those of the certificate)"},
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
     "largest body of a request, at most three quarters of --memory"},
    {"max-answer", "BYTES", BYTES, OFFSET(max_answer), 1024, TB, "256M", NULL,
     "largest body of an answer, at most three quarters of --memory"},
    {"memory", "BYTES", BYTES, OFFSET(memory), MB, TB, "2G", NULL,
     "bodies, decoded requests and answers in flight, all together; one client has three quarters of it at most, less "
     "when "
     "others need some, and a sixteenth is for light requests"},
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
    {"transfer-rate", "BYTES", BYTES, OFFSET(transfer_rate), 0, TB, "4K", NULL,
     "least bytes per second, over 5 s, of a body or an answer above 64 KiB, which holds memory: a slower body is "
     "answered "
     "408, a slower reader loses its connection; 0: any"},
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
     "lines per second for requests of one client that are refused or fail with one status; the log counts the omitted "
     "ones"},
    {"log-slow", "SECONDS", SECONDS, OFFSET(log_slow), 0, 86400, "0.1", NULL,
     "time in the server from which a request is slow, for --log-sample"},
    {"slow-request", "SECONDS", SECONDS, OFFSET(slow_request), 0, 86400, "1", NULL,
     "time in the server from which a request has a warning of its own in the log, with the times of its phases and "
     "the "
     "estimate; 0: none has one"},
    {"audit-log", "FILE", TEXT, OFFSET(audit_log), 0, 0, NULL, NULL,
     "file or FIFO for the lines about changes of models and reloads, opened again by SIGHUP; while it takes no lines, "
     "changes wait and are then answered 503 (default: they are in the log)"},
};
const size_t srv_n_settings = sizeof srv_settings / sizeof srv_settings[0];
_Static_assert(sizeof srv_settings / sizeof srv_settings[0] <= SRV_SETTINGS_MOST, "srv_config has an origin of each");

/* Settings that need a restart: objects that are made at the start depend on them, such as sockets, threads, the store,
 * the memory budget and the kernels. */
static const char *const fixed[] = {"config", "listen",  "health-listen", "models",      "store",    "memory",
                                    "target", "workers", "loops",         "connections", "audit-log"};

bool srv_setting_reloads(const srv_setting *s)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(fixed[i], s->name) == 0) return false;
    return true;
}

const srv_setting *srv_setting_find(const char *name, size_t length)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0) return s;
    return NULL;
}

void srv_setting_variable(const srv_setting *s, char *name, size_t size)
{
    snprintf(name, size, SRV_VARIABLE_PREFIX "%s", s->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
}

void srv_setting_range(const srv_setting *s, char *text, size_t size)
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
