/* start.c - starts a service: opens the api, the pools and the sockets, starts the loops, loads the models. */
#include "service.h"
#include "server/console/files.h"
#include "server/net/exposure.h"
#include "server/work/priority.h"
#include <stdio.h>
#include <stdlib.h>

/* Threads that read, check and store changed models. With two, a model that takes long delays no other change, not even
 * one of its own client; changes of further clients take turns with those that run (server/work/worker.h). */
enum { WRITERS = 2 };

/* Names in the log and in /readyz that the audit log takes no lines. */
static void on_audit_fault(void *arg, const char *reason)
{
    static const char subject[] = "audit log";
    srv_service      *s         = arg;
    srv_log_message(&s->log, reason ? SRV_ERROR : SRV_WARNING, reason ? "audit-fault" : "audit-repaired", "%s: %s",
                    s->config.audit_log, reason ? reason : "it takes lines again");
    if (reason)
        api_set_reason(s->shared.api, subject, "audit log: changes wait: %s", reason);
    else
        api_clear_reason(s->shared.api, subject);
}

static bool open_shared(srv_service *s, char *error, size_t size)
{
    const srv_config *c      = &s->config;
    api_config        config = srv_config_api(c);
    config.files             = srv_console_files;
    config.memory_holders    = srv_accounts_read_memory;
    config.memory_source     = &s->accounts;
    s->shared                = (srv_server){.config = c, .log = &s->log};
    srv_accounts_open(&s->accounts);
    srv_slow_log_open(&s->slow_log);
    s->shared.slow_log = &s->slow_log;
    s->shared.api      = api_open(&config, error, size);
    if (!s->shared.api) return false;
    if (c->audit_log && !srv_log_open_audit(&s->log, c->audit_log, on_audit_fault, s, error, size)) return false;
    s->shared.credentials = srv_credentials_read(c, error, size);
    if (!s->shared.credentials) return false;
    const srv_work_limits limits = {.queue = c->queue, .client = c->client_work > 0 ? c->client_work : c->queue};
    s->shared.accounts           = &s->accounts;
    s->shared.pool               = srv_pool_open("torqued-worker", c->workers, &limits);
    s->shared.writer             = srv_pool_open("torqued-writer", WRITERS, &limits);
    if (s->shared.pool && s->shared.writer) return true;
    snprintf(error, size, "cannot start %zu workers: out of memory or threads", c->workers + WRITERS);
    return false;
}

/* Opens the addresses of a list, which srv_config_read has checked, for `loops` loops. */
static bool open_addresses(srv_service *s, srv_listeners *all, size_t loops, char *error, size_t size)
{
    srv_address address[SRV_LISTEN_MOST];
    size_t      n = srv_addresses_parse(all->for_probes ? s->config.health_listen : s->config.listen, address);
    for (size_t i = 0; i < n; i++) {
        srv_listener *listener = &all->listener[i];
        listener->address      = address[i];
        listener->setting      = all->for_probes ? "--health-listen" : "--listen";
        bool taken;
        if (!srv_listen_inherited(listener, loops, &s->inherited, &taken, error, size)) return false;
        if (!taken && !srv_listen(listener, loops, (mode_t)s->config.socket_mode, error, size)) return false;
        all->n++;
    }
    all->loops = loops;
    return true;
}

static bool open_listeners(srv_service *s, char *error, size_t size)
{
    s->listeners.has_certificate = s->config.tls_certificate != NULL;
    s->health.for_probes         = s->config.health_listen != NULL;
    if (!open_addresses(s, &s->listeners, s->config.loops, error, size)) return false;
    if (s->health.for_probes && !open_addresses(s, &s->health, 1, error, size)) return false;
    if (!srv_inherited_check_taken(&s->inherited, error, size)) return false;
    return srv_exposure_check(&s->config, &s->listeners, error, size);
}

static bool start_loops(srv_service *s, char *error, size_t size)
{
    s->n_health = s->health.for_probes;
    size_t n    = s->config.loops + s->n_health;
    s->loops    = calloc(n, sizeof *s->loops);
    for (size_t i = 0; i < n; i++) {
        const srv_listeners *listeners = i < s->n_health ? &s->health : &s->listeners;
        size_t               index     = i < s->n_health ? i : i - s->n_health;
        if (!s->loops || !srv_loop_start(&s->loops[i], &s->shared, listeners, index, error, size)) return false;
        s->n_loops++;
    }
    srv_leave_real_time(); /* the loops have inherited the policy of this thread */
    srv_service_log_addresses(s, &s->listeners);
    srv_service_log_addresses(s, &s->health);
    srv_service_log_exposure(s);
    return true;
}

static bool load_models(srv_service *s, char *error, size_t size)
{
    if (!srv_load_models(&s->config, &s->log, s->shared.api, &s->models, error, size)) return false;
    if (!srv_models_watch(&s->models)) {
        snprintf(error, size, "cannot start the probe of the store: out of memory or threads");
        return false;
    }
    bool     reading = srv_models_load_later(&s->models);
    srv_line line;
    if (!reading) api_set_ready(s->shared.api);
    srv_log_begin(&line, &s->log, SRV_INFO, reading ? "loading" : "ready");
    srv_log_text(&line, "address", s->listeners.listener[0].bound);
    srv_log_text(&line, "target", api_target(s->shared.api));
    srv_log_text(&line, "arithmetic", api_arithmetic(s->shared.api));
    srv_log_count(&line, "models", s->models.bundled);
    srv_log_text(&line, "from", s->models.models);
    srv_log_count(&line, "stored", s->models.stored.good);
    srv_log_text(&line, "store", s->models.folder);
    srv_log_end(&line);
    return true;
}

/* Loads the models while the server before this one still serves, and takes over. */
static bool take_over_service(srv_service *s, char *error, size_t size)
{
    int control          = s->inherited.handover[SRV_END_CONTROL];
    s->models.store_lock = s->inherited.handover[SRV_END_STORE_LOCK];
    s->models.link       = s->inherited.handover[SRV_END_STORE_LINK];
    if (!load_models(s, error, size) || !srv_await_models(&s->models, error, size)) return false;
    if (!srv_predecessor_tell_loaded(control)) {
        snprintf(error, size, "the server that hands over does not answer");
        return false;
    }
    if (!start_loops(s, error, size)) return false;
    srv_predecessor_tell_accepting(control);
    return true;
}

/* Connections wait in the queues of sockets that systemd keeps open until the models are loaded; else the server
 * accepts at once, so that /readyz can answer "loading". */
static bool begin_serving(srv_service *s, char *error, size_t size)
{
    bool activated = s->inherited.n > 0;
    s->models      = (srv_loaded_models){.store_lock = -1, .link = -1};
    if (!open_listeners(s, error, size)) return false;
    if (s->inherited.handover[SRV_END_CONTROL] >= 0) return take_over_service(s, error, size);
    if (activated) return load_models(s, error, size) && start_loops(s, error, size);
    return start_loops(s, error, size) && load_models(s, error, size);
}

bool srv_service_start(srv_service *s, char *error, size_t size)
{
    return open_shared(s, error, size) && begin_serving(s, error, size);
}
