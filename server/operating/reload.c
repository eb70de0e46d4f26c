/* reload.c - puts new settings, clients and certificates into force, and says what has changed (reload.h). */
#include "reload.h"
#include "client_changes.h"
#include "server/net/exposure.h"
#include "server/settings.h"
#include "api/metrics.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct srv_generation {
    srv_generation *older;
    srv_config      config; /* settings in force, with derived numbers */
};

enum { VALUE_MOST = 1024 };

/* New settings, credentials and lines of a reload before they are in force. */
typedef struct upcoming {
    srv_generation  *generation;
    srv_config       read;     /* the settings as they were read */
    srv_config       accepted; /* new values of settings that take effect, present ones of those that need a restart */
    srv_credentials *credentials;
    srv_client_changes clients;
    srv_audit_line    *line;          /* reserved for the line about the reload itself */
    size_t             changed, kept; /* numbers of settings that take effect, and that need a restart */
} upcoming;

static bool setting_differs(const srv_config *a, const srv_config *b, const srv_setting *s)
{
    char first[VALUE_MOST], second[VALUE_MOST];
    srv_setting_print(a, s, first, sizeof first);
    srv_setting_print(b, s, second, sizeof second);
    return strcmp(first, second) != 0;
}

/* TLS is part of the listeners: its files can be replaced, but it cannot be switched on or off. */
static bool takes_effect(const srv_reloader *r, const srv_config *next, const srv_setting *s)
{
    bool is_tls = strncmp(s->name, "tls-", 4) == 0;
    bool had = r->accepted.tls_certificate != NULL, has = next->tls_certificate != NULL;
    return srv_setting_reloads(s) && (!is_tls || had == has);
}

/* Splits the settings that were read into those that take effect, in `u->accepted`, and those that keep their values.
 */
static void merge_settings(const srv_reloader *r, upcoming *u)
{
    const srv_config *next = &u->read;
    u->accepted            = u->read;
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        bool effective = takes_effect(r, next, s), changes = setting_differs(&r->accepted, next, s);
        if (!effective) srv_setting_copy(&u->accepted, &r->accepted, s);
        u->changed += changes && effective;
        u->kept += changes && !effective;
    }
}

/* Derives the configuration in force: as given, with the numbers that the start has derived. */
static void derive(const srv_reloader *r, upcoming *u)
{
    srv_config       *config  = &u->generation->config;
    const srv_config *running = r->server->config;
    *config                   = u->accepted;
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++)
        if (!srv_setting_reloads(s)) srv_setting_copy(config, running, s);
    if (config->client_connections == 0) config->client_connections = config->connections - config->connections / 4;
}

/* Reads everything that may change. False with a message; `u` has what is to be freed. */
static bool prepare_reload(const srv_reloader *r, upcoming *u, char *error, size_t size)
{
    srv_audit_queue *queue = &r->server->log->audit;
    u->generation          = calloc(1, sizeof *u->generation);
    snprintf(error, size, "no memory");
    if (!u->generation) return false;
    srv_config *next = &u->generation->config;
    if (srv_config_read(next, r->argc, r->argv, error, size) != SRV_SERVE) return false;
    u->read = *next;
    merge_settings(r, u);
    if (!srv_config_check(&u->accepted, error, size)) return false;
    derive(r, u);
    u->credentials = srv_credentials_read(&u->generation->config, error, size);
    if (!u->credentials || !srv_exposure_check(&u->generation->config, r->listeners, error, size)) return false;
    snprintf(error, size, "the audit log takes no lines, or there is no memory for them");
    u->line = srv_audit_reserve(queue, SRV_AUDIT_LINES_OF_RELOADS, 0, NULL);
    return u->line &&
           srv_client_changes_list(&u->clients, queue, r->server->credentials->clients, u->credentials->clients);
}

static void abandon_reload(const srv_reloader *r, upcoming *u)
{
    srv_audit_queue *queue = &r->server->log->audit;
    if (u->line) srv_audit_release(queue, u->line);
    srv_client_changes_free(&u->clients, queue);
    srv_credentials_release(u->credentials);
    if (u->generation) srv_config_free(&u->generation->config);
    free(u->generation);
}

