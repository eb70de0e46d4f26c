/* held_impact.h - finds the velocities after a plastic impact that stops frames along their held directions, and their
 * derivatives. Part of step.c.
 *
 * With the impulses p along the held directions (held_frames.h),
 *
 *     M (v - qd) = J^T p,  J v = 0,  so that p = -G^-1 J qd and v = qd + M^-1 J^T p.
 *
 * These are the equations of held frames at rest, without gravity, springs and friction: v - qd is the acceleration
 * that the wrenches p cause, and v takes the place of the acceleration in J qdd + J' qd. With a_q the derivative of
 * M^-1 J^T p at constant p, C_q that of J v at constant v, and P = G^-1 J M^-1,
 *
 *     dv/dq = a_q - P^T (J a_q + C_q),  dv/dqd = 1 - P^T J,
 *     dv/dparameters = -(dv/dqd) M^-1 R, with the regressor R of M (v - qd). */
#pragma once
#include "step_pass.h"

typedef struct held_impact {
    dyn_scene   scene; /* the robot at rest, without gravity, springs and friction */
    dyn_step    io;    /* the caller's step with tau and wrenches NULL */
    held_system held;
    lane       *v, *change, *row; /* [nv] each: velocities v after the impact; v - qd; scratch */
    lane       *v_q, *v_qd;       /* [nv x nv] each: dv/dq, dv/dqd */
    lane       *admittance;       /* [nv x nv] K = (dv/dqd) M^-1: velocities per unit of impulse on the coordinates */
    lane       *regressor;        /* [nv x 10 n_rows] the regressor of M (v - qd) */
} held_impact;

/* Lays out the arrays of the impact: those of held_frames.h, then v and the members after it. */
static inline void impact_place(held_impact *i, const dyn_scene *scene, const dyn_step *io, const held_workspace *ws,
                                lane *work)
{
    const size_t nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    i->scene  = (dyn_scene){.model = scene->model, .deadline = scene->deadline};
    i->io     = *io;
    i->io.tau = i->io.wrenches = NULL;
    i->io.damping              = 0;
    i->io.sites                = io->sites + nw;
    i->held                    = held_place(&i->scene, &i->io, ws, work);
    i->v                       = work + dyn_step_held_work(scene->model, nw, io->n_held, i->held.k);
    i->change                  = i->v + nv;
    i->row                     = i->change + nv;
    i->v_q                     = i->row + nv;
    i->v_qd                    = i->v_q + nv * nv;
    i->admittance              = i->v_qd + nv * nv;
    i->regressor               = i->admittance + nv * nv;
}

/* Sets dv/dqd = 1 - P^T J (nv x nv), with P = G^-1 J M^-1 (held_derivatives.h): v are the velocities after the impact.
 */
static inline void impact_set_v_qd(const held_impact *i)
{
    const held_system *h       = &i->held;
    const size_t       nv      = h->nv;
    const row_product  product = {.deadline = h->free.deadline,
                                  .A        = h->P,
                                  .A_row    = 1,
                                  .A_term   = nv,
                                  .X        = h->J,
                                  .stride   = nv,
                                  .n        = h->k,
                                  .S        = i->v_qd,
                                  .Y        = i->v_qd,
                                  .Y_row    = nv};
    clear_large(i->scene.deadline, i->v_qd, nv * nv);
    for (size_t v = 0; v < nv; v++)
        i->v_qd[v * nv + v] = lane_of(1);
    multiply_rows(&product, nv, 0, nv);
}

/* Computes the velocities v after the impact and, if `differentiates`, dv/dq and dv/dqd. qd NULL means zeros. */
static inline void impact_evaluate(const held_impact *i, const lane *q, const lane *qd, bool differentiates,
                                   lane *singular, void *memory)
{
    const held_system *h  = &i->held;
    const size_t       nv = h->nv;
    held_prepare(h, q, NULL, singular, memory);
    for (size_t a = 0; a < h->k; a++)
        for (size_t v = 0; qd && v < nv; v++)
            h->c[a] = add_mul(h->c[a], h->J[a * nv + v], qd[v]);
    clear(i->change, nv);
    held_add_efforts(h, i->change); /* no contradiction is possible: v = 0 satisfies J v = 0 */
    factor_substitute(h->free.model, &h->ws->factor, i->change);
    for (size_t v = 0; v < nv; v++)
        i->v[v] = velocity_at(qd, v) + i->change[v];
    if (!differentiates) return;
    held_differentiate(h, &(held_point){q, NULL, i->change, i->v}, i->v_q, NULL, i->admittance, memory);
    impact_set_v_qd(i);
}

/* Adds A_v dv/dparameters to the input matrix B. A_v are the columns of A with respect to v, and dv/dparameters =
 * -(dv/dqd) M^-1 R. */
static inline void impact_add_parameters(const held_impact *i, const lane *q, const lane *A, step_rows B, void *memory)
{
    const size_t nv = i->held.nv, n = B.columns;
    LANE_NAME(regressor)
    (&i->scene, memory,
     &(dyn_regressor){.q = (const double *)q, .qdd = (const double *)i->change, .regressor = (double *)i->regressor},
     1);
    for (size_t r = 0; r < 2 * nv && goes_on(i->scene.deadline, nv); r++) {
        const lane *by_v = A + r * 2 * nv + nv;
        clear(i->row, nv);
        for (size_t e = 0; e < nv; e++)
            for (size_t k = 0; k < nv; k++)
                i->row[k] = add_mul(i->row[k], by_v[e], i->admittance[e * nv + k]);
        for (size_t k = 0; k < nv && goes_on(i->scene.deadline, nv); k++)
            for (size_t c = 0; c < n; c++)
                B.at[r * B.stride + c] = sub_mul(B.at[r * B.stride + c], i->row[k], i->regressor[k * n + c]);
    }
}

/* Replaces the derivatives A (2 nv x 2 nv) of the step with respect to (q, v), v the velocities after the impact, by
 * those with respect to (q, qd), qd before it. */
static inline void impact_chain(const held_impact *i, lane *A)
{
    const size_t nv = i->held.nv;
    for (size_t r = 0; r < 2 * nv && goes_on(i->scene.deadline, nv); r++) {
        lane *by_q = A + r * 2 * nv, *by_v = by_q + nv;
        clear(i->row, nv);
        for (size_t k = 0; k < nv; k++)
            for (size_t c = 0; c < nv; c++) {
                i->row[c] = add_mul(i->row[c], by_v[k], i->v_qd[k * nv + c]);
                by_q[c]   = add_mul(by_q[c], by_v[k], i->v_q[k * nv + c]);
            }
        memcpy(by_v, i->row, nv * sizeof(lane));
    }
}
