/* worker.h - run long requests on a pool of worker threads with a bounded queue.
 *
 * The queue is bounded by estimated time: a job is refused if the admitted, unfinished work of its client would keep
 * every worker busy for longer than the limit. Clients share the limit: with n clients that have unfinished jobs, none
 * may have more than the n-th part. The first job of a client is admitted although others have filled the queue before
 * it came, unless they are many. (The number of connections bounds the queue's length: each has one request at a time.)
 * The workers serve all clients in equal shares, see fair_queue.h.
 *
 * Workers run at a lower priority than the loops (their nice value is 10 higher), so that light requests keep their
 * latency when cores are short. If the process has a real-time policy, workers leave it.
 *
 * A running job gives way, between two steps, to the job of a client that has been served less; its thread waits, and a
 * spare thread goes on. When its fields are decoded and show that it costs far more than was estimated, it is admitted
 * again, or refused.
 *
 * A job with many states is shared: idle workers help the worker of the job, and stop between two tasks when another
 * job arrives. */
#pragma once
#include "account.h"

typedef struct srv_pool srv_pool;

/* Limits of the work that a pool takes, s of admitted work per worker. */
typedef struct srv_work_limits {
    double queue;  /* limit for all clients together */
    double client; /* limit for any one client */
} srv_work_limits;

typedef enum srv_admission { SRV_ADMITTED, SRV_QUEUE_FULL, SRV_CLIENT_QUEUE_FULL } srv_admission;

/* Starts a pool whose threads are called `name`. NULL: no memory or no threads. */
srv_pool *srv_pool_open(const char *name, size_t workers, const srv_work_limits *limits);
void      srv_pool_close(srv_pool *pool); /* call when no job is left */

/* Changes `queue` and `client`, for the jobs that come from now on. */
void srv_pool_set_limits(srv_pool *pool, const srv_work_limits *limits);

/* Admits the job and adds its cost to the admitted work, or refuses it. `wait`: s of work that is ahead of its client.
 * `job->flow` must be set. */
srv_admission srv_pool_admit(srv_pool *pool, srv_job *job, double *wait);
void          srv_pool_push(srv_pool *pool, srv_job *job); /* queues an admitted job */

/* Gives up a job: its cost no longer counts as admitted work. True if the job had not started: it has left the queue
 * and belongs to the caller again, and `done` is not called. */
bool srv_pool_withdraw(srv_pool *pool, srv_job *job);

/* Number of workers whose job runs although its deadline had passed at `time`, ns. */
size_t srv_pool_overdue(srv_pool *pool, uint64_t time);

/* The request of a worker whose deadline has passed. */
typedef struct srv_overdue {
    char path[200]; /* "": there is none */
    char client[SRV_ACCOUNT_NAME];
    char id[64]; /* Request-Id */
} srv_overdue;

void srv_pool_find_overdue(srv_pool *pool, uint64_t time, srv_overdue *overdue);

/* Runs a job on the calling thread. A job whose deadline has passed is answered 504 without being evaluated. False: its
 * scheduler has not admitted it, see api_run. */
bool srv_job_run(srv_job *job, api_worker *scratch);
