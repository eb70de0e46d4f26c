/* pool_private.h - the state of a pool, and what its parts do for each other. Private to worker.c, admission.c,
 * helping.c and turns.c.
 *
 * The mutex of the pool guards all of it. Functions that take a pool or a worker need the mutex, unless their comment
 * says otherwise. */
#pragma once
#include "worker.h"
#include <pthread.h>
#include <stdint.h>

enum { MAX_SLOTS = 64 }; /* bits of srv_help_request.free_slots */
enum { MOST_SPARE = 8 }; /* threads that run other jobs while those of some workers are parked */

typedef struct srv_worker {
    srv_pool   *pool;
    api_worker *scratch;
    api_helpers helpers; /* the other workers */
    pthread_t   thread;
    uint64_t    deadline; /* ns, of the running job; SRV_NEVER: none runs. Guarded by the mutex */
    double      helped;   /* s, processor time that helpers have spent on the running job */

    srv_job       *job;     /* the running job */
    double         began;   /* s, processor time of the thread when the job began */
    uint64_t       checked; /* ns; time of the last check whether a client that was served less waits */
    pthread_cond_t resumed; /* signalled when the parked job may be next */
    api_scheduler  scheduler;
} srv_worker;

/* A running job with which other workers may help. The record lives on the stack of the job's worker and is in the
 * pool's list. */
typedef struct srv_help_request {
    struct srv_help_request *next;
    api_next_task           *task;
    void                    *arg;
    uint64_t                 free_slots; /* bit i is set if no thread uses slot i */
    size_t                   n_helpers;
    double                   helped;    /* s, processor time of the helpers */
    bool                     exhausted; /* no task is left to start */
} srv_help_request;

struct srv_pool {
    pthread_mutex_t   mutex;
    pthread_cond_t    work_available; /* signalled when a job is queued or wants help, or the pool closes */
    pthread_cond_t    helper_left;    /* signalled when the last helper of a job has stopped */
    srv_fair_queue    queue;
    srv_help_request *help_requests; /* list of jobs that want help, oldest first */
    api_helpers       helpers;
    srv_work_limits   limits;
    bool              closing;
    int               nice;      /* nice value of all threads: a spare one would inherit the value of a worker */
    size_t            n_workers; /* number of threads that may be busy at a time */
    size_t            n_threads; /* number of threads; those beyond n_workers are spare */
    size_t            n_busy;    /* number of threads that run a job or help */
    size_t            n_idle;    /* number of threads that wait for work */
    srv_worker        workers[];
};

/* Starts one more thread. False: there are enough, or no memory or thread is left. */
bool srv_pool_start_thread(srv_pool *pool, const char *name);

/* --- admission.c -------------------------------------------------------------------------------------------------- */

void srv_pool_count_waiting(int by); /* changes the number of waiting jobs in the metrics; needs no mutex */

/* Counts the estimated work of a job that is admitted (`sign` 1) or released (-1), in the metrics; needs no mutex. */
void srv_pool_count_work(const srv_job *job, int sign);
/* Gives back the place of a job among the admitted ones. A second call has no effect. */
void srv_pool_release(srv_pool *pool, srv_job *job);

/* Decides again, as if it had just arrived, about the running job of the worker `arg`, whose fields show that it costs
 * more. Takes the mutex. */
bool srv_pool_readmit(void *arg, double seconds);

/* --- helping.c ---------------------------------------------------------------------------------------------------- */

srv_help_request *srv_pool_find_help(srv_pool *pool); /* returns the request of a job that wants help; NULL: none */

/* Runs tasks of a job until none is left or another job is queued, which takes precedence. */
void srv_pool_help(srv_pool *pool, srv_help_request *h);

/* Runs the tasks of the job of the worker `arg`, with the help of others. Takes the mutex. */
void srv_pool_run_with_helpers(void *arg, size_t slots, api_next_task *task, void *task_arg);

/* --- turns.c ------------------------------------------------------------------------------------------------------ */

/* Returns the condition to signal for the thread that goes on, if one may: that of a parked job, or of idle threads.
 * NULL: all threads that may be busy are, or nothing waits. */
pthread_cond_t *srv_pool_thread_to_wake(srv_pool *pool);
void            srv_pool_wake_next(srv_pool *pool);

/* Called between two steps of the running job of the worker `arg`, by its thread and by its helpers. Takes the mutex.
 */
void srv_worker_yield(void *arg, uint64_t now);
