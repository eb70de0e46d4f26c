/* step_implicit.h - integrates one step by implicit Euler, for joints that are stiff. Part of step.c.
 *
 * The velocity v = qd+ solves r(v) = v - qd - h a(q * exp(h v), v) = 0. Newton's method uses the exact Jacobian
 *
 *     W = dr/dv = 1 - h (a_qd + h a_q by_u),
 *
 * from v = qd. At the solution, W dv = dqd + h (a_q by_q e + a_input dinput). */
#pragma once
#include "step_pass.h"

/* Newton's method ends when the change of v is below these limits. The remaining error is then of the order of the
 * square of the change. */
#ifdef DYN_COMPLEX
/* In tests with the complex step, the imaginary part of v is a derivative and converges later than the real part. All
 * steps are then taken. */
#define NEWTON_RELATIVE 0.0
#define NEWTON_ABSOLUTE 0.0
enum { NEWTON_STEPS = 8 };
#else
#define NEWTON_RELATIVE 1e-10
#define NEWTON_ABSOLUTE 1e-12 /* rad/s or m/s */
enum { NEWTON_STEPS = 50 };
#endif

/* A pivot below this counts as zero, for rows whose largest entry is 1. */
#define ZERO_PIVOT 1e-13

/* --- linear equations ------------------------------------------------------------------------------------------- */

/* The equations W X = Y, n x n and n x columns; X replaces Y, and W is overwritten. */
typedef struct linear_equations {
    dyn_deadline deadline;
    size_t       n, columns;
    lane        *W, *Y;
} linear_equations;

LANE_INLINE void swap_where(lane_mask m, lane *a, lane *b)
{
    lane x = *a;
    *a     = lane_select(m, *b, x);
    *b     = lane_select(m, x, *b);
}

/* Divides each row of W and Y by the largest entry of the row in W. */
static inline void equilibrate(const linear_equations *s)
{
    for (size_t i = 0; i < s->n && goes_on(s->deadline, s->n); i++) {
        lane most = lane_of(0);
        for (size_t j = 0; j < s->n; j++) {
            lane size = lane_abs(s->W[i * s->n + j]);
            most      = lane_select(lane_less(most, size), size, most);
        }
        lane scale = 1.0 / most;
        for (size_t j = 0; j < s->n; j++)
            s->W[i * s->n + j] = scale * s->W[i * s->n + j];
        for (size_t c = 0; c < s->columns; c++)
            s->Y[i * s->columns + c] = scale * s->Y[i * s->columns + c];
    }
}

/* Exchanges rows in each lane so that row k has the largest entry of column k among the rows from k on. */
static inline void choose_pivot(const linear_equations *s, size_t k)
{
    for (size_t i = k + 1; i < s->n && goes_on(s->deadline, s->n); i++) {
        lane_mask larger = lane_less(lane_abs(s->W[k * s->n + k]), lane_abs(s->W[i * s->n + k]));
        for (size_t j = k; j < s->n; j++)
            swap_where(larger, &s->W[k * s->n + j], &s->W[i * s->n + j]);
        for (size_t c = 0; c < s->columns; c++)
            swap_where(larger, &s->Y[k * s->columns + c], &s->Y[i * s->columns + c]);
    }
}

/* Subtracts `multiple` times row k from row i, in W from column k on and in Y. */
LANE_INLINE void subtract_row(const linear_equations *s, size_t i, size_t k, lane multiple)
{
    for (size_t j = k; j < s->n; j++)
        s->W[i * s->n + j] = sub_mul(s->W[i * s->n + j], multiple, s->W[k * s->n + j]);
    for (size_t c = 0; c < s->columns; c++)
        s->Y[i * s->columns + c] = sub_mul(s->Y[i * s->columns + c], multiple, s->Y[k * s->columns + c]);
}

/* Solves by Gauss-Jordan elimination with partial pivoting in every lane. Returns the lanes whose W is regular. Past
 * the deadline the solution is unfinished. */
static inline lane_mask solve_equations(const linear_equations *s)
{
    lane_mask regular = lane_less(lane_of(0), lane_of(1));
    equilibrate(s);
    for (size_t k = 0; k < s->n && goes_on(s->deadline, s->n); k++) {
        choose_pivot(s, k);
        lane pivot = s->W[k * s->n + k];
        regular &= lane_less(lane_of(ZERO_PIVOT), lane_abs(pivot));
        for (size_t i = 0; i < s->n && goes_on(s->deadline, s->n); i++)
            if (i != k) subtract_row(s, i, k, s->W[i * s->n + k] / pivot);
    }
    for (size_t k = 0; k < s->n && goes_on(s->deadline, s->n); k++)
        for (size_t c = 0; c < s->columns; c++)
            s->Y[k * s->columns + c] = s->Y[k * s->columns + c] / s->W[k * s->n + k];
    return regular;
}

/* --- Newton's method -------------------------------------------------------------------------------------------- */

/* Adds -h^2 a_q by_u of the joint with coordinate v to W (nv x nv), and writes h a_q by_q to `right`, nv x (2 nv +
 * inputs), unless it is NULL. */
static inline void joint_columns(const step_pass *p, const displacement_rates *rates, size_t v, lane *W, lane *right)
{
    const size_t nv = p->nv;
    const double h  = p->io->h;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < (size_t)rates->n; j++) {
            lane by_u = lane_of(0), by_q = lane_of(0);
            for (size_t k = 0; k < (size_t)rates->n; k++) {
                by_u = add_mul(by_u, p->a_q[i * nv + v + k], rates->by_u[k][j]);
                by_q = add_mul(by_q, p->a_q[i * nv + v + k], rates->by_q[k][j]);
            }
            W[i * nv + v + j] = sub_mul(W[i * nv + v + j], h * h, by_u);
            if (right) right[i * (2 * nv + p->inputs) + v + j] = h * by_q;
        }
}

