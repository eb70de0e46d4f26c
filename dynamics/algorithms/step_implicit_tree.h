/* step_implicit_tree.h - integrates one step by implicit Euler with the zeros of a tree. Part of step.c.
 *
 * With the acceleration a = (v - qd) / h, the velocity v = qd+ solves the equation of inverse dynamics,
 *
 *     r(v) = ID(q * exp(h v), v, (v - qd) / h) - tau = 0,
 *     J = dr/dv = M / h + dID/dqd + h dID/dq by_u,
 *
 * by Newton's method from v = qd. At the solution
 *
 *     J dv = -dID/dq by_q e + M / h dqd + dtau - E dinput,
 *
 * where E are the derivatives of tau with respect to the other inputs. J has the pattern of zeros of M. For small steps
 * M / h dominates, so that J can be factored without exchanges of rows (row_products.h). In a lane where the factors
 * are not accurate, or where Newton's method does not converge, the step is that of step_implicit.h. */
#pragma once
#include "step_implicit.h"

enum { NEWTON_REFRESH = 4 }; /* number of Newton steps that use the same J */

/* One step, with the matrices of its last evaluation. */
typedef struct implicit_tree {
    const step_pass *p;
    const lane      *q, *qd;
    lane            *by_q, *by_qd, *mass; /* nv x nv: derivatives of inverse dynamics with respect to q, qd and qdd */
    lane            *change, *scale; /* [nv] each: change of v in a step of Newton's method; sizes of the rows of J */
    lane            *X;              /* nv x columns: right sides, then the derivatives of v */
    size_t           columns;        /* number of columns of X: 2 nv for e and dqd, then the inputs */
    tree_equations   equations;
} implicit_tree;

static inline implicit_tree implicit_tree_place(const step_pass *p)
{
    const size_t nv = p->nv;
    return (implicit_tree){
        .p         = p,
        .q         = block_in(p->io->q, 0, 0),
        .qd        = block_in(p->io->qd, 0, 0),
        .by_q      = p->a_q,
        .by_qd     = p->a_qd,
        .mass      = p->a_tau,
        .change    = p->vectors,
        .scale     = p->vectors + nv,
        .X         = p->matrices + nv * nv,
        .columns   = 2 * nv + p->inputs,
        .equations = {p->scene->deadline, &p->tree, nv, p->matrices, p->vectors + nv, p->vectors + 2 * nv}};
}

/* --- one evaluation --------------------------------------------------------------------------------------------- */

/* Sets the columns of J for a joint with a quaternion. */
static inline void free_columns(const implicit_tree *t, const displacement_rates *rates, size_t v)
{
    const size_t nv = t->p->nv;
    const double h  = t->p->io->h;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < (size_t)rates->n; j++) {
            const size_t e      = i * nv + v + j;
            lane         by_u_j = lane_of(0);
            for (size_t k = 0; k < (size_t)rates->n; k++)
                by_u_j = add_mul(by_u_j, t->by_q[i * nv + v + k], rates->by_u[k][j]);
            t->equations.J[e] = add_mul(add_mul(t->by_qd[e], 1 / h, t->mass[e]), h, by_u_j);
        }
}

/* Sets the displacement, the position and the acceleration that belong to the velocity v. */
static inline void tree_move(const implicit_tree *t)
{
    const step_pass *p = t->p;
    const dyn_model *m = p->scene->model;
    for (size_t i = 0; i < p->nv; i++) {
        p->u[i]   = p->io->h * p->v[i];
        p->qdd[i] = (p->v[i] - velocity_at(t->qd, i)) / p->io->h;
    }
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic) displace_joint(&m->body[i], t->q, p->u, p->stage_q, NULL);
}

/* Sets J from the derivatives of inverse dynamics, and the scales of its rows for row_products.h. */
static inline void tree_set_jacobian(const implicit_tree *t)
{
    const step_pass   *p  = t->p;
    const dyn_model   *m  = p->scene->model;
    const size_t       nv = p->nv;
    const double       h  = p->io->h;
    displacement_rates rates;
    for (size_t e = 0; e < nv * nv; e++)
        t->equations.J[e] = add_mul(add_mul(t->by_qd[e], 1 / h, t->mass[e]), h, t->by_q[e]);
    for (size_t i = 0; m->n_quaternions > 0 && i < m->n_bodies; i++) {
        if (!dyn_joint_has_quaternion(m->body[i].joint.kind)) continue;
        displace_joint(&m->body[i], t->q, p->u, p->stage_q, &rates);
        free_columns(t, &rates, (size_t)m->body[i].joint.v);
    }
    for (size_t i = 0; i < nv; i++)
        t->scale[i] = add_mul(lane_abs(t->equations.J[i * nv + i]), 1 / h, t->mass[i * nv + i]);
}

