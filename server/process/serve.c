/* serve.c - runs a service: waits for signals and a successor, watches the threads, drains, closes everything. */
#include "service.h"
#include "notify.h"
#include "api/large_block.h"
#include "server/memory/disposal.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HANDED_OVER = -1 }; /* result of waiting in place of a signal */

static const uint64_t look_interval = 10000000; /* ns between two checks for events of a successor */

static void order_loops(srv_service *s, size_t from, size_t to, srv_order order)
{
    for (size_t i = from; i < to; i++)
        srv_loop_order(&s->loops[i], order);
}

/* Orders the loops `from` .. `to`-1 to end, and waits for them. A second signal abandons requests in flight. For loops
 * that have handed over, the first signal is that to drain. */
static void end_loops(srv_service *s, size_t from, size_t to, srv_order order, const sigset_t *stop)
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
static void drain(srv_service *s, const sigset_t *stop, bool patient)
{
    size_t n_health = s->n_health < s->n_loops ? s->n_health : s->n_loops;
    if (s->handed_over) order_loops(s, 0, n_health, SRV_HAND_OVER); /* the successor answers probes from now on */
    end_loops(s, n_health, s->n_loops, s->handed_over ? SRV_HAND_OVER : patient ? SRV_DRAIN : SRV_ABANDON, stop);
    end_loops(s, 0, n_health, SRV_ABANDON, stop);
}

static void unlink_sockets(const srv_service *s)
{
    for (size_t i = 0; i < s->listeners.n; i++)
        srv_listener_unlink(&s->listeners.listener[i]);
    for (size_t i = 0; i < s->health.n; i++)
        srv_listener_unlink(&s->health.listener[i]);
}

static void close_all(srv_service *s)
{
    free(s->loops);
    srv_pool_close(s->shared.pool);
    srv_pool_close(s->shared.writer);
    srv_accounts_close(&s->accounts);
    srv_slow_log_close(&s->slow_log);
    srv_credentials_release(s->shared.credentials);
    srv_close_models(&s->models);
    srv_log_close_audit(&s->log); /* before the api is closed, to which a fault of the audit file is reported */
    if (s->shared.api) api_close(s->shared.api);
    srv_reloader_free(&s->reloader);
    srv_config_free(&s->config);
}

/* Notes when the newest certificate ends. */
static void note_certificate(srv_service *s)
{
    const srv_tls *tls = s->shared.credentials->tls;
    srv_wall_clock_set_expiry(&s->wall_clock, tls ? srv_tls_expiry(tls) : 0);
}

/* Reads settings, clients and certificates again. */
static void reload(srv_service *s)
{
    if (!srv_reload(&s->reloader)) return;
    note_certificate(s);
    srv_service_log_exposure(s);
}

/* Waits for one of the signals until the time `end`, ns of srv_now, and watches the threads and a successor meanwhile.
 * Returns the number of the signal, 0 at `end`, HANDED_OVER when the successor serves. */
static int wait_watching(srv_service *s, const sigset_t *signals, uint64_t end)
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
static int wait_for_stop(srv_service *s, const sigset_t *stop, uint64_t end)
{
    sigset_t awaited = *stop;
    int      number;
    sigaddset(&awaited, SIGHUP);
    sigaddset(&awaited, SIGUSR2);
    while ((number = wait_watching(s, &awaited, end)) == SIGHUP || number == SIGUSR2)
        if (number == SIGHUP)
            reload(s);
        else if (end == SRV_NEVER) /* during the drain delay the server does not hand over */
            srv_upgrade_begin(&s->upgrade);
    return number;
}

/* Serves until the server is to drain. From the first signal on /readyz answers 503, and for --drain-delay all other
 * requests are still served, so that balancers learn of the stop before connections are refused. Returns false if a
 * second signal ended the delay: then requests in flight are abandoned. */
static bool serve_until_drain(srv_service *s, const sigset_t *stop)
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

/* Bytes of the large answer whose memory is kept for the next one: a part of what malloc may keep (memory_watch.h). */
static size_t kept_answer(const srv_config *config)
{
    return config->memory / 8 < SRV_KEPT_BYTES ? config->memory / 8 : SRV_KEPT_BYTES;
}

int srv_service_run(srv_service *s)
{
    char     error[1600] = "";
    sigset_t stop;
    block_signals(&stop);
    srv_upgrade_init(&s->upgrade, &s->log, &s->models);
    s->upgrade.listeners = &s->listeners;
    s->upgrade.health    = &s->health;
    srv_disposal_start(kept_answer(&s->config));
    api_large_blocks_from(srv_disposal_take);
    bool ok      = srv_service_start(s, error, sizeof error);
    bool patient = false;
    if (ok) {
        srv_service_show_example(s);
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
