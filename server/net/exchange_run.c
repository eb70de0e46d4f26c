/* exchange_run.c - run a complete request: on this thread, or on a worker if it is admitted. */
#include "exchange_private.h"
#include "client_rate_limits.h"
#include "api/metrics.h"
#include "server/work/clock.h"
#include <math.h>

/* Times --inline-limit: up to TOLERATED a request stays on its loop whose fields show that it is longer; after LONGEST
 * of processor time it leaves the loop, whatever was estimated. */
enum { TOLERATED = 10, LONGEST = 12 };

static const double least_cost =
    0.01; /* s, least estimate of a request that took too long on its loop's thread and is run by a worker */
static const double write_cost = 0.01; /* s, approximate time of the two disk syncs of a change of a model */

static void on_worker_done(srv_job *job)
{
    srv_loop_post(((srv_exchange *)job)->loop, job);
}

/* Passes the admitted job to the workers. Suspends the connection first, because the worker may finish before
 * srv_pool_push returns. */
static enum MHD_Result suspend(srv_exchange *x)
{
    x->stage      = SUSPENDED;
    x->job.done   = on_worker_done;
    x->job.client = x->account ? x->account->name : NULL;
    x->job.id     = srv_response_header(api_reply_of(x->job.call), "Request-Id");
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    if (x->connection->client_closed)
        atomic_store(&x->job.deadline.cancelled, true); /* the client disconnected before the request was complete */
    srv_schedule_expiry(x->loop, x->job.deadline.time);
    x->queued = srv_now();
    srv_pool_push(x->pool, &x->job);
    return MHD_YES;
}

/* Suspends the request until this server has applied the change that it names. */
static enum MHD_Result await_change(srv_exchange *x)
{
    x->stage = AWAITING;
    x->loop->awaiting++;
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    srv_schedule_expiry(x->loop, x->job.deadline.time);
    return MHD_YES;
}

/* Ends the waiting for a change. */
void srv_exchange_stop_awaiting(srv_exchange *x, srv_exchange_stage next)
{
    x->stage = next;
    x->loop->awaiting--;
    MHD_resume_connection(x->mhd);
    srv_loop_turn_soon(x->loop);
}

void srv_exchanges_advance(srv_loop *loop)
{
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c && loop->awaiting > 0; c = c->next) {
        srv_exchange *x = c->exchange;
        if (x->stage != AWAITING || api_waits_for_change(x->job.call)) continue;
        api_resume(x->job.call);
        srv_exchange_stop_awaiting(x, api_wants_run(x->job.call) ? RECEIVING : FINISHED);
    }
}

static void count_run(api_thread_label thread)
{
    api_metric_add(API_METRIC_RUNS, (api_label_values){{thread}}, 1);
}

/* Sends the complete reply after `seconds` s. */
static enum MHD_Result delay_answer(srv_exchange *x, double seconds)
{
    srv_exchange_free_body(x);
    x->stage   = DELAYED;
    x->send_at = x->loop->connections.now + srv_ns(seconds);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    if (x->connection->client_closed) x->send_at = 0;
    srv_schedule_expiry(x->loop, x->send_at);
    return MHD_YES;
}

/* Clients that ask again the moment they are refused would otherwise keep the loop busy with refusals: 500 such
 * connections take a whole core, and every other request waits for a round of them, 9 ms. */
enum MHD_Result srv_exchange_send_refusal(srv_exchange *x)
{
    srv_loop *loop = x->loop;
    double delay = srv_account_refusal(loop->server->accounts, x->account, &loop->refusal_rate, loop->connections.now);
    return delay > 0 ? delay_answer(x, delay) : srv_exchange_answer(x);
}

/* Answers a request for which the queue has no room. `wait`: s of work that waits. */
static enum MHD_Result refuse(srv_exchange *x, srv_admission reason, double wait)
{
    if (reason == SRV_QUEUE_FULL)
        api_refuse(x->job.call, API_QUEUE_FULL, "Requests for about %.1f s of work are waiting already.", wait);
    else
        api_refuse(x->job.call, API_CLIENT_QUEUE_FULL,
                   "This client has its share of the queue, in which requests for about %.1f s of work are waiting.",
                   wait);
    x->retry_after = srv_spread_retry(x->loop, wait);
    return srv_exchange_send_refusal(x);
}

/* A run on the thread of the loop. */
typedef struct inline_run {
    srv_exchange *x;
    uint64_t      half;    /* ns, when it has taken half of LONGEST, if nothing interrupted the thread */
    double        at_half; /* s, processor time of the thread then; 0: not read */
} inline_run;

/* True if a request whose decoded fields make it longer than estimated may still run on this thread, which is a
 * loop's. */