/* Differentiates inverse dynamics at the state that tree_move has set, and factors J. zeros_are_set: the matrices of
 * derivatives hold another state of this model. Returns the lanes in which the factors are accurate. */
static inline lane_mask tree_differentiate(const implicit_tree *t, bool zeros_are_set)
{
    const step_pass      *p  = t->p;
    const dyn_sensitivity io = {.q             = (const double *)p->stage_q,
                                .qd            = (const double *)p->v,
                                .qdd           = (const double *)p->qdd,
                                .wrenches      = p->io->wrenches,
                                .zeros_are_set = zeros_are_set,
                                .dtau_dq       = (double *)t->by_q,
                                .dtau_dqd      = (double *)t->by_qd,
                                .dtau_dqdd     = (double *)t->mass};
    LANE_NAME(sensitivity)(p->scene, p->memory, &io, 1);
    tree_set_jacobian(t);
    return tree_factor(&t->equations);
}

/* Finds, by factoring M, the first body whose pivot is zero up to rounding. Overwrites X and the reciprocals of J. */
static inline void tree_find_singular(const implicit_tree *t)
{
    const step_pass *p    = t->p;
    const size_t     nv   = p->nv;
    tree_equations   mass = t->equations;
    mass.J                = t->X;
    memcpy(mass.J, t->mass, nv * nv * sizeof *mass.J);
    tree_factor(&mass);
    for (int k = (int)nv - 1; k >= 0; k--)
        *p->singular = first_singular(*p->singular, p->scene->model, &p->tree.coordinates, t->mass, k,
                                      mass.J[(size_t)k * (nv + 1)]);
}

/* --- Newton's method -------------------------------------------------------------------------------------------- */

/* Sets t->change (nv), the change of v by one step of Newton's method. */
static inline void tree_newton_step(const implicit_tree *t)
{
    const step_pass           *p   = t->p;
    const lane                *tau = block_in(p->io->tau, 0, 0);
    const dyn_inverse_dynamics io  = {.q        = (const double *)p->stage_q,
                                      .qd       = (const double *)p->v,
                                      .qdd      = (const double *)p->qdd,
                                      .wrenches = p->io->wrenches,
                                      .tau      = (double *)t->change};
    LANE_NAME(inverse_dynamics)(p->scene, p->memory, &io, 1);
    for (size_t i = 0; tau && i < p->nv; i++)
        t->change[i] -= tau[i];
    tree_solve(&t->equations, &(tree_columns){t->change, 1, 0, 1, 0, p->nv});
}

/* Solves r(v) = 0 for the velocity v after the step in every lane; a lane that has converged no longer changes. Returns
 * false if may_continue ended the iteration. Sets *solved to the lanes that converged with accurate factors. */
static inline bool tree_solve_velocity(const implicit_tree *t, lane_mask *solved)
{
    const step_pass *p      = t->p;
    lane_mask        active = lane_less(lane_of(0), lane_of(1));
    *solved                 = active;
    for (size_t i = 0; i < p->nv; i++)
        p->v[i] = velocity_at(t->qd, i);
    for (int step = 0; step < NEWTON_STEPS && lane_any(active); step++) {
        *p->unsolved = lane_of(DYN_STEP_STOPPED);
        if (p->io->may_continue && !p->io->may_continue(p->io->clock)) return false;
        tree_move(t);
        if (step % NEWTON_REFRESH == 0) *solved &= tree_differentiate(t, step > 0) | ~active;
        active &= *solved;
        tree_newton_step(t);
        for (size_t i = 0; i < p->nv; i++)
            p->v[i] = lane_select(active, p->v[i] - t->change[i], p->v[i]);
        active &= ~is_negligible(p, t->change);
    }
    tree_move(t);
    *solved &= tree_differentiate(t, true) & ~active;
    tree_newton_step(t);
    *solved &= is_negligible(p, t->change);
    for (size_t i = 0; i < p->nv; i++)
        p->v[i] = p->v[i] - t->change[i];
    *p->unsolved = lane_of(DYN_STEP_SOLVED);
    return true;
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Sets the right sides of J dv for the derivatives with respect to q: -dID/dq by_q. */
static inline void tree_position_columns(const implicit_tree *t)
{
    const step_pass   *p  = t->p;
    const dyn_model   *m  = p->scene->model;
    const size_t       nv = p->nv;
    displacement_rates rates;
    for (size_t b = 0; b < m->n_bodies; b++) {
        const size_t v = (size_t)m->body[b].joint.v;
        if (m->body[b].joint.mimic) continue;
        displace_joint(&m->body[b], t->q, p->u, p->stage_q, &rates);
        for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++)
            for (size_t j = 0; j < (size_t)rates.n; j++) {
                lane sum = lane_of(0);
                for (size_t k = 0; k < (size_t)rates.n; k++)
                    sum = sub_mul(sum, t->by_q[i * nv + v + k], rates.by_q[k][j]);
                t->X[i * t->columns + v + j] = sum;
            }
    }
}

