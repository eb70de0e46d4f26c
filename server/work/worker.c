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
enum { MOST_SPARE = 8 };      /* threads that go on with other jobs while those of some workers are parked */
enum { NICE_INCREMENT = 10 }; /* added to the nice value of workers */
enum { MOST_OVERFULL = 2 };   /* times the limit of the queue, to which clients without a job may fill it */

static const uint64_t TURN       = 2500000; /* ns between two checks whether another client is behind */
static const double   LEAD       = 0.005;   /* s by which a running job may be ahead of another client */
static const double   CROWD_PART = 0.125; /* of the limit of the queue, the most that counts of one client for others */

typedef struct worker {
    srv_pool   *pool;
    api_worker *scratch;
    api_helpers helpers; /* the other workers */
    pthread_t   thread;
    uint64_t    deadline; /* ns, of the running job; SRV_NEVER: none runs. Guarded by the mutex */
    double      helped;   /* s, processor time that helpers have spent on the running job */

    srv_job       *job;     /* the running job */
    double         began;   /* s, processor time of the thread when the job began */
    uint64_t       checked; /* ns, when it was last checked whether another client is behind */
    pthread_cond_t resumed; /* signalled when the parked job may be next */
    api_scheduler  scheduler;
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
    size_t          n_workers; /* number of threads that may be busy at a time */
    size_t          n_threads; /* number of threads; those beyond n_workers are spare */
    size_t          n_busy;    /* number of threads that run a job or help */
    size_t          n_idle;    /* number of threads that wait for work */
    worker          workers[];
};

