/* frame_sensitivity.h - declares the kernel that differentiates the motion of frames.
 *
 * Arrays, lanes and blocks of the kernel follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* Analytical derivatives of the motion of frames. A derivative with respect to q has nv columns, along the directions
 * of dyn_sensitivity. Velocity, acceleration and Jacobian J are those of dyn_kinematics. J is also the derivative of
 * the velocity with respect to qd, and of the acceleration with respect to qdd. */
typedef struct dyn_frame_sensitivity {
    const double    *q, *qd, *qdd;
    size_t           n_frames;
    const dyn_frame *frames;
    bool             frame_axes;        /* true: components in the axes of each frame; false: in world axes */
    double          *dvelocity_dq;      /* n_frames x 6 x nv */
    double          *dacceleration_dq;  /* n_frames x 6 x nv */
    double          *dacceleration_dqd; /* n_frames x 6 x nv */
    double          *djacobian_dq;      /* n_frames x 6 x nv x nv: dJ/dq; the last axis is that of q */
} dyn_frame_sensitivity;
