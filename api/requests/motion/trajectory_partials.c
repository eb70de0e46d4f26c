/* trajectory_partials.c - differentiates torques with respect to the state of a trajectory (trajectory_partials.h). */
#include "trajectory_partials.h"
#include "dynamics/trajectory_gradients/coordinate_change.h"
#include "dynamics/trajectory_gradients/torque_rate_partials.h"
#include "wrench_rate_terms.h"
#include <string.h>

static bool wrenches_change(const api_trajectory_task *task)
{
    return task->motion->wrenches.n > 0;
}

size_t api_trajectory_partials_entries(const api_model *model, const api_trajectory_task *task, size_t n_wrenches)
{
    const size_t nv = model->nv, rows = nv + task->followers->n, wrenches = 6 * model->n_bodies;
    size_t       sum = 3 * rows * nv * (task->rate ? 2 : 1) + 2 * rows + nv + wrenches;
    sum += api_mimics_room(task->followers, true);
    if (task->wrenches) sum += 3 * wrenches * nv;
    if (task->efforts->driven) sum += 3 * nv * nv + api_trajectory_free_room(nv);
    if (wrenches_change(task)) sum += api_wrench_terms_entries(model, n_wrenches, task->followers);
    return sum;
}

/* Reserves three matrices, rows x nv, from the scratch lanes at *next; none if they are not wanted. */
static dyn_partials take(const api_evaluation *e, size_t rows, bool wanted, double **next)
{
    dyn_partials p    = {.rows = wanted ? rows : 0, .orders = 3};
    size_t       size = rows * e->model->nv * e->lanes;
    for (size_t r = 0; wanted && r < 3; r++, *next += size)
        p.by[r] = *next;
    return p;
}

/* Reserves a vector of `entries` numbers per state in the scratch lanes at *next, and fills it with zeros. Returns NULL
 * and reserves nothing unless the vector is wanted. */
static double *take_zeros(const api_evaluation *e, size_t entries, bool wanted, double **next)
{
    double *vector = *next;
    if (!wanted) return NULL;
    memset(vector, 0, entries * e->lanes * sizeof *vector);
    *next += entries * e->lanes;
    return vector;
}

static void sensitivities(const api_evaluation *e, size_t block, const dyn_partials *tau, const dyn_partials *wrenches)
{
    dyn_sensitivity io = {
        .q                    = api_state_block(e, API_Q, block),
        .qd                   = api_state_block(e, API_QD, block),
        .qdd                  = api_state_block(e, API_QDD, block),
        .wrenches             = api_wrench_block(e, block),
        .dtau_dq              = tau->by[0],
        .dtau_dqd             = tau->by[1],
        .dtau_dqdd            = tau->by[2],
        .djoint_wrenches_dq   = wrenches->by[0],
        .djoint_wrenches_dqd  = wrenches->by[1],
        .djoint_wrenches_dqdd = wrenches->by[2],
    };
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
}

/* Sets rate->by[0] to [2] to the time derivatives of the matrices of tau in the first nv rows. */
static void differentiate_matrices(const api_evaluation *e, size_t block, const dyn_partials *rate)
{
    dyn_sensitivity_rate io = {
        .q             = api_state_block(e, API_Q, block),
        .qd            = api_state_block(e, API_QD, block),
        .qdd           = api_state_block(e, API_QDD, block),
        .qddd          = api_state_block(e, API_QDDD, block),
        .wrenches      = api_wrench_block(e, block),
        .dtau_dq_dot   = rate->by[0],
        .dtau_dqd_dot  = rate->by[1],
        .dtau_dqdd_dot = rate->by[2],
    };
    e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &io, 1);
}

/* Sets the rows of mimic joints: the derivatives of their efforts and, with task->rate, the time derivatives of these.
 */
static void differentiate_followers(const api_evaluation *e, const api_trajectory_task *task, size_t block,
                                    const dyn_torque_partials *p, double *room)
{
    const size_t                first  = e->model->nv * e->model->nv * e->lanes;
    const api_mimic_block       b      = api_mimic_block_of(e, task->followers, room);
    const dyn_torque_derivative motion = {.q        = api_state_block(e, API_Q, block),
                                          .qd       = api_state_block(e, API_QD, block),
                                          .qdd      = api_state_block(e, API_QDD, block),
                                          .qddd     = api_state_block(e, API_QDDD, block),
                                          .wrenches = api_wrench_block(e, block)};
    double                     *by[3], *rates_by[3];
    for (size_t r = 0; r < 3; r++) {
        by[r]       = p->tau.by[r] + first;
        rates_by[r] = task->rate ? p->rate.by[r] + first : NULL;
    }
    api_mimic_sensitivity(&b, &motion, by, task->rate ? rates_by : NULL);
}

/* Converts the partial derivatives to those with respect to the spline's coordinates. p->rate.by[3] is the same array
 * as p->tau.by[2], and is converted with it. */
static void change_coordinates(const dyn_motion_block *b, const dyn_torque_partials *p)
{
    const dyn_partials *list[] = {&p->tau, &p->wrenches, &p->qdd};
    dyn_change_partials(b, &p->rate);
    for (size_t i = 0; i < 3; i++) {
        dyn_change_partials(b, list[i]);
        dyn_change_highest_partial(b, list[i]->rows, list[i]->by[2]);
    }
}

void api_trajectory_differentiate(const api_evaluation *e, const api_trajectory_task *task, size_t block,
                                  dyn_torque_partials *p, double *room)
{
    const size_t nv = e->model->nv, rows = nv + task->followers->n, wrenches = 6 * e->model->n_bodies;
    const bool   is_free = task->efforts->driven != NULL, changes = wrenches_change(task),
               terms_exist          = is_free || changes;
    double *followers               = room;
    double *next                    = api_behind(e, room, api_mimics_room(task->followers, true), 1);
    p->tau                          = take(e, rows, true, &next);
    p->rate                         = take(e, rows, task->rate, &next);
    p->wrenches                     = take(e, wrenches, task->wrenches, &next);
    p->qdd                          = take(e, nv, is_free, &next);
    p->tau.by_duration              = take_zeros(e, rows, terms_exist, &next);
    p->rate.by_duration             = take_zeros(e, rows, terms_exist && task->rate, &next);
    p->qdd.by_duration              = take_zeros(e, nv, is_free, &next);
    p->wrenches.by_duration         = take_zeros(e, wrenches, terms_exist && task->wrenches, &next);
    const api_duration_terms terms  = {p->tau.by_duration, p->rate.by_duration, p->qdd.by_duration,
                                       p->wrenches.by_duration};
    api_wrench_terms         pushed = api_wrench_terms_lay_out(e, block, task->followers, next);
    if (changes)
        next = api_behind(e, next, api_wrench_terms_entries(e->model, e->query->scene.n_wrenches, task->followers), 1);
    sensitivities(e, block, &p->tau, &p->wrenches);
    if (task->rate) differentiate_matrices(e, block, &p->rate);
    if (task->followers->n > 0) differentiate_followers(e, task, block, p, followers);
    if (task->rate) dyn_torque_rate_partials(task->samples, api_state_block(e, API_QD, block), &p->tau, &p->rate);
    if (changes) api_wrench_terms_find_load(&pushed);
    if (task->rate && changes) api_wrench_terms_add_by_state(&pushed, p->rate.by[0], p->rate.by[1]);
    if (changes) api_wrench_terms_add_by_duration(&pushed, task->motion, &terms);
    if (is_free) api_trajectory_free_partials(e, task->efforts, block, p, next);
    change_coordinates(task->samples, p);
}
