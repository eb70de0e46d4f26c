/* exchange_run.c - run a complete request: on this thread, or on a worker if it is admitted. */
#include "exchange_private.h"
#include "client_limits.h"
#include "api/metrics.h"
#include <math.h>

enum { LONGEST = 1000000 /* ns, processor time for which a request may hold its loop */ };
enum { TOLERATED = 10 }; /* times --inline-limit, up to which a request stays on its loop that turns out to be longer */

static const double least_cost = 0.01; /* s, cost of a request that has left its loop, if its estimate is below */
static const double write_cost = 0.01; /* s, approximate time of the two disk syncs of a change of a model */

static void on_worker_done(srv_job *job)
{
    srv_loop_post(((srv_exchange *)job)->loop, job);
}

/* Passes the admitted job to the workers. Suspends the connection first, because the worker may finish before
 * srv_pool_push returns. */
static enum MHD_Result suspend(srv_exchange *x)
{
    x->stage    = SUSPENDED;
    x->job.done = on_worker_done;
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
    srv_loop_wake(x->loop);
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

/* Sends the complete reply after so many seconds. A client that asks again the moment it is refused would otherwise
 * keep the loop busy with refusals: 500 such connections take a whole core. */
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
    double delay   = srv_account_refusal(x->loop->server->accounts, x->account, x->loop->connections.now);
    return delay > 0 ? delay_answer(x, delay) : srv_exchange_answer(x);
}

/* Tells a request to leave this thread that has held the loop for LONGEST: other connections wait. */
static bool leaves(void *arg, uint64_t now)
{
    srv_exchange   *x    = arg;
    const srv_loop *loop = x->loop;
    if (x->leaves || now < x->run_began + LONGEST) return x->leaves;
    return x->leaves = srv_processor_time() > loop->measured + 1e-9 * LONGEST;
}

/* Admits a request to this thread whose fields show that it takes longer than was estimated. */
static bool is_short(void *arg, double seconds)
{
    srv_exchange *x = arg;
    x->job.cost     = seconds;
    return seconds * 1e6 <= TOLERATED * x->loop->server->config->inline_limit;
}

/* Runs the request on this thread. False: it is too long, as its fields or the time so far show. */
static bool run_here(srv_exchange *x)
{
    const api_scheduler scheduler = {.admit = is_short, .leaves = leaves, .arg = x};
    x->job.deadline.scheduler     = &scheduler;
    x->run_began                  = srv_now();
    bool done                     = srv_job_run(&x->job, x->loop->scratch);
    x->job.deadline.scheduler     = NULL;
    api_worker_reset(x->loop->scratch);
    if (done) count_run(API_THREAD_LOOP);
    if (x->leaves && x->job.cost < least_cost) x->job.cost = least_cost;
    return done;
}

/* Passes the request to a worker if it is admitted. It costs no more than the time until its deadline. */
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
 * Changes of models have their own worker: they wait for each other and for the disk, and evaluations must not wait for
 * them. */
enum MHD_Result srv_exchange_evaluate(srv_exchange *x)
{
    const srv_server *server = x->loop->server;
    if (api_waits_for_change(x->job.call)) return await_change(x);
    api_resume(x->job.call);
    if (!api_wants_run(x->job.call)) return srv_exchange_answer(x);
    x->job.body = x->body;
    x->job.cost = api_estimate_cost(x->job.call, x->job.body, x->job.length);
    bool writes = api_waits_for_store(x->job.call);
    x->pool     = writes ? server->writer : server->pool;
    x->job.cost += writes ? write_cost : 0;
    if (!writes && x->job.cost * 1e6 <= server->config->inline_limit && run_here(x)) return srv_exchange_answer(x);
    return pass_on(x, writes);
}
