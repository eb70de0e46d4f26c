/* worker.c - see worker.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "worker.h"
#include "clock.h"
#include "priority.h"
#include "api/metrics.h"
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MAX_SLOTS = 64 };      /* bits of help_request.free_slots */
enum { NICE_INCREMENT = 10 }; /* added to the nice value of workers */

typedef struct worker {
    srv_pool   *pool;
    api_worker *scratch;
    pthread_t   thread;
    uint64_t    deadline; /* ns, of the running job; SRV_NEVER: none runs. Guarded by the mutex */
} worker;

/* A running job with which other workers may help. It lives on the stack of the job's worker and is in the pool's
 * list. */
typedef struct help_request {
    struct help_request *next;
    api_next_task       *task;
    void                *arg;
    uint64_t             free_slots; /* bit i is set if no thread uses slot i */
    size_t               n_helpers;
    bool                 exhausted; /* no task is left to start */
} help_request;

struct srv_pool {
    pthread_mutex_t mutex;
    pthread_cond_t  work_available; /* signalled when a job is queued or wants help, or the pool closes */
    pthread_cond_t  helper_left;    /* signalled when the last helper of a job has stopped */
    srv_job        *first, *last;
    help_request   *help_requests; /* list of jobs that want help, oldest first */
    api_helpers     helpers;
    double          admitted;   /* s of estimated work, queued and running */
    size_t          unfinished; /* number of admitted jobs that are not finished */
    double          limit;
    bool            closing;
    size_t          n_workers;
    worker          workers[];
};

void srv_job_run(srv_job *job, api_worker *scratch)
{
    if (!atomic_load(&job->deadline.cancelled)) api_run(job->call, scratch, job->body, job->length, &job->deadline);
}

static void unlink_job(srv_pool *pool, srv_job *job)
{
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last)      = job->previous;
    job->waiting                                           = false;
    api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, -1);
}

/* Counts the estimated work of a job that is admitted (`sign` 1) or has ended (-1). The same rounding of both leaves no
 * rest. */
static void count_work(const srv_job *job, int sign)
{
    const double most = 1e6; /* s; an estimate may be as large as the numbers in a request */
    api_metric_add(API_METRIC_ADMITTED_WORK, API_NO_LABELS, sign * (int64_t)(fmin(job->cost, most) * 1e9));
}

/* Subtracts the job's cost from the admitted work. Without unfinished jobs the sum is set to 0, so that rounding
 * errors do not accumulate. */
static void release_cost(srv_pool *pool, const srv_job *job)
{
    count_work(job, -1);
    pool->unfinished--;
    pool->admitted = pool->unfinished ? pool->admitted - job->cost : 0;
}

/* --- helping; all functions but run_with_helpers need the mutex --------------------------------------------------- */

static help_request *find_help_request(srv_pool *pool)
{
    help_request *h = pool->help_requests;
    while (h && (h->exhausted || !h->free_slots))
        h = h->next;
    return h;
}

/* Runs tasks of a job until none is left or another job is queued, which takes precedence. */
static void help_with(srv_pool *pool, help_request *h)
{
    int  slot = __builtin_ctzll(h->free_slots);
    bool more = true;
    h->free_slots &= ~(1ull << slot);
    h->n_helpers++;
    while (more && !pool->first) {
        pthread_mutex_unlock(&pool->mutex);
        more = h->task(h->arg, (size_t)slot);
        pthread_mutex_lock(&pool->mutex);
    }
    if (!more) h->exhausted = true;
    h->free_slots |= 1ull << slot;
    if (--h->n_helpers == 0) pthread_cond_broadcast(&pool->helper_left);
}

static void request_help(srv_pool *pool, help_request *h, size_t slots)
{
    help_request **last = &pool->help_requests;
    while (*last)
        last = &(*last)->next;
    *last = h;
    for (size_t slot = 1; slot < slots; slot++) {
        h->free_slots |= 1ull << slot;
        pthread_cond_signal(&pool->work_available);
    }
}

static void finish_help_request(srv_pool *pool, help_request *h)
{
    help_request **link = &pool->help_requests;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    while (h->n_helpers > 0)
        pthread_cond_wait(&pool->helper_left, &pool->mutex);
}

