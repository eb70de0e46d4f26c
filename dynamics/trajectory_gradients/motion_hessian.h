/* motion_hessian.h - sums second derivatives of torques along motions by the control points.
 *
 * With multipliers m_n of the torques at sample n, at time t_n, and b_rk of spline_motion.h, the scalar sum_n m_n .
 * tau(t_n) has the second derivatives
 *
 *     H_kl = sum_n sum_rs b_rk b_sl (d2 (m_n . tau) / d x_r d x_s),  x_0 = q, x_1 = qd, x_2 = qdd,
 *
 * nv x nv for each pair of control points k, l. Each lane has its own motion. The caller clears H; calls, for every
 * sample, dyn_motion_hessian_put, the kernel of hessian.h and dyn_motion_hessian_add; and calls
 * dyn_motion_hessian_mirror at the end. All motions have joints of one coordinate. */
#pragma once
#include "dynamics/motion/spline_motion.h"

/* One sample of W motions. Comments on arrays in lanes begin with the number of entries per motion. */
typedef struct dyn_motion_hessian {
    const dyn_motion *motion;
    const dyn_points *multiplier_points;                       /* one point for each sample, nv numbers */
    size_t            W;                                       /* number of lanes */
    size_t            row[DYN_MAX_LANES];                      /* row of the motion in each lane; set by the caller */
    size_t            first[DYN_MAX_LANES];                    /* index of the first control point with effect */
    double            b[3][DYN_SPLINE_SUPPORT][DYN_MAX_LANES]; /* b_rk */
    double           *q, *qd, *qdd, *multipliers;              /* nv: inputs of the kernel */
    double           *q_q, *q_qd, *q_qdd, *qd_qd, *qd_qdd;     /* nv x nv: results of the kernel */
} dyn_motion_hessian;

/* Lays out the lanes in the memory `room`, dyn_motion_hessian_entries numbers per motion. */
size_t             dyn_motion_hessian_entries(size_t nv);
dyn_motion_hessian dyn_motion_hessian_lay_out(const dyn_motion *motion, const dyn_points *multipliers, size_t W,
                                              double *room);

/* Evaluates q, qd, qdd and the multipliers of sample n, and b_rk, for all lanes. */
void dyn_motion_hessian_put(dyn_motion_hessian *hessian, size_t n);

/* Adds the sample's part to H_kl, k <= l. H has, in lanes, n x nv x n x nv entries with the number n of control
 * points. */
void dyn_motion_hessian_add(const dyn_motion_hessian *hessian, double *H);

/* Copies H_kl, k < l, to its transpose H_lk. */
void dyn_motion_hessian_mirror(const dyn_motion_hessian *hessian, double *H);
