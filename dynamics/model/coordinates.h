/* coordinates.h - moves, differentiates and compares the coordinates of one joint. For a joint with a quaternion,
 * velocities are in the joint's own moving axes (R <- R exp(w), p += R v), and the motions do not commute. */
#pragma once
#include "model.h"

/* Returns the index of the quaternion among the coordinates of a body's joint; -1: the joint has no quaternion. */
static inline int dyn_quaternion_offset(const dyn_body *body)
{
    return dyn_joint_has_quaternion(body->joint.kind) ? dyn_joint_nq(body->joint.kind) - 4 : -1;
}

/* Makes w >= 0 in all quaternions x y z w of W states, in lanes, by changing signs; the rotations stay the same. */
void dyn_coordinates_make_quaternions_positive(const dyn_model *model, double *q, size_t W);

/* Moves the coordinates of a body's joint by `part` times dx, which has one entry for each velocity of the joint.
 * Entries of q and dx are `stride` apart. */
void dyn_coordinates_move(const dyn_body *body, double *q, size_t stride, const double *dx, double part);

/* Computes the Lie bracket [a, b] of two velocities of a joint: to second order, the difference between moving along a
 * then b, and along b then a. */
void dyn_coordinates_bracket(const dyn_body *body, size_t stride, const double *a, const double *b, double *bracket);

/* Computes the time derivative of the joint's coordinates at velocities qd, for W states in lanes: entries are W
 * apart. */
void dyn_coordinates_rate(const dyn_body *body, const double *q, const double *qd, size_t W, double *rate);
