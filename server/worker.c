/* worker.c - see worker.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "worker.h"
#include "clock.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    srv_pool   *pool;
    api_worker *scratch;
    pthread_t   thread;
} worker;

struct srv_pool {
    pthread_mutex_t mutex;
    pthread_cond_t  work; /* a job waits, or the pool closes */
    srv_job        *first, *last;
    double          admitted;   /* s of estimated work, waiting and running */
    size_t          unfinished; /* jobs admitted */
    double          limit;
    bool            closing;
    size_t          n_workers;
    worker          workers[];
};

void srv_job_run(srv_job *job, api_worker *scratch)
{
    if (atomic_load(&job->watch.cancelled)) return;
    if (srv_now() >= job->watch.deadline)
        api_refuse(job->call, API_DEADLINE_PASSED, "The time for this request was over before its work began.");
    else
        api_run(job->call, scratch, job->body, job->length, &job->watch);
}

static void unlink_job(srv_pool *pool, srv_job *job)
{
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last)      = job->previous;
    job->waiting                                           = false;
}

/* Takes the job's cost off the books. Rounding must not add up over the years: nothing unfinished is nothing. */
static void settle(srv_pool *pool, const srv_job *job)
{
    pool->unfinished--;
    pool->admitted = pool->unfinished ? pool->admitted - job->cost : 0;
}

static void *work(void *argument)
{
    worker   *self = argument;
    srv_pool *pool = self->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->first && !pool->closing)
            pthread_cond_wait(&pool->work, &pool->mutex);
        srv_job *job = pool->first;
        if (!job) break;
        unlink_job(pool, job);
        pthread_mutex_unlock(&pool->mutex);

        srv_job_run(job, self->scratch);

        pthread_mutex_lock(&pool->mutex);
        settle(pool, job);
        pthread_mutex_unlock(&pool->mutex);
        job->done(job); /* it may be gone from here on */
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static bool start_worker(srv_pool *pool, api *service)
{
    worker *w = &pool->workers[pool->n_workers];
    *w        = (worker){.pool = pool, .scratch = api_worker_open(service)};
    if (!w->scratch) return false;
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        api_worker_close(w->scratch);
        return false;
    }
    pthread_setname_np(w->thread, "torqued-worker");
    pool->n_workers++;
    return true;
}

srv_pool *srv_pool_open(api *service, size_t workers, double limit)
{
    srv_pool *pool = calloc(1, sizeof *pool + workers * sizeof *pool->workers);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->limit = limit;
    while (pool->n_workers < workers)
        if (!start_worker(pool, service)) {
            srv_pool_close(pool);
            return NULL;
        }
    return pool;
}

void srv_pool_close(srv_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->n_workers; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        api_worker_close(pool->workers[i].scratch);
    }
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

bool srv_pool_admit(srv_pool *pool, const srv_job *job, double *wait)
{
    pthread_mutex_lock(&pool->mutex);
    *wait     = pool->admitted / (double)pool->n_workers;
    bool room = *wait < pool->limit; /* a job longer than the limit is taken when its turn is near */
    if (room) {
        pool->admitted += job->cost;
        pool->unfinished++;
    }
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

void srv_pool_push(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    job->waiting                                     = true;
    job->next                                        = NULL;
    job->previous                                    = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last                                       = job;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

bool srv_pool_withdraw(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting;
    if (waiting) {
        unlink_job(pool, job);
        settle(pool, job);
    }
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}
