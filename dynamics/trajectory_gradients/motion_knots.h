/* motion_knots.h - computes gradients by the single knots of a motion's spline, at a constant fraction of the motion,
 * and all gradients of a result.
 *
 * With x_r the r-th derivative of the spline and t_i a knot, a result y has d y / d t_i = sum_r (d y / d x_r) (d x_r
 * / d t_i). A sample depends on the 2 degree knots around it, and on the two knots at which the motion begins and
 * ends. */
#pragma once
#include "motion_chain.h"

/* Returns the number of knots, which is the length of the last axis of gradients by knots. */
static inline size_t dyn_motion_knots(const dyn_motion *m)
{
    return m->spline.n + m->spline.degree + 1;
}

/* Writes d x_r / d t_i of a block: DYN_SPLINE_ORDERS x nv x knots. `column` is scratch of DYN_SPLINE_ORDERS * nv
 * numbers. out NULL: does nothing. */
void dyn_motion_by_knots(const dyn_motion_block *b, double *out, double *column);

/* Writes the derivatives of a block's results by the knots: rows x knots. `column`: as above. out NULL: does
 * nothing. */
void dyn_chain_by_knots(const dyn_motion_block *b, const dyn_partials *p, double *out, double *column);

/* Arrays, in lanes, for the gradients of the results of a block; NULL: not wanted. */
typedef struct dyn_gradients {
    double *by_points, *by_duration, *by_knots; /* rows x k x nv (dyn_chain_by_points), rows, rows x knots */
} dyn_gradients;

/* Writes the wanted gradients of a block's results. `column` is scratch as for dyn_motion_by_knots. */
void dyn_chain_gradients(const dyn_motion_block *b, const dyn_partials *p, const dyn_gradients *to, double *column);
