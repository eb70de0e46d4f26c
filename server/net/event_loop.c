/* event_loop.c - see event_loop.h. */
#define _GNU_SOURCE /* pthread_setname_np, pthread_tryjoin_np */
#include "event_loop.h"
#include "exchange.h"
#include "http_daemon.h"
#include "api/metrics.h"
#include "proxy_header.h"
#include "server/work/priority.h"
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_TAKE_WAITS = 1000 }; /* ms for which srv_loop_set_credentials waits */
enum { RUNS_PER_TURN = 16 };    /* runs of libmicrohttpd per turn, before other events are handled */
static const uint64_t refused_time_limit    = 5000000000; /* ns for the client to receive the answer */
static const uint64_t idle_drain_time       = 250000000;  /* ns at shutdown for a request that is already on its way */
static const uint64_t drain_interval        = 50000000;   /* ns between checks while the server stops */
static const uint64_t change_interval       = 1000000;    /* ns between checks while requests wait for a change */
static const uint64_t accept_retry_interval = 10000000; /* ns between checks whether another loop closed a connection */
static const uint64_t long_turn = 250000; /* ns; shorter turns are not measured, since each reading is a system call */

static void on_timer(uv_timer_t *timer);
static void on_busy(uv_idle_t *idle);

/* Arms the loop's only timer for `next`, unless it fires earlier anyway: an early turn of the loop does no harm. */
static void arm_timer(srv_loop *loop, uint64_t next)
{
    if (uv_is_active((uv_handle_t *)&loop->timer) && loop->timer_time <= next) return;
    if (next == SRV_NEVER) return;
    uint64_t now     = srv_now();
    loop->timer_time = next;
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->timer, on_timer, next > now ? (next - now + 999999) / 1000000 : 0, 0);
}

/* At the end of the drain time: cancels running requests and shuts down the remaining connections. */
static void abandon(srv_loop *loop)
{
    if (loop->abandoned) return;
    loop->abandoned      = true;
    srv_connections *all = &loop->connections;
    if (all->count)
        srv_log_message(loop->server->log, SRV_WARNING, "abandoned", "%zu connections were still open", all->count);
    for (srv_connection *c = all->first[SRV_WORKING]; c; c = c->next)
        srv_exchange_cancel(c->exchange);
    for (srv_phase phase = 0; phase < SRV_CLOSING; phase++)
        while (phase != SRV_WORKING && all->first[phase])
            srv_connection_shut(all, all->first[phase]);
}

