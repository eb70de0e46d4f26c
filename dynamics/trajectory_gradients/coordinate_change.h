/* coordinate_change.h - converts between the coordinates of a spline and those of the model at joints with a
 * quaternion.
 *
 * Control points have nv entries. At a spherical joint these are a rotation vector x with R = exp([x]), at a floating
 * joint the position p, then x. With J of rotation_vector.h, the joint's velocity is v = [R^T p'; J x'] = T s' for the
 * coordinates s = [p; x] of the spline. T is also the derivative, with respect to s, of displacements in the body's own
 * axes. With V = dv/ds and ' for d/dt, a result y of (q, qd, qdd, qddd), with partial derivatives y_q ..., has
 *
 *     dy/ds    = y_q T + y_qd V + y_qdd V' + y_qddd V'',    dy/ds''  = y_qdd T + y_qddd (V + 2T'),
 *     dy/ds'   = y_qd T + y_qdd (V + T') + y_qddd (2V' + T''),    dy/ds''' = y_qddd T. */
#pragma once
#include "motion_chain.h"

/* True if the coordinates of splines differ from those of the mechanism. */
static inline bool dyn_has_rotation_vectors(const dyn_mechanism *robot)
{
    return robot->nq != robot->nv;
}

/* Returns false if a rotation vector of the spline in a lane is longer than 2 pi, the largest length that is
 * allowed. */
bool dyn_rotation_vectors_within_limit(const dyn_motion_block *b, size_t lane);

/* Computes the mechanism's coordinates q and their rates qd, qdd and qddd in a lane from those of the spline. state[r]
 * is derivative r of q, in lanes. */
void dyn_motion_put_coordinates(const dyn_motion_block *b, size_t lane, double *const state[DYN_SPLINE_ORDERS]);

/* Replace the derivatives of a block's results with respect to q, qd, ... by those with respect to the spline's
 * coordinates and their time derivatives. dyn_change_partials leaves out the matrix of the highest order, which several
 * results may have in common; dyn_change_highest_partial replaces this matrix, once. Both functions do nothing if the
 * coordinates do not differ, or if by[0] or the matrix is NULL. */
void dyn_change_partials(const dyn_motion_block *b, const dyn_partials *p);
void dyn_change_highest_partial(const dyn_motion_block *b, size_t rows, double *matrix);
