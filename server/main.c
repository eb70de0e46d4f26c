/* main.c - run the server: read the configuration, start the threads, load the models, wait for a signal to stop.
 *
 * Threads: the main thread, which loads the models and then waits for signals; one or more loops; the workers; the
 * writer of the log. The server listens before it loads, so that /readyz can answer "loading". Exit status: 0
 * stopped by a signal or handed over to a new process, 1 could not start, 2 invalid arguments. */
#include "server/cli/commands.h"
#include "server/cli/help.h"
#include "server/console/files.h"
#include "server/work/cores.h"
#include "server/memory/disposal.h"
#include "server/work/priority.h"
#include "server/net/exposure.h"
#include "server/store/load_models.h"
#include "server/net/event_loop.h"
#include "server/operating/build_id.h"
#include "server/operating/memory_needs.h"
#include "server/operating/memory_watch.h"
#include "server/operating/reload.h"
#include "server/process/notify.h"
#include "server/process/upgrade.h"
#include "server/operating/wall_clock.h"
#include "server/process/watchdog.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* OTHER_DESCRIPTORS: also those of the connections for probes. */
enum { LOOP_DESCRIPTORS = 9 + SRV_LISTEN_MOST, OTHER_DESCRIPTORS = 160 };
enum { HANDED_OVER = -1 }; /* result of waiting in place of a signal */
enum { KEPT_BYTES = 64 << 20 };

static const uint64_t look_interval = 10000000; /* ns between looks at a successor */

typedef struct service {
    srv_config        config;
    srv_log           log;
    srv_server        shared;
    srv_loop         *loops;
    size_t            n_health; /* number of loops for probes, 0 or 1, which are the first */
    size_t            n_loops;  /* number of loops started */
    srv_loaded_models models;
    srv_watchdog      watchdog;
    srv_memory_watch  memory;
    srv_wall_clock    wall_clock;
    srv_accounts      accounts;
    srv_slow_log      slow_log;
    srv_listeners     listeners, health;
    srv_inherited     inherited; /* sockets and links that were passed on to this process */
    srv_upgrade       upgrade;
    bool              handed_over; /* a new process serves */
    srv_reloader      reloader;
} service;

static void log_setting(void *arg, const char *name, const char *value)
{
    srv_log_text(arg, name, value);
}

static void log_start(service *s)
{
    srv_line line;
    srv_log_begin(&line, &s->log, SRV_INFO, "starting");
    srv_log_text(&line, "version", TORQUED_VERSION);
    srv_log_text(&line, "build", srv_build_id());
    srv_config_visit(&s->config, log_setting, &line);
    srv_log_end(&line);
}

/* Raises the soft limit of descriptors, usually 1024, as far as the hard limit allows: every connection needs one. */
static void raise_descriptors(service *s)
{
    struct rlimit limit;
    rlim_t        needed = s->config.connections + s->config.loops * LOOP_DESCRIPTORS + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= needed) return;
    size_t others = (size_t)needed - s->config.connections;
    size_t room   = limit.rlim_cur > others ? (size_t)limit.rlim_cur - others : 1;
    srv_log_message(&s->log, SRV_WARNING, "descriptors",
                    "the limit of %llu descriptors leaves %zu connections, not %zu", (unsigned long long)limit.rlim_cur,
                    room, s->config.connections);
    s->config.connections = room;
}

static void lock_memory(service *s)
{
    if (srv_lock_memory()) return;
    srv_log_message(&s->log, SRV_WARNING, "memory",
                    "the memory of this real-time process is not locked: %s; it needs LimitMEMLOCK=infinity",
                    strerror(errno));
}

/* Threads that read, check and store changed models. With two, a model that takes long delays no other change, not even
 * one of its own client; changes of further clients take turns with those that run (server/work/worker.h). */
enum { WRITERS = 2 };

