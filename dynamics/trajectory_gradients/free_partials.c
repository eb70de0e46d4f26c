/* free_partials.c - differentiates torques along motions with free coordinates (free_partials.h). */
#include "free_partials.h"

/* Adds dy/dqdd_F x to y, which has `rows` rows, in one lane: x is b->x, a vector of the free coordinates F. */
static void add_to_vector(const dyn_free_block *b, size_t lane, size_t rows, const double *dy_dqdd, double *y)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < b->n; i++)
            y[r * b->W + lane] += dy_dqdd[(r * b->nv + b->free[i]) * b->W + lane] * b->x[i];
}

/* Returns the rows of mimic joints, which come after the nv rows of the coordinates. */
static dyn_partials followers_of(const dyn_free_block *b, const dyn_partials *y)
{
    dyn_partials rows = {.rows = y->rows - b->nv, .orders = y->orders};
    for (size_t r = 0; r < y->orders; r++)
        rows.by[r] = y->by[r] + b->nv * b->nv * b->W;
    return rows;
}

/* Solves M_FF x = wanted_F - y_F in one lane, adds M_F x to y, and sets y_F to wanted_F. F are the free coordinates,
 * M_F their columns of M; x is b->x. wanted NULL: zeros. */
static void satisfy(const dyn_free_block *b, size_t lane, const double *wanted, double *y)
{
    for (size_t i = 0; i < b->n; i++) {
        const size_t entry = b->free[i] * b->W + lane;
        b->x[i]            = (wanted ? wanted[entry] : 0) - y[entry];
    }
    dyn_free_solve(b);
    add_to_vector(b, lane, b->nv, b->M, y);
    for (size_t i = 0; i < b->n; i++) {
        const size_t entry = b->free[i] * b->W + lane;
        y[entry]           = wanted ? wanted[entry] : 0;
    }
}

/* Adds to the derivatives by the duration the part that comes from the accelerations and jerks of free coordinates. On
 * entry p has the partial derivatives at given accelerations. */
static void complete_terms(const dyn_free_motion *m, size_t lane, const dyn_torque_partials *p)
{
    const dyn_free_block *b         = &m->block;
    const dyn_partials    followers = followers_of(b, &p->tau);
    double               *tail      = p->tau.by_duration + b->nv * b->W;
    satisfy(b, lane, m->by_duration, p->tau.by_duration);
    add_to_vector(b, lane, followers.rows, followers.by[2], tail);
    for (size_t i = 0; i < b->n; i++)
        p->qdd.by_duration[b->free[i] * b->W + lane] = b->x[i];
    if (p->wrenches.by_duration) add_to_vector(b, lane, p->wrenches.rows, p->wrenches.by[2], p->wrenches.by_duration);
    if (!p->rate.by_duration) return;
    tail = p->rate.by_duration + b->nv * b->W;
    add_to_vector(b, lane, p->rate.rows, p->rate.by[2], p->rate.by_duration);
    satisfy(b, lane, m->rates_by_duration, p->rate.by_duration);
    add_to_vector(b, lane, followers.rows, followers.by[2], tail);
}

/* Adds to the partial derivatives of a result y the part that comes from the accelerations of free coordinates. The
 * derivative by qdd is changed last, since the others need it. */
static void follow(const dyn_free_block *b, size_t lane, const dyn_partials *y, const dyn_partials *qdd)
{
    for (size_t r = 0; r < 3; r++)
        dyn_free_add(b, lane, y->rows, y->by[2], qdd->by[r], y->by[r]);
    dyn_free_clear_columns(b, lane, y->rows, y->by[2]);
}

/* Eliminates the jerks of free coordinates from the derivatives of tau_dot in one lane. `jerk` is nv x nv: the
 * derivatives of these jerks by one of q, qd and qdd. */
static void reduce_rates(const dyn_free_block *b, size_t lane, const dyn_torque_partials *p, double *jerk)
{
    const dyn_partials tau = followers_of(b, &p->tau), rate = followers_of(b, &p->rate);
    follow(b, lane, &p->rate, &p->qdd);
    for (size_t r = 0; r < 3; r++) {
        dyn_free_differentiate(b, lane, b->nv, p->rate.by[r], jerk);
        dyn_free_add(b, lane, rate.rows, tau.by[2], jerk, rate.by[r]);
    }
}

static void reduce(const dyn_free_motion *m, size_t lane, const dyn_torque_partials *p)
{
    const dyn_free_block *b         = &m->block;
    const size_t          nv        = b->nv;
    const dyn_partials    followers = followers_of(b, &p->tau);
    for (size_t r = 0; r < 3; r++)
        dyn_free_differentiate(b, lane, nv, p->tau.by[r], p->qdd.by[r]);
    dyn_free_clear_columns(b, lane, nv, p->tau.by[2]);
    dyn_free_clear_columns(b, lane, nv, p->qdd.by[2]);
    if (p->wrenches.rows > 0) follow(b, lane, &p->wrenches, &p->qdd);
    if (p->rate.rows > 0) reduce_rates(b, lane, p, m->jerk);
    follow(b, lane, &followers, &p->qdd);
    if (p->by_parameters) dyn_free_differentiate(b, lane, p->columns, p->by_parameters, NULL);
    for (size_t v = 0; v < nv; v++)
        if (m->driven[v]) p->qdd.by[2][(v * nv + v) * b->W + lane] = 1;
}

void dyn_free_partials(const dyn_free_motion *m, const dyn_torque_partials *p)
{
    for (size_t lane = 0; lane < m->block.W; lane++) {
        dyn_free_factor(&m->block, lane);
        complete_terms(m, lane, p);
        reduce(m, lane, p);
    }
}
