/* worker.h - run long requests on a pool of worker threads with a bounded queue.
 *
 * The queue is bounded by estimated time. srv_pool_admit refuses a job if the admitted, unfinished work would keep
 * every worker busy for longer than the limit. (The number of connections bounds its length: each has one request at
 * a time.)
 *
 * Workers run at a lower priority than the loops (their nice value is 10 higher), so that light requests keep their
 * latency when cores are short. If the process has a real-time policy, workers leave it.
 *
 * A job with many states is shared: idle workers help the worker of the job, and stop between two tasks when another
 * job arrives.
 *
 * A job belongs to its submitter. Between srv_pool_push and its `done`, which is called on the worker's thread, only
 * the pool accesses it, except for `deadline.cancelled`. */
#pragma once
#include "api/api.h"

typedef struct srv_job {
    api_call    *call;
    const char  *body;
    size_t       length;
    api_deadline deadline;
    double       cost; /* s, estimated */
    void (*done)(struct srv_job *job);
    struct srv_job *next, *previous; /* used by the pool, and after `done` by the owner */
    bool            waiting;         /* used by the pool: the job is in the queue */
} srv_job;

typedef struct srv_pool srv_pool;

/* Starts a pool. `limit`: s of admitted work per worker. NULL: no memory or no threads. */
srv_pool *srv_pool_open(size_t workers, double limit);
void      srv_pool_close(srv_pool *pool); /* call when no job is left */

/* Admits the job and adds its cost to the admitted work, or returns false. `wait`: estimated seconds until a worker
 * is free. */
bool srv_pool_admit(srv_pool *pool, const srv_job *job, double *wait);
void srv_pool_push(srv_pool *pool, srv_job *job); /* queues an admitted job */

/* Removes a job from the queue. True if the job had not started: it belongs to the caller again, and `done` is not
 * called. */
bool srv_pool_withdraw(srv_pool *pool, srv_job *job);

/* Number of workers whose job runs although its deadline had passed at `time`, ns. */
size_t srv_pool_overdue(srv_pool *pool, uint64_t time);

/* Runs a job on the calling thread. A job whose deadline has passed is answered 504 without being evaluated. */
void srv_job_run(srv_job *job, api_worker *scratch);