/* Names in the log and in /readyz that the audit log takes no lines. */
static void on_audit_fault(void *arg, const char *reason)
{
    static const char subject[] = "audit log";
    service          *s         = arg;
    srv_log_message(&s->log, reason ? SRV_ERROR : SRV_WARNING, reason ? "audit-fault" : "audit-repaired", "%s: %s",
                    s->config.audit_log, reason ? reason : "it takes lines again");
    if (reason)
        api_set_reason(s->shared.api, subject, "audit log: changes wait: %s", reason);
    else
        api_clear_reason(s->shared.api, subject);
}

static bool open_shared(service *s, char *error, size_t size)
{
    const srv_config *c      = &s->config;
    api_config        config = srv_config_api(c);
    config.files             = srv_console_files;
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
static bool open_addresses(service *s, srv_listeners *all, size_t loops, char *error, size_t size)
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

static bool open_listeners(service *s, char *error, size_t size)
{
    s->listeners.has_certificate = s->config.tls_certificate != NULL;
    s->health.for_probes         = s->config.health_listen != NULL;
    if (!open_addresses(s, &s->listeners, s->config.loops, error, size)) return false;
    if (s->health.for_probes && !open_addresses(s, &s->health, 1, error, size)) return false;
    if (!srv_inherited_check_taken(&s->inherited, error, size)) return false;
    return srv_exposure_check(&s->config, &s->listeners, error, size);
}

/* Repeats in the log what --insecure has allowed. */
static void warn_of_exposure(service *s)
{
    char missing[600];
    srv_exposure_describe(s->shared.config, &s->listeners, missing, sizeof missing);
    if (*missing) srv_log_message(&s->log, SRV_WARNING, "insecure", "%s; --insecure allows it", missing);
}

static void log_addresses(service *s, const srv_listeners *all)
{
    for (size_t i = 0; i < all->n; i++) {
        srv_line line;
        srv_log_begin(&line, &s->log, SRV_INFO, "listening");
        srv_log_text(&line, "address", all->listener[i].bound);
        srv_log_text(&line, "for", all->for_probes ? "health" : NULL);
        srv_log_end(&line);
    }
}

static bool start_loops(service *s, char *error, size_t size)
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
    log_addresses(s, &s->listeners);
    log_addresses(s, &s->health);
    warn_of_exposure(s);
    return true;
}