static void run_with_helpers(void *arg, size_t slots, api_next_task *task, void *task_arg)
{
    srv_pool    *pool = arg;
    help_request h    = {.task = task, .arg = task_arg};
    pthread_mutex_lock(&pool->mutex);
    request_help(pool, &h, slots);
    pthread_mutex_unlock(&pool->mutex);
    while (task(task_arg, 0))
        ;
    pthread_mutex_lock(&pool->mutex);
    finish_help_request(pool, &h);
    pthread_mutex_unlock(&pool->mutex);
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

/* Runs a job. The caller holds the mutex, which is released while the job runs. */
static void do_job(worker *self, srv_job *job)
{
    srv_pool *pool = self->pool;
    unlink_job(pool, job);
    self->deadline = job->deadline.time;
    pthread_mutex_unlock(&pool->mutex);

    srv_job_run(job, self->scratch);

    pthread_mutex_lock(&pool->mutex);
    self->deadline = SRV_NEVER;
    release_cost(pool, job);
    pthread_mutex_unlock(&pool->mutex);
    job->done(job); /* the owner may free the job from here on */
    pthread_mutex_lock(&pool->mutex);
}

/* Leaves a real-time policy and raises the nice value of the calling thread (on Linux setpriority applies to a thread).
 * Loops answer in microseconds, but at equal priority a thread that has used its time slice waits milliseconds for a
 * busy worker. If all cores are busy, workers still get about a tenth of a core. A failure is ignored. */
static void lower_priority(void)
{
    srv_leave_real_time();
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE_INCREMENT);
}

static void *work(void *argument)
{
    worker   *self = argument;
    srv_pool *pool = self->pool;
    lower_priority();
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        help_request *h = pool->first ? NULL : find_help_request(pool);
        if (pool->first)
            do_job(self, pool->first);
        else if (h)
            help_with(pool, h);
        else if (pool->closing)
            break;
        else
            pthread_cond_wait(&pool->work_available, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static bool start_worker(srv_pool *pool)
{
    worker *w = &pool->workers[pool->n_workers];
    *w        = (worker){.pool = pool, .scratch = api_worker_open(), .deadline = SRV_NEVER};
    if (!w->scratch) return false;
    api_worker_set_helpers(w->scratch, &pool->helpers);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        api_worker_close(w->scratch);
        return false;
    }
    pthread_setname_np(w->thread, "torqued-worker");
    pool->n_workers++;
    return true;
}

srv_pool *srv_pool_open(size_t workers, double limit)
{
    srv_pool *pool = calloc(1, sizeof *pool + workers * sizeof *pool->workers);
    if (!pool) return NULL;
    srv_mutex_init(&pool->mutex);
    pthread_cond_init(&pool->work_available, NULL);
    pthread_cond_init(&pool->helper_left, NULL);
    pool->limit = limit;
    pool->helpers =
        (api_helpers){.run = run_with_helpers, .arg = pool, .most_slots = workers < MAX_SLOTS ? workers : MAX_SLOTS};
    while (pool->n_workers < workers)
        if (!start_worker(pool)) {
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
    pthread_cond_broadcast(&pool->work_available);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->n_workers; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        api_worker_close(pool->workers[i].scratch);
    }
    pthread_cond_destroy(&pool->work_available);
    pthread_cond_destroy(&pool->helper_left);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

bool srv_pool_admit(srv_pool *pool, const srv_job *job, double *wait)
{
    pthread_mutex_lock(&pool->mutex);
    *wait     = pool->admitted / (double)pool->n_workers;
    bool room = *wait < pool->limit; /* a job of any cost is admitted as soon as the wait is below the limit */
    if (room) {
        count_work(job, 1);
        pool->admitted += job->cost;
        pool->unfinished++;
    }
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

size_t srv_pool_overdue(srv_pool *pool, uint64_t time)
{
    size_t n = 0;
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < pool->n_workers; i++)
        n += pool->workers[i].deadline < time;
    pthread_mutex_unlock(&pool->mutex);
    return n;
}

void srv_pool_push(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    job->waiting                                     = true;
    job->next                                        = NULL;
    job->previous                                    = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last                                       = job;
    api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, 1);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_signal(&pool->work_available); /* after unlocking: the woken worker takes this mutex at once */
}

bool srv_pool_withdraw(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting;
    if (waiting) {
        unlink_job(pool, job);
        release_cost(pool, job);
    }
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}