/* Sets the right sides of J dv for the derivatives with respect to qd, to tau and to the other inputs: M / h, 1 and -E.
 */
static inline void tree_other_columns(const implicit_tree *t)
{
    const step_pass *p  = t->p;
    const size_t     nv = p->nv, wrenches = p->io->wrench_matrix ? p->scene->n_wrenches : 0;
    const size_t     parameters = p->inputs - nv - 6 * wrenches;
    for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++) {
        lane *row = t->X + i * t->columns + nv;
        for (size_t j = 0; j < nv; j++)
            row[j] = 1 / p->io->h * t->mass[i * nv + j];
        clear(row + nv, nv);
        row[nv + i] = lane_of(1);
        for (size_t w = 0; w < wrenches; w++)
            for (size_t c = 0; c < 6; c++)
                row[2 * nv + 6 * w + c] = -p->efforts[(w * nv + i) * 6 + c];
        for (size_t c = 0; c < parameters; c++)
            row[2 * nv + 6 * wrenches + c] = -p->efforts[nv * 6 * wrenches + i * parameters + c];
    }
}

/* Sets the rows of the velocities in A and B, with the factors of J. */
static inline void tree_velocity_rows(const implicit_tree *t)
{
    const step_pass *p  = t->p;
    const size_t     nv = p->nv;
    if (p->inputs > nv) step_set_efforts(p, p->stage_q, p->v);
    tree_position_columns(t);
    tree_other_columns(t);
    for (size_t first = 0, end; first < nv && goes_on(p->scene->deadline, nv); first = end) {
        end = step_part_end(p, first);
        for (size_t c = 0; c < 3 * nv; c += nv)
            tree_solve(&t->equations, &(tree_columns){t->X, t->columns, c + first, c + end, first, end});
        tree_solve(&t->equations, &(tree_columns){t->X, t->columns, 3 * nv, t->columns, first, end});
    }
    for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++) {
        memcpy(p->A + (nv + i) * 2 * nv, t->X + i * t->columns, 2 * nv * sizeof *t->X);
        memcpy(p->B + (nv + i) * p->inputs, t->X + i * t->columns + 2 * nv, p->inputs * sizeof *t->X);
    }
}

/* --- the step --------------------------------------------------------------------------------------------------- */

/* Number of arrays that replace_lanes keeps: q_after, qd_after, singular, unsolved, A and B. */
enum { STEP_RESULTS = 6 };

/* Keeps the results of the lanes `solved`. Replaces those of the other lanes by the results of step_implicit.h. */
static inline void replace_lanes(const step_pass *p, lane_mask solved, lane *kept)
{
    const size_t nv                   = p->nv;
    lane *const  result[STEP_RESULTS] = {
         block_out(p->io->q_after, 0, 0), block_out(p->io->qd_after, 0, 0), p->singular, p->unsolved, p->A, p->B};
    const size_t n[STEP_RESULTS] = {(size_t)p->scene->model->nq,
                                    nv,
                                    1,
                                    1,
                                    p->differentiates ? 4 * nv * nv : 0,
                                    p->differentiates ? 2 * nv * p->inputs : 0};
    for (size_t r = 0, e = 0; r < STEP_RESULTS; e += n[r++])
        memcpy(kept + e, result[r], n[r] * sizeof *kept);
    *p->singular = lane_of(-1);
    implicit_by_accelerations(p);
    for (size_t r = 0; r < STEP_RESULTS; r++)
        for (size_t i = 0; i < n[r]; i++, kept++)
            result[r][i] = lane_select(solved, *kept, result[r][i]);
}

static inline void implicit_euler(const step_pass *p)
{
    const implicit_tree t = implicit_tree_place(p);
    lane_mask           solved;
    if (step_connects_parts(p) || scene_has_load(p->scene)) {
        implicit_by_accelerations(p);
        return;
    }
    if (!tree_solve_velocity(&t, &solved)) return;
    memcpy(block_out(p->io->qd_after, 0, 0), p->v, p->nv * sizeof *p->v);
    if (p->differentiates) tree_velocity_rows(&t);
    tree_find_singular(&t);
    step_positions(p, t.q, p->v, true);
    if (lane_any(~solved) && goes_on(p->scene->deadline, p->nv)) replace_lanes(p, solved, t.X + p->nv * t.columns);
}
