/* configuration.h - adds displacements to configurations, and subtracts configurations, joint by joint.
 *
 * A joint of one coordinate has q+ = q + u. A joint with a quaternion moves for one unit of time with the constant
 * twist u = (v, w) in the axes of its body, as in step_displacement.h (Lynch & Park 2017, ch. 3): with t = |w|,
 *
 *     R+ = R E,  p+ = p + R V v,  E = 1 + A [w] + B [w]^2,  V = 1 + B [w] + C [w]^2,
 *     A = sin t / t,  B = (1 - cos t) / t^2,  C = (t - sin t) / t^3.
 *
 * The difference of two configurations is the u of least |w| that leads from one to the other, with
 *
 *     V^-1 = 1 - 1/2 [w] + D [w]^2,  D = (C - 2 b) / (2 B),  b = (1/2 - B) / t^2.
 *
 * The functions work on one state whose entries are `stride` apart, and give the same bits on every processor. */
#pragma once
#include "dynamics/model/joint_types.h"

/* The coordinates of one joint. `kind` is DYN_SPHERICAL, DYN_FLOATING, or any kind with one coordinate. */
typedef struct dyn_chart {
    dyn_joint_kind kind;
    size_t         q, v; /* index of the joint's first entry in q, and in qd */
} dyn_chart;

/* Sets the joint's entries of q_after to those of q moved by part * u. Quaternions have unit norm and w >= 0.
 * `q_after` may be `q`. */
void dyn_configuration_integrate(const dyn_chart *joint, const double *q, const double *u, double part, size_t stride,
                                 double *q_after);

/* Sets the joint's entries of u to the displacement from q to `target`: dyn_configuration_integrate(q, u) gives the
 * target, up to the sign of its quaternion. |w| is at most pi; at pi, where two displacements exist, one of them is
 * chosen. */
void dyn_configuration_difference(const dyn_chart *joint, const double *q, const double *target, size_t stride,
                                  double *u);

/* Sets the joint's entries of `unit` to those of q, with quaternions of unit norm and w >= 0. */
void dyn_configuration_normalise(const dyn_chart *joint, const double *q, size_t stride, double *unit);
