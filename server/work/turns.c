/* turns.c - let a running job give way to the job of a client that was served less. */
#include "pool_private.h"
#include "clock.h"
#include <math.h>

static const uint64_t TURN = 2500000; /* ns between two checks whether another client is behind */
static const double   LEAD = 0.005;   /* s by which a running job may be ahead of another client */

pthread_cond_t *srv_pool_thread_to_wake(srv_pool *pool)
{
    srv_job *next = srv_queue_next(&pool->queue);
    if (!next || pool->n_busy >= pool->n_workers) return NULL;
    return next->parked ? &((srv_worker *)next->parked)->resumed : &pool->work_available;
}

void srv_pool_wake_next(srv_pool *pool)
{
    pthread_cond_t *condition = srv_pool_thread_to_wake(pool);
    if (condition) pthread_cond_signal(condition);
}

/* Charges the client of the running job the processor time so far, which may raise its cost. */
static void charge(srv_worker *self, double taken)
{
    srv_job *job    = self->job;
    bool     counts = job->admitted;
    if (counts) srv_pool_count_work(job, -1);
    srv_queue_charge(&self->pool->queue, job, fmax(taken + self->helped, job->charged));
    if (counts) srv_pool_count_work(job, 1);
}

/* True if another client has been served so much less than that of the running job that its job goes first, and a
 * thread can run it. */
static bool must_park(const srv_worker *self)
{
    srv_pool      *pool = self->pool;
    const srv_job *next = srv_queue_next(&pool->queue);
    if (!next || pool->closing || pool->n_busy < pool->n_workers) return false;
    return next->flow->time + LEAD < self->job->flow->time &&
           (next->parked || pool->n_idle > 0 || srv_pool_start_thread(pool, "torqued-spare"));
}

/* Returns the running job to the queue, and waits until the job is next. */
static void park(srv_worker *self)
{
    srv_pool *pool    = self->pool;
    self->deadline    = SRV_NEVER;
    self->job->parked = self;
    srv_queue_return(&pool->queue, self->job);
    pool->n_busy--;
    do {
        srv_pool_wake_next(pool);
        pthread_cond_wait(&self->resumed, &pool->mutex);
    } while (pool->n_busy >= pool->n_workers || srv_queue_next(&pool->queue) != self->job);
    srv_queue_remove(&pool->queue, self->job);
    self->job->parked = NULL;
    pool->n_busy++;
    self->deadline = self->job->deadline.time;
    srv_pool_wake_next(pool);
}

void srv_worker_yield(void *arg, uint64_t now)
{
    srv_worker *self = arg;
    if (!pthread_equal(pthread_self(), self->thread) || now < self->checked + TURN) return;
    /* The mutex is held without a system call, in which a worker could lose its core while loops wait for the mutex. A
     * worker that waited for it would get it as soon as it is free, and keep it until it has a core. */
    const double taken = srv_processor_time() - self->began;
    if (pthread_mutex_trylock(&self->pool->mutex) != 0) return;
    self->checked = now;
    charge(self, taken);
    if (must_park(self)) park(self);
    pthread_mutex_unlock(&self->pool->mutex);
}