bool srv_job_run(srv_job *job, api_worker *scratch)
{
    return atomic_load(&job->deadline.cancelled) || api_run(job->call, scratch, job->body, job->length, &job->deadline);
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
    pool->n_busy++;
    while (more && pool->queue.n_waiting == 0) {
        pthread_mutex_unlock(&pool->mutex);
        double began = processor_time();
        more         = h->task(h->arg, (size_t)slot);
        double took  = processor_time() - began;
        pthread_mutex_lock(&pool->mutex);
        h->helped += took;
    }
    pool->n_busy--;
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

static bool start_thread(srv_pool *pool, const char *name);

/* Returns the condition to signal for the thread that goes on, if one may: that of a parked job, or of idle threads.
 * NULL: all threads that may be busy are, or nothing waits. */
static pthread_cond_t *thread_to_wake(srv_pool *pool)
{
    srv_job *next = srv_queue_next(&pool->queue);
    if (!next || pool->n_busy >= pool->n_workers) return NULL;
    return next->parked ? &((worker *)next->parked)->resumed : &pool->work_available;
}

static void wake_next(srv_pool *pool)
{
    pthread_cond_t *condition = thread_to_wake(pool);
    if (condition) pthread_cond_signal(condition);
}

/* Charges the client of the running job the time so far, which may raise its cost. */
static void charge(worker *self)
{
    srv_job *job    = self->job;
    bool     counts = job->admitted;
    if (counts) count_work(job, -1);
    srv_queue_charge(&self->pool->queue, job, fmax(processor_time() - self->began + self->helped, job->charged));
    if (counts) count_work(job, 1);
}

/* True if another client is so far behind the one of the running job that it goes first, and a thread can run its job.
 */
static bool must_park(const worker *self)
{
    srv_pool      *pool = self->pool;
    const srv_job *next = srv_queue_next(&pool->queue);
    if (!next || pool->closing || pool->n_busy < pool->n_workers) return false;
    return next->flow->time + LEAD < self->job->flow->time &&
           (next->parked || pool->n_idle > 0 || start_thread(pool, "torqued-spare"));
}

/* Returns the running job to the queue, and waits until it is next. */
static void park(worker *self)
{
    srv_pool *pool    = self->pool;
    self->deadline    = SRV_NEVER;
    self->job->parked = self;
    srv_queue_return(&pool->queue, self->job);
    pool->n_busy--;
    do {
        wake_next(pool);
        pthread_cond_wait(&self->resumed, &pool->mutex);
    } while (pool->n_busy >= pool->n_workers || srv_queue_next(&pool->queue) != self->job);
    srv_queue_remove(&pool->queue, self->job);
    self->job->parked = NULL;
    pool->n_busy++;
    self->deadline = self->job->deadline.time;
    wake_next(pool);
}

/* Called between two steps of the running job, by its thread and by its helpers. */
static void yield_turn(void *arg, uint64_t now)
{
    worker *self = arg;
    if (!pthread_equal(pthread_self(), self->thread) || now < self->checked + TURN) return;
    self->checked = now;
    pthread_mutex_lock(&self->pool->mutex);
    charge(self);
    if (must_park(self)) park(self);
    pthread_mutex_unlock(&self->pool->mutex);
}

/* Decides again about the running job, whose fields show that it costs more: as if it came now. */
static bool readmit(void *arg, double seconds)
{
    worker   *self = arg;
    srv_pool *pool = self->pool;
    srv_job  *job  = self->job;
    uint64_t  now = srv_now(), end = job->deadline.time;
    double    left = end > now ? 1e-9 * (double)(end - now) : 0; /* s until it is given up */
    pthread_mutex_lock(&pool->mutex);
    if (job->admitted) count_work(job, -1);
    srv_queue_reassess(&pool->queue, job, 0);
    bool alone   = job->flow->unfinished == 1;
    job->refused = !alone && decide(pool, job->flow, &job->wait) != SRV_ADMITTED;
    srv_queue_reassess(&pool->queue, job, fmin(seconds, left));
    if (job->admitted) count_work(job, 1);
    pthread_mutex_unlock(&pool->mutex);
    return !job->refused;
}

/* Runs a job that waits. The caller holds the mutex, which is released while the job runs. */
static void do_job(worker *self, srv_job *job)
{
    srv_pool *pool = self->pool;
    srv_queue_start(&pool->queue, job);
    count_waiting(-1);
    pool->n_busy++;
    self->deadline = job->deadline.time;
    self->helped   = 0;
    self->job      = job;
    pthread_mutex_unlock(&pool->mutex);

    job->deadline.scheduler = &self->scheduler;
    self->began             = processor_time();
    self->checked           = srv_now();
    srv_job_run(job, self->scratch);
    double took             = processor_time() - self->began;
    job->deadline.scheduler = NULL;

    pthread_mutex_lock(&pool->mutex);
    self->deadline = SRV_NEVER;
    pool->n_busy--;
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

/* Runs the next job, or helps with one. False: there is nothing that this thread may do. */
static bool do_something(worker *self)
{
    srv_pool *pool = self->pool;
    srv_job  *job  = srv_queue_next(&pool->queue);
    if (pool->n_busy >= pool->n_workers) return false;
    if (job && job->parked) wake_next(pool);
    if (job && job->parked) return false;
    help_request *h = job ? NULL : find_help_request(pool);
    if (job)
        do_job(self, job);
    else if (h)
        help_with(pool, h);
    return job || h;
}

static void *work(void *argument)
{
    worker   *self = argument;
    srv_pool *pool = self->pool;
    lower_priority();
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

static bool start_thread(srv_pool *pool, const char *name)
{
    worker *w = &pool->workers[pool->n_threads];
    if (pool->n_threads == pool->n_workers + MOST_SPARE) return false;
    *w = (worker){.pool = pool, .scratch = api_worker_open(), .deadline = SRV_NEVER};
    if (!w->scratch) return false;
    w->helpers     = pool->helpers;
    w->helpers.arg = w;
    w->scheduler   = (api_scheduler){.admit = readmit, .yield = pool->limits.one_by_one ? NULL : yield_turn, .arg = w};
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

srv_pool *srv_pool_open(size_t workers, const srv_work_limits *limits)
{
    srv_pool *pool = calloc(1, sizeof *pool + (workers + MOST_SPARE) * sizeof *pool->workers);
    if (!pool) return NULL;
    srv_mutex_init(&pool->mutex);
    pthread_cond_init(&pool->work_available, NULL);
    pthread_cond_init(&pool->helper_left, NULL);
    pool->limits    = *limits;
    pool->helpers   = (api_helpers){.run = run_with_helpers, .most_slots = workers < MAX_SLOTS ? workers : MAX_SLOTS};
    pool->n_workers = workers;
    while (pool->n_threads < workers)
        if (!start_thread(pool, "torqued-worker")) {
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
    for (size_t i = 0; i < pool->n_threads; i++)
        n += pool->workers[i].deadline < time;
    pthread_mutex_unlock(&pool->mutex);
    return n;
}

void srv_pool_push(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    srv_queue_push(&pool->queue, job);
    count_waiting(1);
    pthread_cond_t *condition = thread_to_wake(pool);
    pthread_mutex_unlock(&pool->mutex);
    if (condition) pthread_cond_signal(condition); /* after unlocking: the woken worker takes this mutex at once */
}

bool srv_pool_withdraw(srv_pool *pool, srv_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    bool waiting = job->waiting && !job->parked;
    release(pool, job);
    if (waiting) {
        srv_queue_remove(&pool->queue, job);
        count_waiting(-1);
        srv_queue_finish(&pool->queue, job, 0);
    }
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}
