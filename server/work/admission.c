/* admission.c - see worker.h: decide whether a job may wait, and count the work that is admitted. */
#include "pool_private.h"
#include "clock.h"
#include "api/metrics.h"
#include <math.h>

enum { MOST_OVERFULL = 2 }; /* clients without a job are admitted up to this multiple of the limit of the queue */

static const double CROWD_PART =
    0.125; /* part of the limit of the queue; work of one client beyond it does not count against other clients */

/* Admission and release round alike, so that the metric returns to zero. */
void srv_pool_count_work(const srv_job *job, int sign)
{
    const double most = 1e6; /* s; an estimate may be as large as the numbers in a request */
    api_metric_add(API_METRIC_ADMITTED_WORK, API_NO_LABELS, sign * (int64_t)(fmin(job->cost, most) * 1e9));
}

void srv_pool_release(srv_pool *pool, srv_job *job)
{
    if (job->admitted) srv_pool_count_work(job, -1);
    srv_queue_release(&pool->queue, job);
}

void srv_pool_count_waiting(int by)
{
    api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, by);
}

/* s of admitted work per worker, of which one client counts at most a part: one long job must not keep all others out.
 */
static double crowd(const srv_pool *pool)
{
    const double most = CROWD_PART * pool->limits.queue;
    double       sum  = 0;
    for (const srv_flow *flow = pool->queue.first; flow; flow = flow->next)
        sum += fmin(flow->admitted / (double)pool->n_workers, most);
    return sum;
}

/* Compares the admitted work with the limits. A job of any cost is admitted as soon as the work is below them. `wait`
 * receives s of work that is ahead of the client. */
static srv_admission decide(const srv_pool *pool, const srv_flow *flow, double *wait)
{
    const srv_work_limits *limits  = &pool->limits;
    double                 own     = flow->admitted / (double)pool->n_workers;
    size_t                 clients = pool->queue.n_flows + srv_flow_is_idle(flow);
    *wait                          = crowd(pool);
    if (srv_flow_is_idle(flow)) return *wait < MOST_OVERFULL * limits->queue ? SRV_ADMITTED : SRV_QUEUE_FULL;
    *wait = fmin(own * (double)clients, pool->queue.admitted / (double)pool->n_workers);
    if (own < fmin(limits->queue / (double)clients, limits->client)) return SRV_ADMITTED;
    return clients == 1 && own >= limits->queue ? SRV_QUEUE_FULL : SRV_CLIENT_QUEUE_FULL;
}

srv_admission srv_pool_admit(srv_pool *pool, srv_job *job, double *wait)
{
    pthread_mutex_lock(&pool->mutex);
    srv_admission decision = decide(pool, job->flow, wait);
    if (decision == SRV_ADMITTED) {
        srv_pool_count_work(job, 1);
        srv_queue_admit(&pool->queue, job);
    }
    pthread_mutex_unlock(&pool->mutex);
    return decision;
}

bool srv_pool_readmit(void *arg, double seconds)
{
    srv_worker *self = arg;
    srv_pool   *pool = self->pool;
    srv_job    *job  = self->job;
    uint64_t    now = srv_now(), end = job->deadline.time;
    double      left = end > now ? 1e-9 * (double)(end - now) : 0; /* s until it is given up */
    pthread_mutex_lock(&pool->mutex);
    if (job->admitted) srv_pool_count_work(job, -1);
    srv_queue_reassess(&pool->queue, job, 0);
    bool alone   = job->flow->unfinished == 1;
    job->refused = !alone && decide(pool, job->flow, &job->wait) != SRV_ADMITTED;
    srv_queue_reassess(&pool->queue, job, fmin(seconds, left));
    if (job->admitted) srv_pool_count_work(job, 1);
    pthread_mutex_unlock(&pool->mutex);
    return !job->refused;
}

bool srv_pool_withdraw(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting && !job->parked;
    srv_pool_release(pool, job);
    if (waiting) {
        srv_queue_remove(&pool->queue, job);
        srv_pool_count_waiting(-1);
        srv_queue_finish(&pool->queue, job, 0);
    }
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}
