/* worker.c - see worker.h: the threads of a pool. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "pool_private.h"
#include "clock.h"
#include "priority.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { NICE_INCREMENT = 10 }; /* added to the nice value of workers */

bool srv_job_run(srv_job *job, api_worker *scratch)
{
    if (atomic_load(&job->deadline.cancelled) || (job->prepare && !job->prepare(job))) return true;
    return api_run(job->call, scratch, job->body, job->length, &job->deadline);
}

/* Runs a job that waits. The caller holds the mutex, which is released while the job runs. */
static void do_job(srv_worker *self, srv_job *job)
{
    srv_pool *pool = self->pool;
    srv_queue_start(&pool->queue, job);
    srv_pool_count_waiting(-1);
    pool->n_busy++;
    self->deadline = job->deadline.time;
    self->helped   = 0;
    self->job      = job;
    pthread_mutex_unlock(&pool->mutex);

    job->deadline.scheduler = &self->scheduler;
    self->began             = srv_processor_time();
    self->checked           = srv_now();
    srv_job_run(job, self->scratch);
    double took             = srv_processor_time() - self->began;
    job->deadline.scheduler = NULL;

    pthread_mutex_lock(&pool->mutex);
    self->deadline = SRV_NEVER;
    pool->n_busy--;
    srv_pool_release(pool, job);
    job->took = took + self->helped;
    srv_queue_finish(&pool->queue, job, job->took);
    pthread_mutex_unlock(&pool->mutex);
    job->done(job); /* the owner may free the job from here on */
    api_worker_reset(self->scratch);
    pthread_mutex_lock(&pool->mutex);
}

/* Leaves a real-time policy and sets the nice value of the calling thread (on Linux setpriority applies to a thread).
 * Loops answer in microseconds, but at equal priority a thread that has used its time slice waits milliseconds for a
 * busy worker. If all cores are busy, workers still get about a tenth of a core. A failure is ignored. */
static void lower_priority(const srv_pool *pool)
{
    srv_leave_real_time();
    (void)setpriority(PRIO_PROCESS, 0, pool->nice);
}

/* Runs the next job, or tasks of another worker's job. False: this thread may do neither now. */
static bool do_something(srv_worker *self)
{
    srv_pool *pool = self->pool;
    srv_job  *job  = srv_queue_next(&pool->queue);
    if (pool->n_busy >= pool->n_workers) return false;
    if (job && job->parked) srv_pool_wake_next(pool);
    if (job && job->parked) return false;
    srv_help_request *h = job ? NULL : srv_pool_find_help(pool);
    if (job)
        do_job(self, job);
    else if (h)
        srv_pool_help(pool, h);
    return job || h;
}

static void *work(void *argument)
{
    srv_worker *self = argument;
    srv_pool   *pool = self->pool;
    lower_priority(pool);
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        if (do_something(self)) continue;
        if (pool->closing && pool->queue.unfinished == 0) break;
        pool->n_idle++;
        pthread_cond_wait(&pool->work_available, &pool->mutex);
        pool->n_idle--;
    }
    pthread_cond_broadcast(&pool->work_available);
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

bool srv_pool_start_thread(srv_pool *pool, const char *name)
{
    srv_worker *w = &pool->workers[pool->n_threads];
    if (pool->n_threads == pool->n_workers + MOST_SPARE) return false;
    *w = (srv_worker){.pool = pool, .scratch = api_worker_open(), .deadline = SRV_NEVER};
    if (!w->scratch) return false;
    w->helpers     = pool->helpers;
    w->helpers.arg = w;
    w->scheduler   = (api_scheduler){.admit = srv_pool_readmit, .yield = srv_worker_yield, .arg = w};
    api_worker_set_helpers(w->scratch, &w->helpers);
    pthread_cond_init(&w->resumed, NULL);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        pthread_cond_destroy(&w->resumed);
        api_worker_close(w->scratch);
        return false;
    }
    pthread_setname_np(w->thread, name);
    pool->n_threads++;
    return true;
}

srv_pool *srv_pool_open(const char *name, size_t workers, const srv_work_limits *limits)
{
    srv_pool *pool = calloc(1, sizeof *pool + (workers + MOST_SPARE) * sizeof *pool->workers);
    if (!pool) return NULL;
    srv_mutex_init(&pool->mutex);
    pthread_cond_init(&pool->work_available, NULL);
    pthread_cond_init(&pool->helper_left, NULL);
    pool->limits = *limits;
    pool->helpers =
        (api_helpers){.run = srv_pool_run_with_helpers, .most_slots = workers < MAX_SLOTS ? workers : MAX_SLOTS};
    pool->n_workers = workers;
    pool->nice      = getpriority(PRIO_PROCESS, 0) + NICE_INCREMENT;
    while (pool->n_threads < workers)
        if (!srv_pool_start_thread(pool, name)) {
            srv_pool_close(pool);
            return NULL;
        }
    return pool;
}

void srv_pool_set_limits(srv_pool *pool, const srv_work_limits *limits)
{
    pthread_mutex_lock(&pool->mutex);
    pool->limits.queue  = limits->queue;
    pool->limits.client = limits->client;
    pthread_mutex_unlock(&pool->mutex);
}

void srv_pool_close(srv_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work_available);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->n_threads; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->workers[i].resumed);
        api_worker_close(pool->workers[i].scratch);
    }
    pthread_cond_destroy(&pool->work_available);
    pthread_cond_destroy(&pool->helper_left);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

size_t srv_pool_overdue(srv_pool *pool, uint64_t time)
{
    size_t n = 0;
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < pool->n_threads; i++)
        n += pool->workers[i].deadline < time;
    pthread_mutex_unlock(&pool->mutex);
    return n;
}

/* The query is left out: a client may have put a secret there. */
static void describe_overdue(const srv_job *job, srv_overdue *overdue)
{
    snprintf(overdue->path, sizeof overdue->path, "%.*s", (int)strcspn(job->target, "?"), job->target);
    snprintf(overdue->client, sizeof overdue->client, "%s", job->client ? job->client : "");
    snprintf(overdue->id, sizeof overdue->id, "%s", job->id ? job->id : "");
}

void srv_pool_find_overdue(srv_pool *pool, uint64_t time, srv_overdue *overdue)
{
    *overdue = (srv_overdue){.path = ""};
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < pool->n_threads && !*overdue->path; i++) {
        const srv_worker *w = &pool->workers[i];
        if (w->deadline < time && w->job->target) describe_overdue(w->job, overdue);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void srv_pool_push(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    srv_queue_push(&pool->queue, job);
    srv_pool_count_waiting(1);
    pthread_cond_t *condition = srv_pool_thread_to_wake(pool);
    pthread_mutex_unlock(&pool->mutex);
    if (condition) pthread_cond_signal(condition); /* after unlocking: the woken worker takes this mutex at once */
}
