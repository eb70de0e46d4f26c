/* point_motion.h - compute motion and derivatives of points that are fixed to links, for one block of states. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* The points: frames at the points, with the axes of their links. */
typedef struct api_fixed_points {
    size_t           n;
    const dyn_frame *frames;     /* [n] the points, each as a frame with its axes */
    bool             frame_axes; /* true: components of velocities, Jacobians and so on in the axes of each frame */
} api_fixed_points;

/* Results in lanes of the block; NULL: not requested. The entries are those of n points, one after the other; a
 * Jacobian has 6 rows, [linear; angular]. */
typedef struct api_point_motion {
    double *positions;           /* 3: m, world axes */
    double *jacobians;           /* 6 x nv: [m; rad] per unit of each velocity */
    double *jacobians_dot;       /* 6 x nv: time derivatives of the Jacobians */
    double *velocities;          /* 6: m/s, rad/s */
    double *accelerations;       /* 6: m/s^2, rad/s^2 */
    double *velocities_by_q;     /* 6 x nv: derivatives of the velocities with respect to q */
    double *accelerations_by_q;  /* 6 x nv: derivatives of the accelerations with respect to q */
    double *accelerations_by_qd; /* 6 x nv: derivatives of the accelerations with respect to qd */
    double *jacobians_by_q;      /* 6 x nv x nv: derivatives of the Jacobians with respect to q */
} api_point_motion;

/* Evaluates all points at the states of the block. False with a problem after the deadline. */
bool api_point_motion_evaluate(const api_evaluation *e, size_t block, const api_fixed_points *points,
                               const api_point_motion *to);
