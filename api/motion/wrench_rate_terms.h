/* wrench_rate_terms.h - derivatives of efforts along a motion by way of wrenches that change with time.
 *
 * Wrenches W enter tau as tau_w(q, W) = -J^T W: inverse dynamics of the robot at rest on which nothing else acts. Where
 * W changes with time, tau_dot has the part tau_w(q, W'), and these derivatives have the parts (motion.h)
 *
 *     d tau / dT      tau_w(q, dW/dT)
 *     d tau_dot / dq  (d tau_w / dq)(q, W')
 *     d tau_dot / dT  (d tau_w / dq)(q, dW/dT) qd + tau_w(q, dW'/dT) */
#pragma once
#include "motion.h"

/* A block of states in which other wrenches act at the points of the request's, and nothing else does. */
typedef struct api_pushed {
    const api_evaluation *e;
    dyn_scene             scene;
    size_t                block;
    double               *wrenches;       /* 9 each */
    double               *by[3];          /* nv x nv: d tau_w by q, qd, qdd */
    double               *tau;            /* nv */
    double               *joint_wrenches; /* 6 x bodies */
} api_pushed;

/* Blocks of results, to be added to; NULL: not asked for. */
typedef struct api_pushed_efforts {
    double *tau, *tau_dot, *joint_wrenches;
} api_pushed_efforts;

/* Lays the arrays out in `room`, which has so many entries a state. */
size_t     api_pushed_entries(const api_model *model, size_t n_wrenches);
api_pushed api_pushed_take(const api_evaluation *e, size_t block, double *room);

/* Adds the part of d tau_dot / dq, nv x nv. */
void api_pushed_by_q(api_pushed *p, double *dtau_dot_dq);

/* Adds the parts of the derivatives by the duration. */
void api_pushed_by_duration(api_pushed *p, const api_motion *motion, const api_pushed_efforts *by_duration);