static bool is_short(void *arg, double seconds)
{
    const inline_run *run = arg;
    run->x->job.cost      = seconds;
    return seconds * 1e6 <= TOLERATED * run->x->loop->server->config->inline_limit;
}

static double longest_run(const srv_exchange *x)
{
    return 1e-6 * LONGEST * x->loop->server->config->inline_limit;
}

/* True if the request has used this thread for too long, from then on for good: other connections wait. Reading the
 * processor time is a system call, which most runs are too short to need. The first half is elapsed time, hence at most
 * so much work; the second is work, so that a short request stays here whose thread another program has interrupted. */
static bool must_leave(void *arg, uint64_t now)
{
    inline_run   *run = arg;
    srv_exchange *x   = run->x;
    if (x->leaves || now < run->half) return x->leaves;
    const double used = srv_processor_time();
    if (run->at_half == 0) run->at_half = used;
    return x->leaves = used > run->at_half + 0.5 * longest_run(x);
}

/* Runs the request on this thread, a loop's. False: it takes too long, as its fields or the time show. */
static bool run_here(srv_exchange *x)
{
    inline_run          run       = {x, srv_now() + srv_ns(0.5 * longest_run(x)), 0};
    const api_scheduler scheduler = {.admit = is_short, .must_leave = must_leave, .arg = &run};
    x->job.deadline.scheduler     = &scheduler;
    bool done                     = srv_job_run(&x->job, x->loop->scratch);
    x->job.deadline.scheduler     = NULL;
    api_worker_reset(x->loop->scratch);
    if (done) count_run(API_THREAD_LOOP);
    if (x->leaves && x->job.cost < least_cost) x->job.cost = least_cost;
    return done;
}

/* Reserves the line of a change in the audit log before the change is made. Waits for room until the deadline. */
static bool reserve_audit_line(srv_job *job)
{
    srv_exchange    *x     = (srv_exchange *)job;
    srv_audit_queue *queue = &x->loop->server->log->audit;
    if (!x->audit_line)
        x->audit_line = srv_audit_reserve(queue, SRV_AUDIT_LINES, job->deadline.time, &job->deadline.cancelled);
    if (x->audit_line) return true;
    if (srv_now() < job->deadline.time)
        api_refuse(job->call, API_MEMORY_FULL, "There is no memory for the line of the change in the audit log.");
    else
        api_refuse(job->call, API_AUDIT_FULL,
                   "The audit log has taken no line until the deadline of the request; the change was not made.");
    return false;
}

/* Passes the request to a worker if it is admitted. The cost is at most the time until the deadline. */
static enum MHD_Result pass_on(srv_exchange *x, bool writes)
{
    uint64_t now = srv_now(), deadline = x->job.deadline.time;
    double   wait;
    x->job.cost             = fmin(x->job.cost, deadline > now ? 1e-9 * (double)(deadline - now) : 0);
    x->job.flow             = &x->account->flow[writes ? SRV_CHANGES : SRV_EVALUATIONS];
    srv_admission admission = srv_pool_admit(x->pool, &x->job, &wait);
    if (admission != SRV_ADMITTED) return refuse(x, admission, wait);
    count_run(writes ? API_THREAD_WRITER : API_THREAD_WORKER);
    return suspend(x);
}

/* Answers a request that a worker has finished. */
enum MHD_Result srv_exchange_answer_finished(srv_exchange *x)
{
    if (atomic_load(&x->job.deadline.cancelled)) return MHD_NO; /* the client has disconnected: close the connection */
    return x->job.refused ? refuse(x, SRV_CLIENT_QUEUE_FULL, x->job.wait) : srv_exchange_answer(x);
}

/* Runs the complete request. Waking a worker costs 30-40 us, so a request with a short estimate runs on this thread. (A
 * worker has colder caches; if the limit is near the cost of a kind of request, that kind alternates between threads.)
 * Changes of models have their own workers: they wait for the disk or the database, one after another, and evaluations
 * must not wait for them. */
enum MHD_Result srv_exchange_evaluate(srv_exchange *x)
{
    const srv_server *server = x->loop->server;
    if (api_waits_for_change(x->job.call)) return await_change(x);
    api_resume(x->job.call);
    if (!api_wants_run(x->job.call)) return srv_exchange_answer(x);
    x->job.body    = x->body;
    x->job.cost    = api_estimate_cost(x->job.call, x->job.body, x->job.length);
    bool writes    = api_waits_for_store(x->job.call);
    x->pool        = writes ? server->writer : server->pool;
    x->job.prepare = writes ? reserve_audit_line : NULL;
    x->job.cost += writes ? write_cost : 0;
    if (!writes && x->job.cost * 1e6 <= server->config->inline_limit && run_here(x)) return srv_exchange_answer(x);
    return pass_on(x, writes);
}
