/* coordinates.h - move, differentiate and compare the coordinates of one joint. For a joint with a quaternion,
 * velocities are in the joint's own moving axes (R <- R exp(w), p += R v), and the motions do not commute. */
#pragma once
#include "model.h"

/* Index of the quaternion among the coordinates of a body's joint; -1: it has none. */
static inline int dyn_quaternion_offset(const dyn_body *body)
{
    return dyn_joint_has_quaternion(body->joint.kind) ? dyn_joint_nq(body->joint.kind) - 4 : -1;
}

/* Changes the sign of quaternions with w < 0 in W states, in lanes: the rotations stay the same. */
void dyn_coordinates_make_quaternions_positive(const dyn_model *model, double *q, size_t W);

/* Moves the coordinates of a body's joint by `part` times dx, which has one entry per velocity. Entries are `stride`
 * apart. */
void dyn_coordinates_move(const dyn_body *body, double *q, size_t stride, const double *dx, double part);

/* The Lie bracket [a, b] of two joint velocities: to second order, the difference between moving along a then b, and
 * along b then a. */
void dyn_coordinates_bracket(const dyn_body *body, size_t stride, const double *a, const double *b, double *bracket);

/* The time derivative of the joint's coordinates at velocities qd, for W states in lanes: entries are W apart. */
void dyn_coordinates_rate(const dyn_body *body, const double *q, const double *qd, size_t W, double *rate);
