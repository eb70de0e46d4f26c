/* wrench_rate_terms.c - add the terms of time-dependent wrenches to derivatives: see wrench_rate_terms.h. */
#include "wrench_rate_terms.h"
#include "api/requests/evaluate/friction.h"
#include "api/requests/fields/fields.h"
#include <string.h>

enum { WRENCH = 9 /* numbers of a wrench in lanes: force, torque, point */, RATE = 6 };

size_t api_wrench_terms_entries(const api_model *model, size_t n_wrenches, const api_mimics *followers)
{
    const size_t rows = model->nv + followers->n;
    return api_mimics_room(followers, true) + WRENCH * n_wrenches + 3 * rows * model->nv + rows + 2 * model->nv +
           6 * model->n_bodies;
}

api_wrench_terms api_wrench_terms_lay_out(const api_evaluation *e, size_t block, const api_mimics *followers,
                                          double *room)
{
    size_t           nv = e->model->nv, rows = nv + followers->n, matrix = rows * nv * e->lanes;
    api_wrench_terms p = {.e = e, .scene = e->query->scene, .block = block, .followers = followers, .rows = rows};
    p.follower_room    = room;
    room += api_mimics_room(followers, true) * e->lanes;
    p.wrenches    = room;
    p.scene.terms = 0;
    memset(p.scene.gravity, 0, sizeof p.scene.gravity);
    room += WRENCH * e->query->scene.n_wrenches * e->lanes;
    for (size_t i = 0; i < 3; i++, room += matrix)
        p.by[i] = room;
    p.tau            = room;
    p.load[0]        = p.tau + rows * e->lanes;
    p.load[1]        = p.load[0] + nv * e->lanes;
    p.joint_wrenches = p.load[1] + nv * e->lanes;
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

/* Returns the means to compute the efforts of mimic joints in the scene of the wrenches. */
static api_mimic_block followers_of(const api_wrench_terms *p)
{
    api_mimic_block b = api_mimic_block_of(p->e, p->followers, p->follower_room);
    b.scene           = &p->scene;
    return b;
}

static void find_efforts(api_wrench_terms *p)
{
    const api_evaluation       *e      = p->e;
    dyn_inverse_dynamics        io     = {.q              = api_state_block(e, API_Q, p->block),
                                          .wrenches       = p->wrenches,
                                          .tau            = p->tau,
                                          .joint_wrenches = p->joint_wrenches};
    const dyn_torque_derivative motion = {.q = io.q, .wrenches = io.wrenches};
    const api_mimic_block       b      = followers_of(p);
    e->kernels->inverse_dynamics(&p->scene, e->workspace, &io, 1);
    if (p->followers->n > 0) api_mimic_efforts(&b, &motion, p->tau + e->model->nv * e->lanes, NULL);
}

void api_wrench_terms_find_load(api_wrench_terms *p)
{
    const api_evaluation *e       = p->e;
    double               *tau     = p->tau;
    dyn_inverse_dynamics  efforts = {.q        = api_state_block(e, API_Q, p->block),
                                     .qd       = api_state_block(e, API_QD, p->block),
                                     .qdd      = api_state_block(e, API_QDD, p->block),
                                     .wrenches = api_wrench_block(e, p->block),
                                     .tau      = tau};
    dyn_friction_map      map     = {
                 .qd = efforts.qd, .tau = tau, .result = tau, .factor = p->load[0], .factor_slope = p->load[1]};
    if (!api_has_load(e->query)) return;
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &efforts, 1);
    api_friction_map(e, &map);
}

static void find_efforts_by_q(api_wrench_terms *p)
{
    const api_evaluation       *e      = p->e;
    dyn_sensitivity             io     = {.q         = api_state_block(e, API_Q, p->block),
                                          .wrenches  = p->wrenches,
                                          .dtau_dq   = p->by[0],
                                          .dtau_dqd  = p->by[1],
                                          .dtau_dqdd = p->by[2]};
    const size_t                first  = e->model->nv * e->model->nv * e->lanes;
    const dyn_torque_derivative motion = {.q = io.q, .wrenches = io.wrenches};
    const api_mimic_block       b      = followers_of(p);
    double *const               by[3]  = {p->by[0] + first, p->by[1] + first, p->by[2] + first};
    e->kernels->sensitivity(&p->scene, e->workspace, &io, 1);
    if (p->followers->n > 0) api_mimic_sensitivity(&b, &motion, by, NULL);
}

static void add(double *to, const double *from, size_t n)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] += from[i];
}

/* Multiplies the rows of a matrix of efforts, nv x columns, by the load factor a (wrench_rate_terms.h). */
static void add_load(const api_wrench_terms *p, size_t columns, double *efforts)
{
    const size_t W = p->e->lanes;
    for (size_t i = 0; api_has_load(p->e->query) && i < p->e->model->nv * columns * W; i++)
        efforts[i] *= p->load[0][i / (columns * W) * W + i % W];
}

/* Adds a' tau_w(q, W') to the diagonal of d tau_dot / dqd. */
static void add_diagonal(api_wrench_terms *p, double *dtau_dot_dqd)
{
    const size_t nv = p->e->model->nv, W = p->e->lanes;
    if (!api_has_load(p->e->query)) return;
    find_efforts(p);
    for (size_t v = 0; v < nv; v++)
        for (size_t l = 0; l < W; l++)
            dtau_dot_dqd[(v * nv + v) * W + l] += p->load[1][v * W + l] * p->tau[v * W + l];
}

void api_wrench_terms_add_by_state(api_wrench_terms *p, double *dtau_dot_dq, double *dtau_dot_dqd)
{
    size_t nv = p->e->model->nv;
    set_wrenches(p, p->e->plan->wrench_rates);
    find_efforts_by_q(p);
    add_load(p, nv, p->by[0]);
    add(dtau_dot_dq, p->by[0], p->rows * nv * p->e->lanes);
    add_diagonal(p, dtau_dot_dqd);
}

/* Adds a' qdd tau_w(q, dW/dT) to d tau_dot / dT. */
static void add_load_change(const api_wrench_terms *p, double *tau_dot)
{
    const double *qdd = api_state_block(p->e, API_QDD, p->block);
    for (size_t i = 0; api_has_load(p->e->query) && qdd && i < p->e->model->nv * p->e->lanes; i++)
        tau_dot[i] += p->load[1][i] * qdd[i] * p->tau[i];
}

void api_wrench_terms_add_by_duration(api_wrench_terms *p, const api_motion *motion,
                                      const api_duration_terms *by_duration)
{
    const api_evaluation *e  = p->e;
    size_t                nv = e->model->nv, W = e->lanes;
    const double         *qd = api_state_block(e, API_QD, p->block);
    set_wrenches(p, motion->wrench_by_duration);
    find_efforts(p);
    add(by_duration->joint_wrenches, p->joint_wrenches, 6 * e->model->n_bodies * W);
    if (by_duration->tau_dot) add_load_change(p, by_duration->tau_dot);
    add_load(p, 1, p->tau);
    add(by_duration->tau, p->tau, p->rows * W);
    if (!by_duration->tau_dot) return;
    find_efforts_by_q(p);
    add_load(p, nv, p->by[0]);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < nv; j++)
            for (size_t l = 0; l < W; l++)
                by_duration->tau_dot[i * W + l] += p->by[0][(i * nv + j) * W + l] * qd[j * W + l];
    set_wrenches(p, motion->wrench_rate_by_duration);
    find_efforts(p);
    add_load(p, 1, p->tau);
    add(by_duration->tau_dot, p->tau, p->rows * W);
}
