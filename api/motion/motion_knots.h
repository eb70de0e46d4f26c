/* motion_knots.h - derive gradients by the single knots of a motion's spline, at a constant fraction of the motion.
 *
 * With x_r the r-th derivative of the spline and t_i a knot, a result y has d y / d t_i = sum_r (d y / d x_r) (d x_r /
 * d t_i). A sample depends on the 2 degree knots around it, and on the two knots between which the motion lies. */
#pragma once
#include "motion_chain.h"

/* Returns the number of knots, the last axis of the gradients. */
static inline size_t api_motion_knots(const api_motion *m)
{
    return m->spline.n + m->spline.degree + 1;
}

/* Writes d x_r / d t_i of a block: API_SPLINE_ORDERS x nv x knots. `column` has room for API_SPLINE_ORDERS * nv
 * numbers. out NULL: does nothing. */
void api_motion_by_knots(const api_evaluation *e, const api_motion *m, size_t block, double *out, double *column);

/* Writes the derivatives of a block's results by the knots: rows x knots. out NULL: does nothing. */
void api_chain_by_knots(const api_evaluation *e, const api_motion *m, size_t block, const api_partials *p, double *out,
                        double *column);
