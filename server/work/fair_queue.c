/* fair_queue.c - see fair_queue.h. */
#include "fair_queue.h"
#include <math.h>

/* Moves the virtual time of the queue up to the least of all active flows. */
static void advance_virtual_time(srv_fair_queue *queue)
{
    double least = INFINITY;
    for (const srv_flow *flow = queue->first; flow; flow = flow->next)
        least = fmin(least, flow->time);
    if (queue->first && least > queue->time) queue->time = least;
}

static void activate(srv_fair_queue *queue, srv_flow *flow)
{
    flow->time     = fmax(flow->time, queue->time);
    flow->previous = NULL;
    flow->next     = queue->first;
    if (queue->first) queue->first->previous = flow;
    queue->first = flow;
    queue->n_flows++;
}

static void deactivate(srv_fair_queue *queue, srv_flow *flow)
{
    *(flow->previous ? &flow->previous->next : &queue->first) = flow->next;
    if (flow->next) flow->next->previous = flow->previous;
    queue->n_flows--;
}

void srv_queue_admit(srv_fair_queue *queue, srv_job *job)
{
    srv_flow *flow = job->flow;
    if (srv_flow_is_idle(flow)) activate(queue, flow);
    flow->unfinished++;
    queue->unfinished++;
    flow->admitted += job->cost;
    queue->admitted += job->cost;
    job->admitted = true;
    job->charged  = 0;
}

void srv_queue_release(srv_fair_queue *queue, srv_job *job)
{
    if (!job->admitted) return;
    job->admitted = false;
    job->flow->admitted -= job->cost;
    queue->admitted -= job->cost;
}

void srv_queue_reassess(srv_fair_queue *queue, srv_job *job, double cost)
{
    if (job->admitted) {
        job->flow->admitted += cost - job->cost;
        queue->admitted += cost - job->cost;
    }
    job->cost = cost;
}

void srv_queue_charge(srv_fair_queue *queue, srv_job *job, double taken)
{
    if (taken > job->cost) srv_queue_reassess(queue, job, taken);
    job->flow->time += taken - job->charged;
    job->charged = taken;
    advance_virtual_time(queue);
}

/* Without unfinished jobs the sums are set to 0, so that rounding errors do not accumulate. */
void srv_queue_finish(srv_fair_queue *queue, srv_job *job, double took)
{
    srv_flow *flow = job->flow;
    srv_queue_release(queue, job);
    srv_queue_charge(queue, job, took);
    queue->unfinished--;
    flow->unfinished--;
    if (queue->unfinished == 0) queue->admitted = 0;
    if (!srv_flow_is_idle(flow)) return;
    flow->admitted = 0;
    deactivate(queue, flow);
    advance_virtual_time(queue);
}

void srv_queue_push(srv_fair_queue *queue, srv_job *job)
{
    srv_flow *flow                                   = job->flow;
    job->waiting                                     = true;
    job->next                                        = NULL;
    job->previous                                    = flow->last;
    *(flow->last ? &flow->last->next : &flow->first) = job;
    flow->last                                       = job;
    queue->n_waiting++;
}

void srv_queue_return(srv_fair_queue *queue, srv_job *job)
{
    srv_flow *flow                                        = job->flow;
    job->waiting                                          = true;
    job->previous                                         = NULL;
    job->next                                             = flow->first;
    *(flow->first ? &flow->first->previous : &flow->last) = job;
    flow->first                                           = job;
    queue->n_waiting++;
}

void srv_queue_remove(srv_fair_queue *queue, srv_job *job)
{
    srv_flow *flow                                         = job->flow;
    *(job->previous ? &job->previous->next : &flow->first) = job->next;
    *(job->next ? &job->next->previous : &flow->last)      = job->previous;
    job->waiting                                           = false;
    queue->n_waiting--;
}

srv_job *srv_queue_next(const srv_fair_queue *queue)
{
    const srv_flow *next = NULL;
    for (const srv_flow *flow = queue->first; flow; flow = flow->next)
        if (flow->first && (!next || flow->time < next->time))
            next = flow; /* the flow that was added last, if times are equal */
    return next ? next->first : NULL;
}

void srv_queue_start(srv_fair_queue *queue, srv_job *job)
{
    srv_queue_remove(queue, job);
    srv_queue_charge(queue, job, fmin(job->cost, SRV_FIRST_CHARGE));
}
