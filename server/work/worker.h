/* worker.h - the pool: a bounded queue of long requests and the threads that work it off.
 *
 * The queue is bounded by time, not by number: every job comes with an estimate, and srv_pool_admit refuses when the
 * work admitted and not yet done would keep each worker busy for longer than the limit. (Its length is bounded by
 * the number of connections, each of which has one request at a time.)
 *
 * Workers run at a lower priority than the loops (nice value 10 above the process's), among the threads of one control
 * group: light requests keep their latency where cores are short.
 *
 * A job with many states is done by its worker together with those that have nothing else to do: they leave it between
 * two pieces when another job comes.
 *
 * A job belongs to its submitter. Between srv_pool_push and its `done` (called on the worker's thread) only the
 * pool touches it, but for `deadline.cancelled`. */
#pragma once
#include "api/api.h"

typedef struct srv_job {
    api_call    *call;
    const char  *body;
    size_t       length;
    api_deadline deadline;
    double       cost; /* s, estimated */
    void (*done)(struct srv_job *job);
    struct srv_job *next, *previous; /* the pool's, and after `done` the owner's */
    bool            waiting;         /* the pool's */
} srv_job;

typedef struct srv_pool srv_pool;

/* NULL: no memory or no threads. `limit`: seconds of admitted work for each worker. */
srv_pool *srv_pool_open(size_t workers, double limit);
void      srv_pool_close(srv_pool *pool); /* when no job is left */

/* Books the job's cost, or refuses it. `wait` is the time until there is room or a worker, estimated. */
bool srv_pool_admit(srv_pool *pool, const srv_job *job, double *wait);
void srv_pool_push(srv_pool *pool, srv_job *job); /* once admitted */

/* Takes a job out of the queue. True: it had not begun, is the caller's again, and `done` will not come. */
bool srv_pool_withdraw(srv_pool *pool, srv_job *job);

/* Runs a job here and now, with the deadline checked first. */
void srv_job_run(srv_job *job, api_worker *scratch);
