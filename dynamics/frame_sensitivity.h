/* frame_sensitivity.h - declares the kernel that differentiates the motion of frames.
 *
 * Its arrays, lanes and blocks follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* Analytical derivatives of the motion of frames. A derivative with respect to q has nv columns, along the tangent
 * space as in dyn_sensitivity. Velocity, acceleration and Jacobian J are those of dyn_kinematics. The derivatives
 * of the velocity by qd and of the acceleration by qdd are J. */
typedef struct dyn_frame_sensitivity {
    const double    *q, *qd, *qdd;
    size_t           n_frames;
    const dyn_frame *frames;
    bool             frame_axes;        /* true: components in the axes of each frame; false: in world axes */
    double          *dvelocity_dq;      /* n_frames x 6 x nv */
    double          *dacceleration_dq;  /* n_frames x 6 x nv */
    double          *dacceleration_dqd; /* n_frames x 6 x nv */
    double          *djacobian_dq;      /* n_frames x 6 x nv x nv: the last axis is that of the derivative */
} dyn_frame_sensitivity;
