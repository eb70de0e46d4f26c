/* motion_chain.h - computes gradients by the control points and the duration of a motion from partial derivatives.
 *
 * With x_r the r-th derivative of the spline x (x = q, but see coordinate_change.h), c_k its control points, b_rk of
 * spline_motion.h and T the duration, the chain rule (Barman 2020, eq. 4.15) gives for a result y of each state
 *
 *     d y / d c_k = sum_r b_rk d y / d x_r, d y / dT = -1/T sum_r r (d y / d x_r) x_r,
 *
 * the latter at a constant fraction of the motion, where x_r is proportional to T^-r. If y depends on T also at
 * constant x_r, that derivative is added. */
#pragma once
#include "dynamics/motion/spline_motion.h"

/* Partial derivatives of results y by the derivatives x_r of the spline, d y / d x_r for r < orders; rows x nv each. */
typedef struct dyn_partials {
    size_t  rows, orders;
    double *by[DYN_SPLINE_ORDERS];
    double *by_duration; /* rows: d y / dT at constant x_r; NULL: zero */
} dyn_partials;

/* Writes the derivatives of the results of a block by the control points: rows x k x nv, where k = degree + 1 control
 * points affect a state, or all control points with b->dense. out NULL: does nothing. If the deadline passes, remaining
 * rows are not written. */
void dyn_chain_by_points(const dyn_motion_block *b, const dyn_partials *p, double *out);

/* Writes the derivatives of the results of a block by the duration, one for each row. out NULL: does nothing. */
void dyn_chain_by_duration(const dyn_motion_block *b, const dyn_partials *p, double *out);

/* Writes b_rk of a block's spline for all control points k, in lanes: DYN_SPLINE_ORDERS x n. */
void dyn_motion_dense_basis(const dyn_motion_block *b, double *out);

/* Reads the index of the first control point that affects the state of each lane. */
void dyn_motion_first_points(const dyn_motion_block *b, size_t first[DYN_MAX_LANES]);
