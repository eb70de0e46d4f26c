/* coordinate_change.h - change between the coordinates of a spline and those of the model at joints with a quaternion.
 *
 * Control points have nv entries. At a spherical joint they are a rotation vector x with R = exp([x]), at a floating
 * one the position p, then x. With J of rotation_vector.h, the joint's velocity is v = [R^T p'; J x'] = T s' for the
 * coordinates s = [p; x] of the spline. T is also the derivative of the tangent space's coordinates by s. With V =
 * dv/ds and d/dt, a result y of (q, qd, qdd, qddd) has the partial derivatives
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

/* The largest length of a rotation vector, 2 pi. Returns false if the spline has a longer one in a lane. */
bool dyn_rotation_vectors_within_limit(const dyn_motion_block *b, size_t lane);

/* Sets the mechanism's coordinates q, qd, qdd and qddd of a lane from those of the spline. state[r] has the lanes of
 * derivative r of q. */
void dyn_motion_put_coordinates(const dyn_motion_block *b, size_t lane, double *const state[DYN_SPLINE_ORDERS]);

/* Replaces the derivatives by q, qd, ... of a block's results by those by the spline's coordinates and their
 * derivatives. dyn_change_partials leaves out the matrix of the highest order, which several results may share;
 * dyn_change_highest_partial replaces this matrix, once. The two functions do nothing where the coordinates do not
 * differ, or where by[0] or the matrix is NULL.
 */
void dyn_change_partials(const dyn_motion_block *b, const dyn_partials *p);
void dyn_change_highest_partial(const dyn_motion_block *b, size_t rows, double *matrix);
