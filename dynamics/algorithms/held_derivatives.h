/* held_derivatives.h - differentiates the accelerations of a robot whose frames are held (held_frames.h). Part of
 * step.c.
 *
 * J, M, G and the efforts l along the held directions are those of held_frames.h. With dtau/dx the derivative of
 * inverse dynamics at constant qdd and l, and C_x the derivative of J qdd + J' qd at constant qdd,
 *
 *     dqdd/dx = -K dtau/dx - P^T C_x,  P = G^-1 J M^-1,  dqdd/dtau = K = M^-1 - M^-1 J^T P.
 *
 * With friction that depends on the load, dtau/dqd includes -dT/dqd at constant tau, and K = dqdd/dT.
 *
 * Since K J^T = 0, a change of the efforts along the held directions changes no acceleration. So the axes in which
 * these wrenches are constant may be chosen freely (dyn_held_site). */
#pragma once
#include "held_frames.h"

/* --- K and P ---------------------------------------------------------------------------------------------------- */

/* Sets JM to -J M^-1 (k x nv). J are the rows of the held directions; `inverse` is M^-1 (nv x nv). */
static inline void held_set_JM(const held_system *h, const lane *inverse, lane *JM)
{
    const size_t nv = h->nv;
    for (size_t i = 0, row = 0; i < held_chains(h->io); row += held_rows_of(h->io, i++)) {
        const row_product product = {.deadline = h->free.deadline,
                                     .A        = h->J + row * nv,
                                     .A_row    = nv,
                                     .A_term   = 1,
                                     .X        = inverse,
                                     .stride   = nv,
                                     .n        = h->ws->moving[i],
                                     .terms    = held_chain(h->ws, h->free.model, i),
                                     .Y        = JM + row * nv,
                                     .Y_row    = nv};
        multiply_rows(&product, held_rows_of(h->io, i), 0, nv);
    }
}

/* Sets Y = L^-1 JM (k x nv), with L of the factors G = L D L^T of J M^-1 J^T. */
static inline void held_set_Y(const held_system *h, const lane *JM, lane *Y)
{
    const size_t nv = h->nv, k = h->k;
    for (size_t a = 0; a < k; a++) {
        const row_product product = {.deadline = h->free.deadline,
                                     .A        = h->G + a,
                                     .A_term   = k,
                                     .X        = Y,
                                     .stride   = nv,
                                     .n        = a,
                                     .S        = JM + a * nv,
                                     .Y        = Y + a * nv};
        multiply_rows(&product, 1, 0, nv);
    }
}

/* Replaces K, on entry M^-1, by K = M^-1 - Y^T D^-1 Y = dqdd/dtau, and copies it to the first nv columns of h->KP. */
static inline void held_set_K(const held_system *h, const lane *Y, lane *K)
{
    const size_t nv = h->nv, k = h->k, n = nv + k;
    for (size_t v = 0; v < nv && goes_on(h->free.deadline, nv); v++) {
        for (size_t a = 0; a < k; a++)
            h->c[a] = h->reciprocal[a] * Y[a * nv + v];
        const row_product product = {.deadline = h->free.deadline,
                                     .A        = h->c,
                                     .A_term   = 1,
                                     .X        = Y,
                                     .stride   = nv,
                                     .n        = k,
                                     .S        = K + v * nv,
                                     .Y        = h->KP + v * n};
        multiply_rows(&product, 1, PACK > 1 && nv >= PACK && v + PACK > nv ? nv - PACK : v, nv);
    }
    for (size_t v = 0; v < nv && goes_on(h->free.deadline, nv); v++) {
        for (size_t c = 0; c < v; c++)
            h->KP[v * n + c] = h->KP[c * n + v];
        memcpy(K + v * nv, h->KP + v * n, nv * sizeof *K);
    }
}

