/* coordinates.h - the coordinates of one joint as a space to move in: of a joint with a quaternion, velocities are in
 * its own axes (R <- R exp(w), p += R v) and do not commute. */
#pragma once
#include "dynamics/model/model.h"

/* Where the quaternion of a body's joint begins among the joint's coordinates; -1: it has none. */
static inline int api_quaternion_offset(const dyn_body *body)
{
    return dyn_joint_turns_freely(body->joint) ? dyn_joint_nq(body->joint) - 4 : -1;
}

/* All quaternions of W states, in lanes, with w >= 0: the same rotations. */
void api_coordinates_make_quaternions_positive(const dyn_model *model, double *q, size_t W);

/* Moves a body's own coordinates by `part` times dx, which is as long as its velocities; `stride` between entries. */
void api_coordinates_move(const dyn_body *body, double *q, size_t stride, const double *dx, double part);

/* The Lie bracket [a, b] of two of its velocities: what moving along a, then b, differs from b, then a. */
void api_coordinates_bracket(const dyn_body *body, size_t stride, const double *a, const double *b, double *bracket);

/* The rate of its own coordinates at velocities qd, of W states side by side: entries are W apart. */
void api_coordinates_rate(const dyn_body *body, const double *q, const double *qd, size_t W, double *rate);
