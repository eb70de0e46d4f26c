/* wrench_rate_terms.c - add the terms of time-dependent wrenches to derivatives: see wrench_rate_terms.h. */
#include "wrench_rate_terms.h"
#include <string.h>

enum { WRENCH = 9 /* numbers of a wrench in lanes: force, torque, point */, RATE = 6 };

size_t api_wrench_terms_entries(const api_model *model, size_t n_wrenches)
{
    return WRENCH * n_wrenches + 3 * model->nv * model->nv + model->nv + 6 * model->n_bodies;
}

api_wrench_terms api_wrench_terms_lay_out(const api_evaluation *e, size_t block, double *room)
{
    size_t           nv = e->model->nv, matrix = nv * nv * e->lanes;
    api_wrench_terms p = {.e = e, .scene = e->query->scene, .block = block, .wrenches = room};
    p.scene.terms      = 0;
    memset(p.scene.gravity, 0, sizeof p.scene.gravity);
    room += WRENCH * e->query->scene.n_wrenches * e->lanes;
    for (size_t i = 0; i < 3; i++, room += matrix)
        p.by[i] = room;
    p.tau            = room;
    p.joint_wrenches = room + nv * e->lanes;
    return p;
}

/* Sets the forces and torques to those in `lanes`, 6 numbers for each wrench and state. The points of application are
 * those of the request. */
static void set_wrenches(api_wrench_terms *p, double *lanes)
{
    const api_evaluation *e = p->e;
    size_t                n = e->query->scene.n_wrenches, W = e->lanes;
    const double         *block = api_block(e, lanes, RATE * n, p->block);
    memcpy(p->wrenches, api_wrench_block(e, p->block), WRENCH * n * W * sizeof *p->wrenches);
    for (size_t i = 0; i < n; i++)
        memcpy(p->wrenches + WRENCH * i * W, block + RATE * i * W, RATE * W * sizeof *p->wrenches);
}

static void find_efforts(api_wrench_terms *p)
{
    const api_evaluation *e  = p->e;
    dyn_inverse_dynamics  io = {.q              = api_state_block(e, API_Q, p->block),
                                .wrenches       = p->wrenches,
                                .tau            = p->tau,
                                .joint_wrenches = p->joint_wrenches};
    e->kernels->inverse_dynamics(&p->scene, e->workspace, &io, 1);
}

static void find_efforts_by_q(api_wrench_terms *p)
{
    const api_evaluation *e  = p->e;
    dyn_sensitivity       io = {.q         = api_state_block(e, API_Q, p->block),
                                .wrenches  = p->wrenches,
                                .dtau_dq   = p->by[0],
                                .dtau_dqd  = p->by[1],
                                .dtau_dqdd = p->by[2]};
    e->kernels->sensitivity(&p->scene, e->workspace, &io, 1);
}

static void add(double *to, const double *from, size_t n)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] += from[i];
}

void api_wrench_terms_add_by_q(api_wrench_terms *p, double *dtau_dot_dq)
{
    size_t nv = p->e->model->nv;
    set_wrenches(p, p->e->plan->wrench_rates);
    find_efforts_by_q(p);
    add(dtau_dot_dq, p->by[0], nv * nv * p->e->lanes);
}

void api_wrench_terms_add_by_duration(api_wrench_terms *p, const api_motion *motion,
                                      const api_duration_terms *by_duration)
{
    const api_evaluation *e  = p->e;
    size_t                nv = e->model->nv, W = e->lanes;
    const double         *qd = api_state_block(e, API_QD, p->block);
    set_wrenches(p, motion->wrench_by_duration);
    find_efforts(p);
    add(by_duration->tau, p->tau, nv * W);
    add(by_duration->joint_wrenches, p->joint_wrenches, 6 * e->model->n_bodies * W);
    if (!by_duration->tau_dot) return;
    find_efforts_by_q(p);
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++)
            for (size_t l = 0; l < W; l++)
                by_duration->tau_dot[i * W + l] += p->by[0][(i * nv + j) * W + l] * qd[j * W + l];
    set_wrenches(p, motion->wrench_rate_by_duration);
    find_efforts(p);
    add(by_duration->tau_dot, p->tau, nv * W);
}
