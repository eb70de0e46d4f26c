/* velocity_bounds.h - bounds the velocities of the next time step from limits of positions, velocities and
 * accelerations: one state.
 *
 * With the velocity v over a step h, a limit p of the position at the distance d bounds v to d / h. Where the
 * acceleration is limited to a as well, v is bounded so that the joint can stop before p:
 *
 *     v h + v^2 / (2 a) <= d,
 *
 * so that a velocity within the bounds exists in every later step. If bounds contradict each other, the limits of
 * acceleration have priority over the limits of velocity, and both over the limits of position; the velocity is then as
 * near to a violated bound as the others allow. */
#pragma once
#include "dynamics/motion/limit.h"

typedef struct dyn_velocity_bounds {
    size_t           nq, nv, n;
    const dyn_limit *limit;         /* [n] of position, velocity and acceleration; others are not read */
    double           step;          /* s, greater than 0 */
    double          *acceleration;  /* nv: scratch */
    double          *lower, *upper; /* nv: result */
} dyn_velocity_bounds;

/* Finds the bounds at q (nq) with the velocity qd (nv) of the step before; NULL: zero. */
void dyn_velocity_bounds_find(const dyn_velocity_bounds *b, const double *q, const double *qd);
