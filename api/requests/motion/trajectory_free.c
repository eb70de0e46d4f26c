/* trajectory_free.c - see trajectory_free.h. */
#include "trajectory_free.h"
#include "api/requests/evaluate/free_motion.h"
#include <string.h>

/* --- motion ------------------------------------------------------------------------------------------------------- */

size_t api_trajectory_free_motion_room(size_t nv)
{
    return 1 + nv + api_free_jerks_room(nv);
}

/* Sets the entries of free coordinates to zero. */
static void clear_free(const api_evaluation *e, const api_free_efforts *f, double *lanes)
{
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        if (!f->driven[i / e->lanes]) lanes[i] = 0;
}

bool api_trajectory_free_motion(const api_evaluation *e, const api_free_efforts *f, size_t block, bool jerks,
                                double *room)
{
    const size_t          nv = e->model->nv, size = nv * e->lanes;
    double               *qdd   = api_block(e, e->plan->state[API_QDD], nv, block);
    double               *qddd  = api_block(e, e->plan->state[API_QDDD], nv, block);
    double               *found = api_behind(e, room, 1, 1), *next = api_behind(e, found, nv, 1);
    dyn_torque_derivative io = {.q            = api_state_block(e, API_Q, block),
                                .qd           = api_state_block(e, API_QD, block),
                                .qdd          = qdd,
                                .qddd         = qddd,
                                .wrenches     = api_wrench_block(e, block),
                                .wrench_rates = api_wrench_rate_block(e, block)};
    clear_free(e, f, qdd);
    if (!api_free_accelerations(e, f->driven, room, found, block, 1)) return false;
    memcpy(qdd, found, size * sizeof *qdd);
    if (jerks) api_free_jerks(e, f->driven, &io, api_block(e, f->rates, nv, block), qddd, next);
    return true;
}

void api_trajectory_free_restore(const api_evaluation *e, const api_free_efforts *f, size_t block, double *tau,
                                 double *tau_dot)
{
    const size_t  W = e->lanes, nv = e->model->nv;
    const double *rates = api_block(e, f->rates, nv, block);
    if (tau) api_free_restore(e, f->driven, block, 1, tau);
    for (size_t i = 0; tau_dot && i < nv * W; i++)
        if (!f->driven[i / W]) tau_dot[i] = rates ? rates[i] : 0;
}

/* --- derivatives ----------------------------------------------------------------------------------------------------
 */

size_t api_trajectory_free_room(size_t nv)
{
    return 2 * nv * nv + nv + dyn_free_room(nv);
}

/* y += dy/dqdd_F x for vectors x of free coordinates in b->x, y with `rows` rows, in one lane. */
static void add_to_vector(const dyn_free_block *b, size_t lane, size_t rows, const double *dy_dqdd, double *y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < b->n; i++)
            y[r * b->W + lane] += dy_dqdd[(r * b->nv + b->free[i]) * b->W + lane] * b->x[i];
}

/* Returns the rows of mimic joints, which are behind the nv rows of the coordinates. */
static dyn_partials followers_of(const dyn_free_block *b, const dyn_partials *y)
{
    dyn_partials rows = {.rows = y->rows - b->nv, .orders = y->orders};
    for (size_t r = 0; r < y->orders; r++)
        rows.by[r] = y->by[r] + b->nv * b->nv * b->W;
    return rows;
}

/* Solves M_FF x = given_F - y_F in one lane, adds M_F x to y, and sets y_F to given_F. given NULL: zeros. */
static void satisfy(const dyn_free_block *b, size_t lane, const double *given, double *y)
{
    for (size_t i = 0; i < b->n; i++) {
        const size_t at = b->free[i] * b->W + lane;
        b->x[i]         = (given ? given[at] : 0) - y[at];
    }
    dyn_free_solve(b);
    add_to_vector(b, lane, b->nv, b->M, y);
    for (size_t i = 0; i < b->n; i++) {
        const size_t at = b->free[i] * b->W + lane;
        y[at]           = given ? given[at] : 0;
    }
}