/* Logs every setting whose value differs, with both values. */
static void log_settings(const srv_reloader *r, const srv_config *next)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        bool     effective = takes_effect(r, next, s);
        char     before[VALUE_MOST], after[VALUE_MOST];
        srv_line line;
        if (!setting_differs(&r->accepted, next, s)) continue;
        srv_setting_print_openly(&r->accepted, s, before, sizeof before);
        srv_setting_print_openly(next, s, after, sizeof after);
        srv_log_begin(&line, r->server->log, effective ? SRV_INFO : SRV_WARNING,
                      effective ? "setting" : "needs-restart");
        srv_log_text(&line, "name", s->name);
        srv_log_text(&line, effective ? "before" : "running", before);
        srv_log_text(&line, effective ? "after" : "given", after);
        srv_log_end(&line);
    }
}

/* Gives all threads the configuration, which lives until the process ends. */
static void install_settings(srv_reloader *r, upcoming *u)
{
    const srv_config     *config  = &u->generation->config;
    const api_config      answers = srv_config_api(config);
    const srv_work_limits work    = {.queue  = config->queue,
                                     .client = config->client_work > 0 ? config->client_work : config->queue};
    atomic_store(&r->server->config, config);
    srv_log_set(r->server->log, config);
    api_set_limits(r->server->api, &answers.limits);
    api_set_lists(r->server->api, answers.hosts, answers.origins);
    srv_pool_set_limits(r->server->pool, &work);
    srv_pool_set_limits(r->server->writer, &work);
    for (size_t i = 0; i < r->listeners->n; i++)
        srv_listener_set_mode(&r->listeners->listener[i], (mode_t)config->socket_mode);
    u->generation->older = r->generations;
    r->generations       = u->generation;
    r->accepted          = u->accepted;
}

/* Settings that are equal to those in force are freed at once, so that reloads of certificates take no memory. */
static void put_into_force(srv_reloader *r, upcoming *u)
{
    if (u->changed > 0) install_settings(r, u);
    srv_credentials_release(r->server->credentials);
    r->server->credentials = u->credentials;
    for (size_t i = 0; i < r->n_loops; i++)
        srv_loop_set_credentials(&r->loops[i], u->credentials);
    if (u->changed > 0) return;
    srv_config_free(&u->generation->config);
    free(u->generation);
}

static void log_reload(const srv_reloader *r, upcoming *u)
{
    srv_line           line;
    char               message[200];
    const srv_clients *clients = u->credentials->clients;
    srv_client_changes_log(&u->clients, r->server->log);
    snprintf(message, sizeof message, "%zu credentials of clients", clients ? srv_clients_count(clients) : 0);
    srv_log_begin(&line, r->server->log, SRV_AUDIT, "reloaded");
    srv_log_text(&line, "message", message);
    srv_log_count(&line, "settings", u->changed);
    if (u->kept > 0) srv_log_count(&line, "needing_restart", u->kept);
    srv_log_end_audit(&line, u->line);
}

/* Counts a reload, and keeps the time of the last one. */
static void count_reload(api_metric counter, api_metric last)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    api_metric_add(counter, API_NO_LABELS, 1);
    api_metric_add(last, API_NO_LABELS, time - api_metric_value(last, API_NO_LABELS));
}

bool srv_reload(srv_reloader *r)
{
    char     error[1600];
    upcoming u = {.generation = NULL};
    srv_log_reopen_audit(r->server->log);
    if (!prepare_reload(r, &u, error, sizeof error)) {
        abandon_reload(r, &u);
        count_reload(API_METRIC_FAILED_RELOADS, API_METRIC_FAILED_RELOAD_TIME);
        srv_log_message(r->server->log, SRV_ERROR, "not-reloaded",
                        "%s; the server goes on with what it has read before", error);
        return false;
    }
    log_settings(r, &u.read);
    put_into_force(r, &u);
    log_reload(r, &u);
    count_reload(API_METRIC_RELOADS, API_METRIC_RELOAD_TIME);
    return true;
}

void srv_reloader_free(srv_reloader *r)
{
    for (srv_generation *g = r->generations, *older; g; g = older) {
        older = g->older;
        srv_config_free(&g->config);
        free(g);
    }
    r->generations = NULL;
}