/* Sets h->P = -L^-T D^-1 Y (k x nv) and the last k columns of h->KP to P^T. -D^-1 Y replaces Y. */
static inline void held_set_P(const held_system *h, lane *Y)
{
    const size_t nv = h->nv, k = h->k, n = nv + k;
    for (size_t a = k; a-- > 0;) {
        for (size_t v = 0; v < nv; v++)
            Y[a * nv + v] = -(h->reciprocal[a] * Y[a * nv + v]);
        const row_product product = {.deadline = h->free.deadline,
                                     .A        = h->G + a * k + a + 1,
                                     .A_term   = 1,
                                     .X        = h->P + (a + 1) * nv,
                                     .stride   = nv,
                                     .n        = k - 1 - a,
                                     .S        = Y + a * nv,
                                     .Y        = h->P + a * nv};
        multiply_rows(&product, 1, 0, nv);
        for (size_t v = 0; v < nv; v++)
            h->KP[v * n + nv + a] = h->P[a * nv + v];
    }
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Sets the last k rows of by_q and by_qd to C, the derivatives of J qdd + J' qd at the accelerations `qdd`. Computes
 * the motions of the bodies with this qdd; they replace the motions that held_set_rows computed. */
static inline void held_set_rates(const held_system *h, const lane *qd, const lane *qdd)
{
    lane              *by_q = h->by_q + h->nv * h->nv, *by_qd = h->by_qd + h->nv * h->nv;
    const dyn_model   *m    = h->free.model;
    const world_motion rest = world_at_rest(), *world = h->ws->world.world;
    for (size_t r = 0; r < h->ws->world.needed.n; r++)
        range_motions(m, &h->ws->world, (coordinate_rates){.qd = qd, .qdd = qdd}, ACCELERATIONS,
                      h->ws->world.needed.range[r], false);
    clear_large(h->free.deadline, by_q, h->k * h->nv);
    clear_large(h->free.deadline, by_qd, h->k * h->nv);
    for (size_t i = 0, row = 0; i < h->io->n_held; row += h->io->held[i++].n) {
        const dyn_held_frame *held = &h->io->held[i];
        const world_motion    f    = frame_of(motion_of(world, &rest, held->frame.body), &held->frame, ACCELERATIONS);
        held_add_columns(m, world, held, &f,
                         &(held_columns){.by_q = by_q + row * h->nv, .by_qd = by_qd + row * h->nv, .nv = h->nv});
    }
    for (size_t i = 0, row = h->k - h->io->n_stopping; i < h->io->n_stopping; i++, row++)
        by_qd[row * h->nv + h->io->stopping[i]] = lane_of(1 / h->io->h);
}

/* Sets the derivatives a_q and a_qd (nv x nv) of qdd to -[K P^T] [dtau; C] for x = q and, unless a_qd is NULL, for x =
 * qd. Works on one group of columns (held_group) after the other. */
static inline void held_project(const held_system *h, lane *a_q, lane *a_qd)
{
    const size_t nv      = h->nv;
    row_product  product = {.deadline = h->free.deadline,
                            .A        = h->KP,
                            .A_row    = nv + h->k,
                            .A_term   = 1,
                            .X        = h->by_q,
                            .stride   = nv,
                            .Y        = a_q,
                            .Y_row    = nv};
    if (a_qd) product.X_pair = (size_t)(h->by_qd - h->by_q), product.Y_pair = (size_t)(a_qd - a_q);
    for (size_t i = 0; i < h->ws->n_groups && goes_on(h->free.deadline, nv); i++) {
        const held_group *g = &h->ws->group[i];
        product.terms       = g->rows;
        product.n           = g->n;
        if (a_qd)
            multiply_pairs(&product, nv, (size_t)g->first, (size_t)(g->first + g->columns));
        else
            multiply_rows(&product, nv, (size_t)g->first, (size_t)(g->first + g->columns));
    }
}

/* The state at which the accelerations are differentiated, in lanes. `qdd` are the accelerations in M qdd,
 * `qdd_of_rows` those in J qdd + J' qd. The two are equal, except in an impact (held_impact.h), where they are v - qd
 * and v. */
typedef struct held_point {
    const lane *q, *qd, *qdd, *qdd_of_rows;
} held_point;

/* Sets the derivatives of qdd (nv x nv each) with respect to tau (K), to q (a_q) and, unless a_qd is NULL, to qd, at
 * constant efforts tau. */
static inline void held_differentiate(const held_system *h, const held_point *at, lane *a_q, lane *a_qd, lane *K,
                                      void *memory)
{
    held_set_wrenches(h);
    mass_blocks_factor(h->free.model, &h->ws->blocks, h->M);
    mass_blocks_invert(&h->ws->blocks, h->nv, false, K);
    held_set_JM(h, K, h->Z);
    held_set_Y(h, h->Z, h->Y);
    held_set_K(h, h->Y, K);
    held_set_P(h, h->Y);
    LANE_NAME(sensitivity)
    (&h->scene, memory,
     &(dyn_sensitivity){.q         = (const double *)at->q,
                        .qd        = (const double *)at->qd,
                        .qdd       = (const double *)at->qdd,
                        .wrenches  = (const double *)h->wrenches,
                        .dtau_dq   = (double *)h->by_q,
                        .dtau_dqd  = (double *)h->by_qd,
                        .dtau_dqdd = (double *)h->M},
     1);
    if (h->loaded) load_add_slopes(h->free.model, h->friction, h->T, at->qd, true, h->by_qd);
    held_set_rates(h, at->qd, at->qdd_of_rows);
    held_project(h, a_q, a_qd);
}

/* Multiplies each row of a matrix (nv x columns) by the load factor a of its coordinate (load_friction.h): this turns
 * derivatives of T into those of tau, since dtau = a dT. held_divide_columns divides the columns of a matrix (nv x nv)
 * by a: derivatives with respect to T become derivatives with respect to tau. */
static inline void held_multiply_rows(const held_system *h, size_t columns, lane *matrix)
{
    for (size_t v = 0; h->loaded && v < h->nv; v++) {
        const lane a = load_factor(&h->friction[v], h->T[v]);
        for (size_t c = 0; c < columns; c++)
            matrix[v * columns + c] = a * matrix[v * columns + c];
    }
}
static inline void held_divide_columns(const held_system *h, lane *matrix)
{
    for (size_t i = 0; h->loaded && i < h->nv; i++)
        for (size_t v = 0; v < h->nv; v++)
            matrix[i * h->nv + v] = matrix[i * h->nv + v] / load_factor(&h->friction[v], h->T[v]);
}

/* --- a step ----------------------------------------------------------------------------------------------------- */

/* The outputs of an evaluation; the matrices are set only if it differentiates. */
typedef struct held_outputs {
    lane *qdd, *a_q, *a_qd, *a_tau, *singular, *contradictory;
} held_outputs;

/* Computes qdd at (q, qd) with held frames and, if `differentiates`, its derivatives. */
static inline void held_evaluate(const held_system *h, const lane *q, const lane *qd, const held_outputs *to,
                                 bool differentiates, void *memory)
{
    held_prepare(h, q, qd, to->singular, memory);
    held_accelerate(h, q, qd, to->contradictory, memory);
    memcpy(to->qdd, h->qdd, h->nv * sizeof(lane));
    if (!differentiates) return;
    held_differentiate(h, &(held_point){q, qd, h->qdd, h->qdd}, to->a_q, to->a_qd, to->a_tau, memory);
    held_divide_columns(h, to->a_tau);
}
