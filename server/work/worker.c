/* worker.c - see worker.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "worker.h"
#include "clock.h"
#include "fair_queue.h"
#include "priority.h"
#include "api/metrics.h"
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_SLOTS = 64 };      /* bits of help_request.free_slots */
enum { NICE_INCREMENT = 10 }; /* added to the nice value of workers */
enum { MOST_OVERFULL = 2 };   /* times the limit of the queue, to which clients without a job may fill it */

static const double CROWD_PART = 0.125; /* of the limit of the queue, the most that counts of one client for others */

typedef struct worker {
    srv_pool   *pool;
    api_worker *scratch;
    api_helpers helpers; /* the other workers */
    pthread_t   thread;
    uint64_t    deadline; /* ns, of the running job; SRV_NEVER: none runs. Guarded by the mutex */
    double      helped;   /* s, processor time that helpers have spent on the running job */
} worker;

/* A running job with which other workers may help. It lives on the stack of the job's worker and is in the pool's
 * list. */
typedef struct help_request {
    struct help_request *next;
    api_next_task       *task;
    void                *arg;
    uint64_t             free_slots; /* bit i is set if no thread uses slot i */
    size_t               n_helpers;
    double               helped;    /* s, processor time of the helpers */
    bool                 exhausted; /* no task is left to start */
} help_request;

struct srv_pool {
    pthread_mutex_t mutex;
    pthread_cond_t  work_available; /* signalled when a job is queued or wants help, or the pool closes */
    pthread_cond_t  helper_left;    /* signalled when the last helper of a job has stopped */
    srv_fair_queue  queue;
    help_request   *help_requests; /* list of jobs that want help, oldest first */
    api_helpers     helpers;
    srv_work_limits limits;
    bool            closing;
    size_t          n_workers;
    worker          workers[];
};

void srv_job_run(srv_job *job, api_worker *scratch)
{
    if (!atomic_load(&job->deadline.cancelled)) api_run(job->call, scratch, job->body, job->length, &job->deadline);
}

/* Processor time of the calling thread, s. */
static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Counts the estimated work of a job that is admitted (`sign` 1) or released (-1). The same rounding of both leaves no
 * rest. */
static void count_work(const srv_job *job, int sign)
{
    const double most = 1e6; /* s; an estimate may be as large as the numbers in a request */
    api_metric_add(API_METRIC_ADMITTED_WORK, API_NO_LABELS, sign * (int64_t)(fmin(job->cost, most) * 1e9));
}

static void release(srv_pool *pool, srv_job *job)
{
    if (job->admitted) count_work(job, -1);
    srv_queue_release(&pool->queue, job);
}

static void count_waiting(int by)
{
    api_metric_add(API_METRIC_QUEUED_REQUESTS, API_NO_LABELS, by);
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
    while (more && pool->queue.n_waiting == 0) {
        pthread_mutex_unlock(&pool->mutex);
        double began = processor_time();
        more         = h->task(h->arg, (size_t)slot);
        double took  = processor_time() - began;
        pthread_mutex_lock(&pool->mutex);
        h->helped += took;
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
    worker      *self = arg;
    srv_pool    *pool = self->pool;
    help_request h    = {.task = task, .arg = task_arg};
    pthread_mutex_lock(&pool->mutex);
    request_help(pool, &h, slots);
    pthread_mutex_unlock(&pool->mutex);
    while (task(task_arg, 0))
        ;
    pthread_mutex_lock(&pool->mutex);
    finish_help_request(pool, &h);
    self->helped += h.helped;
    pthread_mutex_unlock(&pool->mutex);
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

/* Runs a job that waits. The caller holds the mutex, which is released while the job runs. */
static void do_job(worker *self, srv_job *job)
{
    srv_pool *pool = self->pool;
    srv_queue_start(&pool->queue, job);
    count_waiting(-1);
    self->deadline = job->deadline.time;
    self->helped   = 0;
    pthread_mutex_unlock(&pool->mutex);

    double began = processor_time();
    srv_job_run(job, self->scratch);
    double took = processor_time() - began;

    pthread_mutex_lock(&pool->mutex);
    self->deadline = SRV_NEVER;
    release(pool, job);
    srv_queue_finish(&pool->queue, job, took + self->helped);
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
        srv_job      *job = srv_queue_next(&pool->queue);
        help_request *h   = job ? NULL : find_help_request(pool);
        if (job)
            do_job(self, job);
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
    w->helpers     = pool->helpers;
    w->helpers.arg = w;
    api_worker_set_helpers(w->scratch, &w->helpers);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        api_worker_close(w->scratch);
        return false;
    }
    pthread_setname_np(w->thread, "torqued-worker");
    pool->n_workers++;
    return true;
}

srv_pool *srv_pool_open(size_t workers, const srv_work_limits *limits)
{
    srv_pool *pool = calloc(1, sizeof *pool + workers * sizeof *pool->workers);
    if (!pool) return NULL;
    srv_mutex_init(&pool->mutex);
    pthread_cond_init(&pool->work_available, NULL);
    pthread_cond_init(&pool->helper_left, NULL);
    pool->limits  = *limits;
    pool->helpers = (api_helpers){.run = run_with_helpers, .most_slots = workers < MAX_SLOTS ? workers : MAX_SLOTS};
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
        count_work(job, 1);
        srv_queue_admit(&pool->queue, job);
    }
    pthread_mutex_unlock(&pool->mutex);
    return decision;
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
    srv_queue_push(&pool->queue, job);
    count_waiting(1);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_signal(&pool->work_available); /* after unlocking: the woken worker takes this mutex at once */
}

bool srv_pool_withdraw(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting;
    release(pool, job);
    if (waiting) {
        srv_queue_remove(&pool->queue, job);
        count_waiting(-1);
        srv_queue_finish(&pool->queue, job, 0);
    }
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}