/* Completes the derivatives by the duration. The partial derivatives p are those at given accelerations. */
static void complete_terms(const api_evaluation *e, const api_free_efforts *f, const dyn_free_block *b, size_t block,
                           size_t lane, const api_trajectory_partials *p, const api_duration_terms *terms)
{
    const dyn_partials followers = followers_of(b, &p->tau);
    double            *tail      = terms->tau + b->nv * b->W;
    satisfy(b, lane, api_block(e, f->by_duration, b->nv, block), terms->tau);
    add_to_vector(b, lane, followers.rows, followers.by[2], tail);
    for (size_t i = 0; i < b->n; i++)
        terms->qdd[b->free[i] * b->W + lane] = b->x[i];
    if (terms->joint_wrenches) add_to_vector(b, lane, p->wrenches.rows, p->wrenches.by[2], terms->joint_wrenches);
    if (!terms->tau_dot) return;
    tail = terms->tau_dot + b->nv * b->W;
    add_to_vector(b, lane, p->rate.rows, p->rate.by[2], terms->tau_dot);
    satisfy(b, lane, api_block(e, f->rates_by_duration, b->nv, block), terms->tau_dot);
    add_to_vector(b, lane, followers.rows, followers.by[2], tail);
}

/* Adds the change by the accelerations to the partial derivatives of a result, those by qdd last. */
static void follow(const dyn_free_block *b, size_t lane, const dyn_partials *y, const dyn_partials *qdd)
{
    for (size_t r = 0; r < 3; r++)
        dyn_free_add(b, lane, y->rows, y->by[2], qdd->by[r], y->by[r]);
    dyn_free_clear_columns(b, lane, y->rows, y->by[2]);
}

/* Eliminates the jerks of free coordinates from the derivatives of tau_dot in one lane. `jerk` is nv x nv: the
 * derivatives of these jerks by one of q, qd and qdd. */
static void reduce_rates(const dyn_free_block *b, size_t lane, const api_trajectory_partials *p, double *jerk)
{
    const dyn_partials tau = followers_of(b, &p->tau), rate = followers_of(b, &p->rate);
    follow(b, lane, &p->rate, &p->qdd);
    for (size_t r = 0; r < 3; r++) {
        dyn_free_differentiate(b, lane, b->nv, p->rate.by[r], jerk);
        dyn_free_add(b, lane, rate.rows, tau.by[2], jerk, rate.by[r]);
    }
}

/* `jerk` is scratch, nv x nv. */
static void reduce(const api_free_efforts *f, const dyn_free_block *b, size_t lane, const api_trajectory_partials *p,
                   double *jerk)
{
    const size_t       nv        = b->nv;
    const dyn_partials followers = followers_of(b, &p->tau);
    for (size_t r = 0; r < 3; r++)
        dyn_free_differentiate(b, lane, nv, p->tau.by[r], p->qdd.by[r]);
    dyn_free_clear_columns(b, lane, nv, p->tau.by[2]);
    dyn_free_clear_columns(b, lane, nv, p->qdd.by[2]);
    if (p->wrenches.rows > 0) follow(b, lane, &p->wrenches, &p->qdd);
    if (p->rate.rows > 0) reduce_rates(b, lane, p, jerk);
    follow(b, lane, &followers, &p->qdd);
    if (p->by_parameters) dyn_free_differentiate(b, lane, p->columns, p->by_parameters, NULL);
    for (size_t v = 0; v < nv; v++)
        if (f->driven[v]) p->qdd.by[2][(v * nv + v) * b->W + lane] = 1;
}

void api_trajectory_free_partials(const api_evaluation *e, const api_free_efforts *f, size_t block,
                                  const api_trajectory_partials *p, const api_duration_terms *terms, double *room)
{
    const size_t               nv = e->model->nv, W = e->lanes;
    double                    *jerk = api_behind(e, room, nv * nv, 1), *load = api_behind(e, jerk, nv * nv, 1);
    const dyn_inverse_dynamics at = {.q        = api_state_block(e, API_Q, block),
                                     .qd       = api_state_block(e, API_QD, block),
                                     .qdd      = api_state_block(e, API_QDD, block),
                                     .wrenches = api_wrench_block(e, block)};
    memcpy(room, p->tau.by[2], nv * nv * W * sizeof *room);
    dyn_free_block b = dyn_free_lay_out(nv, W, f->driven, room, api_behind(e, load, nv, 1));
    b.load           = api_free_find_load(e, at, load);
    for (size_t lane = 0; lane < W; lane++) {
        dyn_free_factor(&b, lane);
        complete_terms(e, f, &b, block, lane, p, terms);
        reduce(f, &b, lane, p, jerk);
    }
}