static void advance_drain(srv_loop *loop, uint64_t now)
{
    if (now >= loop->drain_end || atomic_load(&loop->order) == SRV_ABANDON) abandon(loop);
    if (loop->connections.count == 0) uv_stop(&loop->uv);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void expire(srv_loop *loop, uint64_t now)
{
    /* Requests expire before connections, because an expired request gets an answer. */
    if (loop->awaiting > 0) srv_exchanges_advance(loop);
    srv_exchanges_yield(loop);
    if (now >= loop->next_work_deadline) loop->next_work_deadline = srv_exchanges_expire(loop, now);
    srv_connections_expire(&loop->connections, now);
    srv_lingering_close_expire(&loop->linger, now);
    srv_spare_body_expire(&loop->spare, now);
}

static uint64_t next_deadline(const srv_loop *loop, uint64_t now)
{
    uint64_t next = earliest(srv_connections_next(&loop->connections), srv_lingering_close_next(&loop->linger));
    next          = earliest(next, earliest(loop->next_work_deadline, srv_spare_body_next(&loop->spare)));
    if (loop->acceptor.paused) next = earliest(next, now + accept_retry_interval);
    if (loop->awaiting > 0) next = earliest(next, now + change_interval);
    return loop->draining ? earliest(next, now + drain_interval) : next;
}

/* Runs the daemons of libmicrohttpd once. Returns the time, ns, after which one of them wants to run again: 0 if it has
 * work that needs no event, SRV_NEVER if all wait for events. */
static uint64_t run_daemons(srv_loop *loop)
{
    uint64_t wait = SRV_NEVER;
    for (int i = 0; i < SRV_DAEMONS; i++) {
        MHD_UNSIGNED_LONG_LONG ms = 0;
        if (!loop->mhd[i]) continue;
        MHD_run(loop->mhd[i]);
        if (MHD_get_timeout(loop->mhd[i], &ms) == MHD_YES) wait = earliest(wait, ms * 1000000);
    }
    return wait;
}

/* Reads the processor time at the beginning of a turn, unless it was read a moment ago. */
static void begin_turn(srv_loop *loop, uint64_t now)
{
    if (now < loop->measured_at + long_turn) return;
    loop->measured    = srv_processor_time();
    loop->measured_at = now;
}

/* Counts the processor time of a long turn. */
static void end_turn(srv_loop *loop, uint64_t began, uint64_t now)
{
    if (now < began + long_turn) return;
    double before     = loop->measured;
    loop->measured    = srv_processor_time();
    loop->measured_at = now;
    if (loop->scope == API_ALL_RESOURCES) /* a loop that answers health probes alone keeps no request waiting */
        api_metric_observe(API_METRIC_LOOP_TURN_SECONDS, API_NO_LABELS, srv_ns(loop->measured - before));
}

/* One turn of the loop: runs libmicrohttpd, ends expired requests and connections, and schedules the next turn. */
static void turn(srv_loop *loop)
{
    uint64_t wait, began = srv_connections_read_clock(&loop->connections);
    int      runs    = 0;
    loop->again      = false;
    loop->turn_began = began;
    srv_exchanges_go_on(loop);
    begin_turn(loop, began);
    atomic_fetch_add_explicit(&loop->turns, 1, memory_order_relaxed);
    do
        wait = run_daemons(loop);
    while (wait == 0 && ++runs < RUNS_PER_TURN && srv_now() < began + SRV_FULL_TURN);

    uint64_t now = srv_connections_read_clock(&loop->connections);
    expire(loop, now);
    srv_accept_resume(&loop->acceptor);
    if (loop->draining) advance_drain(loop, now);
    end_turn(loop, began, srv_now());

    if (wait == 0 || loop->again) {
        srv_loop_turn_soon(loop);
        return;
    }
    uv_idle_stop(&loop->busy);
    arm_timer(loop, earliest(next_deadline(loop, now), wait == SRV_NEVER ? SRV_NEVER : now + wait));
}

static void on_timer(uv_timer_t *timer)
{
    turn(timer->data);
}

static void on_busy(uv_idle_t *idle)
{
    turn(idle->data);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    turn(poll->data);
}

static void begin_drain(srv_loop *loop)
{
    const srv_config *config = loop->server->config;
    bool              shared = atomic_load(&loop->order) == SRV_HAND_OVER;
    if (!loop->draining) srv_accept_end(&loop->acceptor, shared);
    loop->draining    = true;
    loop->handed_over = shared;
    /* nothing waits for the end of a process that has handed over: its requests may take all of their time */
    loop->drain_end = srv_now() + srv_ns(config->drain + (shared ? config->timeout : 0));
    srv_connections_limit_idle(&loop->connections, shared ? srv_ns(config->drain) : idle_drain_time);
}

/* Logs a connection that ends before the head of a request has arrived; complete requests have their own lines. */
static void log_late_head(void *arg, const srv_connection *connection)
{
    srv_loop *loop = arg;
    srv_log  *log  = loop->server->log;
    srv_line  line;
    if (log->level < SRV_INFO || !srv_log_admits(log, connection->peer_account->name, 0)) return;
    srv_log_begin(&line, log, SRV_INFO, "late-head");
    srv_log_text(&line, "from", connection->peer.text);
    srv_log_ms(&line, "ms", loop->connections.now - connection->since);
    srv_log_end(&line);
}

static void set_time_limits(srv_loop *loop)
{
    const srv_config *config     = loop->server->config;
    uint64_t         *time_limit = loop->connections.time_limit;
    time_limit[SRV_ARRIVED] = time_limit[SRV_READING] = srv_ns(config->read_deadline);
    time_limit[SRV_WRITING]                           = srv_ns(config->write_deadline);
    time_limit[SRV_IDLE]                              = srv_ns(config->idle_timeout);
    time_limit[SRV_REFUSED]                           = refused_time_limit;
    time_limit[SRV_CLIENT_CLOSED]                     = 0; /* close at once: libmicrohttpd has already read all input */
    time_limit[SRV_WORKING] = time_limit[SRV_CLOSING] = SRV_NEVER;
}

/* Takes the newest credentials, by which the requests of this thread are checked from now on. */
static void take_credentials(srv_loop *loop)
{
    srv_credentials *next = atomic_exchange(&loop->next_credentials, NULL);
    if (!next) return;
    srv_credentials_release(loop->credentials);
    loop->credentials = next;
    if (!loop->draining) set_time_limits(loop);
    loop->next_work_deadline = 0; /* a shorter limit may have passed */
}

static void on_wake(uv_poll_t *wake, int status, int events)
{
    srv_loop *loop = wake->data;
    uint64_t  times;
    (void)status, (void)events;
    (void)!read(loop->wake_event, &times, sizeof times);
    take_credentials(loop);
    pthread_mutex_lock(&loop->mutex);
    srv_job *job = loop->done;
    loop->done   = NULL;
    pthread_mutex_unlock(&loop->mutex);
    while (job) {
        srv_job *next = job->next;
        srv_exchange_resume(job);
        job = next;
    }
    srv_order order = (srv_order)atomic_load(&loop->order);
    if (order != SRV_RUN && (!loop->draining || (loop->handed_over && order > SRV_HAND_OVER))) begin_drain(loop);
    turn(loop);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void *run(void *argument)
{
    srv_loop *loop = argument;
    srv_shorten_slice();
    turn(loop);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    for (int i = 0; i < SRV_DAEMONS; i++)
        if (loop->mhd[i]) MHD_stop_daemon(loop->mhd[i]);
    srv_receive_end();
    return NULL;
}

/* Starts the daemons that the listeners need. */
static bool start_daemons(srv_loop *loop, const srv_listeners *listeners)
{
    for (size_t i = 0; i < listeners->n; i++) {
        srv_daemon daemon = srv_listener_uses_tls(listeners, i) ? SRV_TLS : SRV_PLAIN;
        if (!loop->mhd[daemon]) loop->mhd[daemon] = srv_http_start(loop, daemon);
        if (!loop->mhd[daemon]) return false;
    }
    return true;
}

static bool watch_daemons(srv_loop *loop)
{
    for (int i = 0; i < SRV_DAEMONS; i++) {
        uv_poll_t *ready = &loop->ready[i];
        if (!loop->mhd[i]) continue;
        ready->data = loop;
        int epoll   = MHD_get_daemon_info(loop->mhd[i], MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
        if (uv_poll_init(&loop->uv, ready, epoll) != 0 || uv_poll_start(ready, UV_READABLE, on_ready) != 0)
            return false;
    }
    return true;
}

static bool open_handles(srv_loop *loop)
{
    if (uv_loop_init(&loop->uv) != 0) return false;
    loop->timer.data = loop->busy.data = loop->wake.data = loop;
    return loop->wake_event >= 0 && uv_timer_init(&loop->uv, &loop->timer) == 0 &&
           uv_idle_init(&loop->uv, &loop->busy) == 0 && uv_poll_init(&loop->uv, &loop->wake, loop->wake_event) == 0 &&
           uv_poll_start(&loop->wake, UV_READABLE, on_wake) == 0 && watch_daemons(loop);
}

/* Metrics need a token where clients have one, and a plain connection from another machine would show the token. */
static api_scope scope_of(const srv_listeners *listeners, bool insecure)
{
    bool reachable = false;
    if (!listeners->for_probes) return API_ALL_RESOURCES;
    for (size_t i = 0; i < listeners->n; i++)
        reachable |= listeners->listener[i].is_reachable;
    return reachable && !insecure ? API_PROBES : API_PROBES_AND_METRICS;
}

bool srv_loop_start(srv_loop *loop, const srv_server *server, const srv_listeners *listeners, size_t index, char *error,
                    size_t error_size)
{
    *loop = (srv_loop){.wake_event  = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                       .server      = server,
                       .scope       = scope_of(listeners, server->config->insecure),
                       .scratch     = api_worker_open(),
                       .credentials = srv_credentials_share(server->credentials)};
    srv_mutex_init(&loop->mutex);
    loop->connections.on_late_head     = log_late_head;
    loop->connections.on_late_head_arg = loop;
    set_time_limits(loop);
    if (loop->scratch && start_daemons(loop, listeners) && open_handles(loop) &&
        srv_accept_begin(&loop->acceptor, loop, listeners, index) &&
        pthread_create(&loop->thread, NULL, run, loop) == 0) {
        pthread_setname_np(loop->thread, listeners->for_probes ? "torqued-health" : "torqued-loop");
        return true;
    }
    snprintf(error, error_size, "cannot start a loop thread: out of memory, descriptors or threads");
    return false;
}

void srv_loop_wake(srv_loop *loop)
{
    const uint64_t one = 1;
    (void)!write(loop->wake_event, &one, sizeof one); /* fails only if the loop is to wake anyway */
}

void srv_loop_turn_soon(srv_loop *loop)
{
    loop->again = true;
    uv_idle_start(&loop->busy, on_busy);
}

void srv_loop_order(srv_loop *loop, srv_order order)
{
    atomic_store(&loop->order, order);
    srv_loop_wake(loop);
}

void srv_loop_set_credentials(srv_loop *loop, srv_credentials *credentials)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    srv_credentials_release(atomic_exchange(&loop->next_credentials, srv_credentials_share(credentials)));
    srv_loop_wake(loop);
    for (int i = 0; i < MAX_TAKE_WAITS && atomic_load(&loop->next_credentials); i++)
        nanosleep(&pause, NULL);
}

void srv_loop_post(srv_loop *loop, srv_job *job)
{
    atomic_fetch_add(&loop->posting, 1); /* srv_loop_try_join waits for this: the loop may end once it has the job */
    pthread_mutex_lock(&loop->mutex);
    job->next  = loop->done;
    loop->done = job;
    pthread_mutex_unlock(&loop->mutex);
    srv_loop_wake(loop); /* after unlocking: the woken loop takes this mutex at once */
    atomic_fetch_sub(&loop->posting, 1);
}

bool srv_loop_try_join(srv_loop *loop)
{
    if (pthread_tryjoin_np(loop->thread, NULL) != 0) return false;
    while (atomic_load(&loop->posting) > 0) /* wait for workers to leave srv_loop_post */
        sched_yield();
    srv_lingering_close_end_all(&loop->linger);
    srv_spare_body_expire(&loop->spare, SRV_NEVER);
    srv_proxy_headers_end_all(loop);
    uv_walk(&loop->uv, close_handle, NULL); /* not earlier: until now other threads could call srv_loop_wake */
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    uv_loop_close(&loop->uv);
    close(loop->wake_event);
    pthread_mutex_destroy(&loop->mutex);
    api_worker_close(loop->scratch);
    take_credentials(loop);
    srv_credentials_release(loop->credentials);
    return true;
}
