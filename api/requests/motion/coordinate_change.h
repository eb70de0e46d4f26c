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

/* True if the coordinates of splines differ from those of the model. */
static inline bool api_has_rotation_vectors(const api_model *model)
{
    return model->nq != model->nv;
}

/* The largest length of a rotation vector, 2 pi. Returns false if a state's spline has a longer one. `state` is a
 * number among all states of the plan. */
bool api_rotation_vectors_within_limit(const api_evaluation *e, const api_motion *m, size_t state);

/* Sets the model's coordinates q, qd, qdd and qddd of a state from those of the spline. */
void api_motion_put_coordinates(const api_evaluation *e, const api_motion *m, size_t state);

/* Replaces the derivatives by q, qd, ... of a block's results by those by the spline's coordinates and their
 * derivatives. api_change_partials leaves out the matrix of the highest order, which several results may share;
 * api_change_highest_partial replaces this matrix, once. Both do nothing where the coordinates do not differ, or where
 * by[0] or the matrix is NULL.
 */
void api_change_partials(const api_evaluation *e, const api_motion *m, size_t block, const api_partials *p);
void api_change_highest_partial(const api_evaluation *e, const api_motion *m, size_t block, size_t rows,
                                double *matrix);
