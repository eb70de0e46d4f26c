/* state_feedback.h - declares the options of the controller state_feedback, a linear regulator such as that of LQR
 * (Anderson & Moore 1990, ch. 2):
 *
 *     tau = r(t) + K [e; q'_ref - q'].
 *
 * r is the signal of the controller, K a constant matrix, and e the position error: q_ref - q of a joint with one
 * coordinate. For a joint with a quaternion e is the negative of the tangent difference of q from q_ref
 * (dynamics/motion/tangent.h), whose rotation vector is at most pi long. */
#pragma once
#include "controller.h"
#include "dynamics/motion/points.h"

typedef struct dyn_state_feedback {
    const double *gain; /* [nv][2 nv]: rows are efforts; columns are errors of positions, then of velocities */
    dyn_points    q;    /* q_ref: one point of nq numbers, with unit quaternions */
    dyn_points    qd;   /* q'_ref: one point of nv numbers; zero if `numbers` is NULL */
} dyn_state_feedback;
