/* job.h - describe a request that a worker is to run.
 *
 * A job belongs to its submitter. Between srv_pool_push and its `done`, which is called on the worker's thread, only
 * the pool accesses it, except for `deadline.cancelled`. */
#pragma once
#include "api/api.h"

struct srv_flow;

typedef struct srv_job {
    api_call        *call;
    const char      *target;      /* target of the request, for the log; NULL: none */
    const char      *client, *id; /* name of the client's account, and Request-Id, for the log; NULL: none */
    const char      *body;
    size_t           length;
    api_deadline     deadline;
    struct srv_flow *flow;                /* the jobs of the same client, see fair_queue.h */
    double           cost;                /* s, estimated */
    double           took;                /* s of processor time, helpers included; 0: no worker has run it */
    bool (*prepare)(struct srv_job *job); /* called on the worker's thread before the job runs; false: the call has its
                                             reply, and the job does not run. NULL: nothing is to be prepared */
    void (*done)(struct srv_job *job);
    struct srv_job *next, *previous; /* used by the pool, and after `done` by the owner */
    bool            waiting;         /* used by the pool: the job is in the queue */
    void           *parked;   /* used by the pool: the worker with which it waits for its next turn; NULL: none */
    bool            refused;  /* set by the pool before `done`: after decoding, its cost exceeded the limits */
    double          wait;     /* s of work ahead of its client, if it was refused */
    bool            admitted; /* used by the pool: its cost is part of the admitted work */
    double          charged;  /* used by the pool: s that its client has been charged for it */
} srv_job;
