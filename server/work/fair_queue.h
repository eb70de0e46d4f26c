/* fair_queue.h - order the waiting jobs of several clients, so that all clients get equal shares of the workers' time.
 *
 * The jobs of one client are a flow and run in the order of their arrival. Every flow has a virtual time, the seconds
 * that it was served. The flow that was served least comes next: start-time fair queueing (Goyal, Vin & Cheng 1997,
 * section 2). A flow that becomes active starts from the virtual time of the queue, the least of all active flows, so
 * that no client saves up time while idle. A client with 500 waiting jobs and one with a single job thus take turns.
 *
 * The cost of a job is charged when it starts. The difference to the time that it takes is charged while it runs and
 * when it ends. A job that is ahead of another client may return to the queue, and run on later.
 *
 * No function locks, waits or reads a clock: the caller guards a queue and its flows by one mutex. */
#pragma once
#include "job.h"

/* The jobs of one client. All zero at the beginning. Must live until srv_flow_is_idle. */
typedef struct srv_flow {
    struct srv_flow *next, *previous; /* neighbours in the list of active flows */
    srv_job         *first, *last;    /* waiting jobs, oldest first */
    double           time;            /* s, virtual time */
    double           admitted;        /* s, estimated work of its unfinished jobs */
    size_t           unfinished;      /* number of jobs between srv_queue_admit and srv_queue_finish */
} srv_flow;

typedef struct srv_fair_queue {
    srv_flow *first;      /* list of active flows: those with unfinished jobs */
    size_t    n_flows;    /* number of active flows */
    size_t    n_waiting;  /* number of waiting jobs */
    size_t    unfinished; /* number of unfinished jobs */
    double    admitted;   /* s, estimated work of all unfinished jobs */
    double    time;       /* s, virtual time; never decreases */
} srv_fair_queue;

static inline bool srv_flow_is_idle(const srv_flow *flow)
{
    return flow->unfinished == 0;
}

/* Adds the cost of a job to the admitted work of queue and flow. */
void srv_queue_admit(srv_fair_queue *queue, srv_job *job);

/* Replaces the cost of a job. */
void srv_queue_reassess(srv_fair_queue *queue, srv_job *job, double cost);

/* Subtracts the cost of a job from the admitted work, once; its client has gone, or the job has ended. */
void srv_queue_release(srv_fair_queue *queue, srv_job *job);

/* Ends a job that was admitted and does not wait: releases it, and charges its flow the seconds that it `took`. */
void srv_queue_finish(srv_fair_queue *queue, srv_job *job, double took);

void srv_queue_push(srv_fair_queue *queue, srv_job *job);   /* appends an admitted job to its flow */
void srv_queue_return(srv_fair_queue *queue, srv_job *job); /* puts a job that has run before in front of its flow */
void srv_queue_remove(srv_fair_queue *queue, srv_job *job); /* removes a waiting job */

/* Returns the job that is next, which stays in the queue; NULL: none waits. */
srv_job *srv_queue_next(const srv_fair_queue *queue);

/* Removes a waiting job that starts now, and charges its flow the cost, at most SRV_FIRST_CHARGE. */
void srv_queue_start(srv_fair_queue *queue, srv_job *job);

/* Charges the flow of a running job, which has taken so many seconds by now. If that is more than the cost of the job,
 * it becomes the cost: the job is then expected to take as long again. */
void srv_queue_charge(srv_fair_queue *queue, srv_job *job, double taken);

/* s, the most that a job is charged before it has run. Estimates may be too long, and a client that has paid for a
 * whole job would soon have to give way to others. */
#define SRV_FIRST_CHARGE 0.005
