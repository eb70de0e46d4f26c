/* watchdog.c - see watchdog.h. */
#include "watchdog.h"
#include "notify.h"
#include <stdio.h>
#include <string.h>

static const uint64_t second = 1000000000;

void srv_watchdog_begin(srv_watchdog *w, const srv_server *server, srv_loop *loops, size_t n_loops)
{
    uint64_t limit = srv_notify_watchdog();
    *w             = (srv_watchdog){.server   = server,
                                    .loops    = loops,
                                    .n_loops  = n_loops,
                                    .watched  = limit > 0,
                                    .interval = limit > 0 && limit / 6 < second ? limit / 6 : second,
                                    .patience = limit > 0 ? limit / 3 : 10 * second,
                                    .checked  = srv_now()};
}

/* Adds the time since the last check, in which a thread was silent: at most the interval, because in the rest the whole
 * process was stopped. */
static void wait_longer(const srv_watchdog *w, uint64_t *silent, uint64_t passed)
{
    *silent += passed < w->interval ? passed : w->interval;
}

static size_t silent_loops(srv_watchdog *w, uint64_t passed)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_loops; i++) {
        unsigned turns = atomic_load(&w->loops[i].turns);
        if (turns != w->turns[i])
            w->silent[i] = 0;
        else
            wait_longer(w, &w->silent[i], passed);
        w->turns[i] = turns;
        n += w->silent[i] >= w->patience;
        srv_loop_wake(&w->loops[i]);
    }
    return n;
}

/* Number of threads of a pool that have been overdue at the checks of the last time. */
static size_t overdue_threads(srv_watchdog *w, srv_pool *pool, api_thread_label kind, uint64_t passed)
{
    size_t n = srv_pool_overdue(pool, w->checked);
    if (n == 0)
        w->overdue[kind] = 0;
    else
        wait_longer(w, &w->overdue[kind], passed);
    return w->overdue[kind] >= w->patience ? n : 0;
}

/* Names the client of an account as the lines of requests do: `client` for a name, otherwise `from`. */
static void log_account(srv_line *line, const char *account)
{
    static const char name[] = "client:", address[] = "address:";
    if (strncmp(account, name, sizeof name - 1) == 0)
        srv_log_text(line, "client", account + sizeof name - 1);
    else if (strncmp(account, address, sizeof address - 1) == 0)
        srv_log_text(line, "from", account + sizeof address - 1);
    else if (*account)
        srv_log_text(line, "from", account);
}

/* Logs how many threads are stuck, and the request of one of them. */
static void log_stuck(const srv_watchdog *w, api_thread_label kind, const char *threads, size_t stuck)
{
    srv_pool   *pool = kind == API_THREAD_LOOP ? NULL : kind == API_THREAD_WRITER ? w->server->writer : w->server->pool;
    srv_overdue overdue = {.path = ""};
    char        message[100];
    srv_line    line;
    if (pool) srv_pool_find_overdue(pool, w->checked, &overdue);
    snprintf(message, sizeof message, "%zu of the %s made no progress for %.1f s%s", stuck, threads,
             (double)w->patience / 1e9, *overdue.path ? "; one runs the request of this path and client" : "");
    srv_log_begin(&line, w->server->log, SRV_ERROR, "stuck");
    srv_log_text(&line, "message", message);
    srv_log_text(&line, "path", *overdue.path ? overdue.path : NULL);
    log_account(&line, overdue.client);
    srv_log_text(&line, "id", *overdue.id ? overdue.id : NULL);
    srv_log_end(&line);
}

static void report(srv_watchdog *w, api_thread_label kind, size_t stuck)
{
    static const char *const names[] = {
        [API_THREAD_LOOP] = "loops", [API_THREAD_WORKER] = "workers", [API_THREAD_WRITER] = "writers"};
    if (stuck == w->stuck[kind]) return;
    api_metric_add(API_METRIC_STUCK_THREADS, (api_label_values){{kind}}, (int64_t)stuck - (int64_t)w->stuck[kind]);
    w->stuck[kind] = stuck;
    if (kind == API_THREAD_LOOP && stuck > 0)
        api_set_unready(w->server->api, "loops", "%zu of the loops made no progress for %.1f s", stuck,
                        (double)w->patience / 1e9);
    else if (kind == API_THREAD_LOOP)
        api_clear_reason(w->server->api, "loops");
    if (stuck > 0)
        log_stuck(w, kind, names[kind], stuck);
    else
        srv_log_message(w->server->log, SRV_WARNING, "recovered", "all %s make progress again", names[kind]);
}

uint64_t srv_watchdog_check(srv_watchdog *w)
{
    uint64_t now = srv_now(), passed = now - w->checked;
    if (passed < w->interval) return w->interval - passed;
    w->checked     = now;
    size_t loops   = silent_loops(w, passed);
    size_t workers = overdue_threads(w, w->server->pool, API_THREAD_WORKER, passed);
    report(w, API_THREAD_LOOP, loops);
    report(w, API_THREAD_WORKER, workers);
    report(w, API_THREAD_WRITER, overdue_threads(w, w->server->writer, API_THREAD_WRITER, passed));
    if (w->watched && loops == 0 && workers < w->server->config->workers) srv_notify("WATCHDOG=1");
    return w->interval;
}