/* Evaluates the acceleration a and its derivatives at position q * exp(h v) and velocity v. Sets W = dr/dv and, unless
 * `right` is NULL, h a_q by_q. */
static inline void implicit_evaluate(const step_pass *p, const lane *q, lane *W, lane *right)
{
    const dyn_model   *m  = p->scene->model;
    const size_t       nv = p->nv;
    displacement_rates rates;
    for (size_t i = 0; i < nv; i++)
        p->u[i] = p->io->h * p->v[i];
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic) displace_joint(&m->body[i], q, p->u, p->stage_q, NULL);
    step_evaluate(p, p->stage_q, p->v, true);
    for (size_t e = 0; e < nv * nv; e++)
        W[e] = -p->io->h * p->a_qd[e];
    for (size_t i = 0; i < nv; i++)
        W[i * nv + i] = 1.0 + W[i * nv + i];
    for (size_t i = 0; i < m->n_bodies; i++) {
        if (m->body[i].joint.mimic) continue;
        displace_joint(&m->body[i], q, p->u, p->stage_q, &rates);
        joint_columns(p, &rates, (size_t)m->body[i].joint.v, W, right);
    }
}

/* Returns the lanes in which the last change of v is negligible compared with v. */
static inline lane_mask is_negligible(const step_pass *p, const lane *change)
{
    lane most = lane_of(0), largest = lane_of(0);
    for (size_t i = 0; i < p->nv; i++) {
        lane size = lane_abs(p->v[i]), part = lane_abs(change[i]);
        largest = lane_select(lane_less(largest, size), size, largest);
        /* the maximum must keep a change that is not a number */
        most = lane_select(lane_less(part, most), most, part);
    }
    return lane_less(most, add_mul(NEWTON_ABSOLUTE, NEWTON_RELATIVE, largest));
}

/* Solves r(v) = 0 for v in every lane; a lane that has converged no longer changes. Returns false if may_continue ended
 * the iteration. */
static inline bool solve_velocity(const step_pass *p, const lane *q, const lane *qd, lane *W)
{
    const size_t nv     = p->nv;
    lane        *change = p->vectors;
    lane_mask    active = lane_less(lane_of(0), lane_of(1)), regular = active;
    for (size_t i = 0; i < nv; i++)
        p->v[i] = velocity_at(qd, i);
    for (int step = 0; step < NEWTON_STEPS && lane_any(active); step++) {
        *p->unsolved = lane_of(DYN_STEP_STOPPED);
        if (p->io->may_continue && !p->io->may_continue(p->io->clock)) return false;
        implicit_evaluate(p, q, W, NULL);
        for (size_t i = 0; i < nv; i++)
            change[i] = sub_mul(p->v[i] - velocity_at(qd, i), p->io->h, p->qdd[i]);
        regular &= solve_equations(&(linear_equations){p->scene->deadline, nv, 1, W, change}) | ~active;
        for (size_t i = 0; i < nv; i++)
            p->v[i] = lane_select(active, p->v[i] - change[i], p->v[i]);
        active &= ~is_negligible(p, change);
    }
    *p->unsolved = lane_select(active, lane_of(DYN_STEP_NOT_CONVERGED), lane_of(DYN_STEP_SOLVED));
    *p->unsolved = lane_select(regular, *p->unsolved, lane_of(DYN_STEP_SINGULAR));
    return true;
}

/* Sets the rows of the velocities in the matrices A and B, by solving W dv = dqd + h (a_q by_q e + a_input dinput). */
static inline void implicit_velocity_rows(const step_pass *p, const lane *q, lane *W, lane *X)
{
    const size_t nv = p->nv, inputs = p->inputs, columns = 2 * nv + inputs;
    clear(X, nv * columns);
    implicit_evaluate(p, q, W, X);
    for (size_t i = 0; i < nv; i++) {
        X[i * columns + nv + i] = lane_of(1);
        for (size_t c = 0; c < inputs; c++)
            X[i * columns + 2 * nv + c] = p->io->h * p->a_input[i * inputs + c];
    }
    lane_mask regular = solve_equations(&(linear_equations){p->scene->deadline, nv, columns, W, X});
    *p->unsolved      = lane_select(regular, *p->unsolved, lane_of(DYN_STEP_SINGULAR));
    for (size_t i = 0; i < nv; i++) {
        memcpy(p->A + (nv + i) * 2 * nv, X + i * columns, 2 * nv * sizeof *X);
        memcpy(p->B + (nv + i) * inputs, X + i * columns + 2 * nv, inputs * sizeof *X);
    }
}

/* Integrates one step with the accelerations and their derivatives. */
static inline void implicit_by_accelerations(const step_pass *p)
{
    const size_t nv = p->nv;
    const lane  *q  = block_in(p->io->q, 0, 0);
    lane        *W = p->matrices, *X = W + nv * nv;
    if (!solve_velocity(p, q, block_in(p->io->qd, 0, 0), W)) return;
    memcpy(block_out(p->io->qd_after, 0, 0), p->v, nv * sizeof *p->v);
    if (p->differentiates)
        implicit_velocity_rows(p, q, W, X);
    else if (p->io->contact_residual)
        implicit_evaluate(p, q, W, NULL); /* evaluates once more after the last change of v, in all lanes */
    step_put_residual(p);
    step_positions(p, q, p->v, true);
}