static bool load_models(service *s, char *error, size_t size)
{
    if (!srv_load_models(&s->config, &s->log, s->shared.api, &s->models, error, size)) return false;
    if (s->models.store && !srv_store_watch(s->models.store)) {
        snprintf(error, size, "cannot start the probe of the store: out of memory or threads");
        return false;
    }
    bool     reading = s->models.database != NULL; /* the store's thread says when the models are read */
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

/* Prints the addresses of the pages, how to install a client, and an example request for a user who started the server
 * in a terminal. */
static void show_example(service *s)
{
    if (s->log.json || s->log.level < SRV_INFO) return;
    const srv_listener *first = &s->listeners.listener[0];
    bool                local = *first->address.path;
    char                url[320], text[3000];
    int                 n = 0;
    snprintf(url, sizeof url, "%s://%s", srv_listener_uses_tls(&s->listeners, 0) ? "https" : "http",
             local ? "localhost" : first->bound);
    if (!local)
        n = snprintf(text, sizeof text,
                     "\nconsole:    %s/\nreference:  %s/docs\nPython:     pip install "
                     "%s/clients/torqued-" TORQUED_VERSION "-py3-none-any.whl    (other languages: %s/clients)",
                     url, url, url, url);
    snprintf(text + n, sizeof text - (size_t)n,
             "\ntry:  curl -s %s%s%s%s/v1/models/puma560/inverse-dynamics -H 'Content-Type: application/json' -d "
             "'{\"q\":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],\"qd\":[1,1,1,1,1,1],"
             "\"qdd\":[1,1,1,1,1,1]}'\n\n",
             local ? "--unix-socket " : "", first->address.path, local ? " " : "", url);
    srv_log_plain(&s->log, text);
}

/* Loads the models while the server before this one still serves, and takes over. */
static bool take_over_service(service *s, char *error, size_t size)
{
    int control          = s->inherited.handover[SRV_END_CONTROL];
    s->models.store_lock = s->inherited.handover[SRV_END_STORE_LOCK];
    s->models.link       = s->inherited.handover[SRV_END_TWIN];
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
static bool begin_serving(service *s, char *error, size_t size)
{
    bool activated = s->inherited.n > 0;
    s->models      = (srv_loaded_models){.store_lock = -1, .link = -1};
    if (!open_listeners(s, error, size)) return false;
    if (s->inherited.handover[SRV_END_CONTROL] >= 0) return take_over_service(s, error, size);
    if (activated) return load_models(s, error, size) && start_loops(s, error, size);
    return start_loops(s, error, size) && load_models(s, error, size);
}

static void order_loops(service *s, size_t from, size_t to, srv_order order)
{
    for (size_t i = from; i < to; i++)
        srv_loop_order(&s->loops[i], order);
}

/* Orders the loops `from` .. `to`-1 to end, and waits for them. A second signal abandons requests in flight. For loops
 * that have handed over, the first signal is that to drain. */
static void end_loops(service *s, size_t from, size_t to, srv_order order, const sigset_t *stop)
{
    static const struct timespec interval = {.tv_nsec = 20000000};
    srv_order                    next     = order == SRV_HAND_OVER ? SRV_DRAIN : SRV_ABANDON;
    order_loops(s, from, to, order);
    for (size_t joined = from; joined < to;) {
        if (srv_loop_try_join(&s->loops[joined]))
            joined++;
        else if (sigtimedwait(stop, NULL, &interval) > 0) {
            order_loops(s, joined, to, next);
            next = SRV_ABANDON;
        }
    }
}

/* Waits until every loop has drained; if the start failed (`patient` false), requests in flight are abandoned. The loop
 * for probes answers until the others have ended. */
static void drain(service *s, const sigset_t *stop, bool patient)
{
    size_t n_health = s->n_health < s->n_loops ? s->n_health : s->n_loops;
    if (s->handed_over) order_loops(s, 0, n_health, SRV_HAND_OVER); /* probes are the successor's */
    end_loops(s, n_health, s->n_loops, s->handed_over ? SRV_HAND_OVER : patient ? SRV_DRAIN : SRV_ABANDON, stop);
    end_loops(s, 0, n_health, SRV_ABANDON, stop);
}

static void unlink_sockets(const service *s)
{
    for (size_t i = 0; i < s->listeners.n; i++)
        srv_listener_unlink(&s->listeners.listener[i]);
    for (size_t i = 0; i < s->health.n; i++)
        srv_listener_unlink(&s->health.listener[i]);
}

static void close_all(service *s)
{
    free(s->loops);
    srv_pool_close(s->shared.pool);
    srv_pool_close(s->shared.writer);
    srv_accounts_close(&s->accounts);
    srv_slow_log_close(&s->slow_log);
    srv_credentials_release(s->shared.credentials);
    srv_close_models(&s->models);
    srv_log_close_audit(&s->log); /* the api holds the reason of a fault */
    if (s->shared.api) api_close(s->shared.api);
    srv_reloader_free(&s->reloader);
    srv_config_free(&s->config);
}

/* Notes when the newest certificate ends. */
static void note_certificate(service *s)
{
    const srv_tls *tls = s->shared.credentials->tls;
    srv_wall_clock_set_expiry(&s->wall_clock, tls ? srv_tls_expiry(tls) : 0);
}

/* Reads settings, clients and certificates again. */
static void reload(service *s)
{
    if (!srv_reload(&s->reloader)) return;
    note_certificate(s);
    warn_of_exposure(s);
}

/* Waits for one of the signals until the time `end`, ns of srv_now, and watches the threads and a successor meanwhile.
 * Returns the number of the signal, 0 at `end`, HANDED_OVER when the successor serves. */
static int wait_watching(service *s, const sigset_t *signals, uint64_t end)
{
    for (uint64_t now; (now = srv_now()) < end;) {
        uint64_t check = srv_watchdog_check(&s->watchdog);
        srv_memory_watch_check(&s->memory);
        srv_wall_clock_check(&s->wall_clock);
        uint64_t wait = check < end - now ? check : end - now;
        if (srv_upgrade_look(&s->upgrade)) return HANDED_OVER;
        if (srv_upgrade_is_under_way(&s->upgrade) && wait > look_interval) wait = look_interval;
        const struct timespec time   = {.tv_sec = (time_t)(wait / 1000000000), .tv_nsec = (long)(wait % 1000000000)};
        int                   number = sigtimedwait(signals, NULL, &time);
        if (number > 0) return number;
    }
    return 0;
}

/* Serves until a signal stops the server, which it returns, or until the time `end`, for which it returns 0, or until
 * HANDED_OVER. SIGHUP only reloads, SIGUSR2 begins to hand over. */
static int wait_for_stop(service *s, const sigset_t *stop, uint64_t end)
{
    sigset_t awaited = *stop;
    int      number;
    sigaddset(&awaited, SIGHUP);
    sigaddset(&awaited, SIGUSR2);
    while ((number = wait_watching(s, &awaited, end)) == SIGHUP || number == SIGUSR2)
        if (number == SIGHUP)
            reload(s);
        else if (end == SRV_NEVER) /* not in the drain delay */
            srv_upgrade_begin(&s->upgrade);
    return number;
}

/* Serves until the server is to drain. From the first signal on /readyz answers 503, and for --drain-delay all other
 * requests are still served, so that balancers learn of the stop before connections are refused. Returns false if a
 * second signal ended the delay: then requests in flight are abandoned. */
static bool serve_until_drain(service *s, const sigset_t *stop)
{
    srv_watchdog_begin(&s->watchdog, &s->shared, s->loops, s->n_loops);
    srv_memory_watch_begin(&s->memory, s->shared.api, &s->log, s->config.memory);
    srv_wall_clock_begin(&s->wall_clock, &s->log);
    note_certificate(s);
    s->reloader.server    = &s->shared;
    s->reloader.loops     = s->loops;
    s->reloader.n_loops   = s->n_loops;
    s->reloader.listeners = &s->listeners;
    srv_notify("READY=1");
    int number     = wait_for_stop(s, stop, SRV_NEVER);
    s->handed_over = number == HANDED_OVER;
    if (s->handed_over) return true;
    srv_upgrade_cancel(&s->upgrade);
    srv_notify("STOPPING=1");
    api_set_draining(s->shared.api);
    srv_log_message(&s->log, SRV_INFO, "draining", "%s", strsignal(number));
    return wait_for_stop(s, stop, srv_now() + srv_ns(s->shared.config->drain_delay)) == 0;
}

/* Blocks the signals for which main waits, before any thread starts, so that no thread receives them. SIGHUP reloads
 * also under nohup, which ignores it: it does not stop the server anyway. */
static void block_signals(sigset_t *stop)
{
    sigset_t blocked;
    sigemptyset(stop);
    sigaddset(stop, SIGTERM);
    sigaddset(stop, SIGINT);
    blocked = *stop;
    sigaddset(&blocked, SIGHUP);
    sigaddset(&blocked, SIGUSR2);
    signal(SIGHUP, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit then fails with EFBIG, which the store reports */
}

static int serve(service *s)
{
    char     error[1600] = "";
    sigset_t stop;
    block_signals(&stop);
    srv_upgrade_init(&s->upgrade, &s->log, &s->models);
    s->upgrade.listeners = &s->listeners;
    s->upgrade.health    = &s->health;
    srv_disposal_start();
    bool ok      = open_shared(s, error, sizeof error) && begin_serving(s, error, sizeof error);
    bool patient = false;
    if (ok) {
        show_example(s);
        patient = serve_until_drain(s, &stop);
    }
    if (!s->handed_over) unlink_sockets(s); /* the next server can then use the paths */
    drain(s, &stop, patient);
    close_all(s);
    srv_disposal_stop();
    if (ok) srv_log_message(&s->log, SRV_INFO, "stopped", "all connections are closed");
    size_t lost = srv_log_close(&s->log);
    if (lost > 0) fprintf(stderr, "torqued: %zu lines about changes were not written\n", lost);
    if (ok) return 0;
    fprintf(stderr, "torqued: %s\n", error);
    return !s->shared.api && s->config.target ? 2 : 1; /* 2: api_open rejected the argument of --target */
}

/* Derives the numbers of threads that are not set. A loop answers tens of thousands of light requests per second, a
 * worker a few heavy ones, so most cores go to workers. Loops and workers together do not exceed the cores:
 * otherwise light requests wait for the scheduler. */
static void share_cores(srv_config *config, size_t cores)
{
    if (config->loops == 0) config->loops = cores / 4 > 0 ? cores / 4 : 1;
    if (config->loops > SRV_LOOPS_MOST) config->loops = SRV_LOOPS_MOST;
    if (config->workers == 0) config->workers = cores > config->loops ? cores - config->loops : 1;
}

/* Configures malloc to keep freed memory, up to KEPT_BYTES per arena, for later requests: a page fresh from the
 * kernel costs more than processing its numbers. Only blocks of at least SRV_MAPPED_BYTES, glibc's maximum, are
 * mapped separately. Each loop has an arena: with a shared one, every twentieth light request waited for its lock. */
static void keep_memory(size_t arenas)
{
    mallopt(M_ARENA_MAX, (int)arenas);
    mallopt(M_MMAP_THRESHOLD, SRV_MAPPED_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

/* Opens the standard descriptors that the caller has closed, so that no file of ours becomes standard output: writing
 * to it then fails, as it would have. */
static void occupy_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest that is free */
}

int main(int argc, char **argv)
{
    static service s;
    char           error[1200];
    int            status;
    occupy_standard_descriptors();
    srv_successor_remember(argv);
    if (cli_run(argc, argv, &status)) return status;
    if (argc > 1 && cli_command_named(argv[1])) { /* serve, the default */
        argc--;
        argv++;
    }
    switch (srv_config_read(&s.config, argc, argv, error, sizeof error)) {
    case SRV_HELP: cli_help_overview(stdout); return cli_close_stdout(0);
    case SRV_VERSION: printf("torqued %s (build %s)\n", TORQUED_VERSION, srv_build_id()); return cli_close_stdout(0);
    case SRV_SETTINGS_TABLE: srv_config_table(stdout); return cli_close_stdout(0);
    case SRV_MISUSE: fprintf(stderr, "torqued: %s\n", error); return 2;
    case SRV_SERVE: break;
    }
    if (!srv_inherited_read(&s.inherited, error, sizeof error)) {
        fprintf(stderr, "torqued: %s\n", error);
        return 1;
    }
    s.reloader = (srv_reloader){.argc = argc, .argv = argv, .accepted = s.config};
    share_cores(&s.config, srv_usable_cores());
    keep_memory(s.config.loops);
    if (!srv_log_open(&s.log, &s.config, STDERR_FILENO)) {
        fputs("torqued: no memory or no thread for the log\n", stderr);
        return 1;
    }
    log_start(&s);
    raise_descriptors(&s);
    if (s.config.client_connections == 0) s.config.client_connections = s.config.connections - s.config.connections / 4;
    api_metric_add(API_METRIC_CONNECTIONS_LIMIT, API_NO_LABELS, (int64_t)s.config.connections);
    srv_memory_needs_report(&s.config, &s.log);
    lock_memory(&s);
    return serve(&s);
}
