/* controller.h - controllers that drive a simulated robot along a reference r(t).
 *
 *     pd_gravity        tau = kp (r - q) + kd (r' - q') + g(q)
 *     computed_torque   tau = inverse dynamics of  r'' + kd (r' - q') + kp (r - q)
 *
 * Gains are one for each joint, or one for all. A controller knows the robot as it is held, with the gravity and the
 * friction of the request; payload and wrenches it does not know: what they do is seen in the tracking errors. */
#pragma once
#include "signal.h"

/* What a controller sees, in lanes: W rows side by side. */
typedef struct api_controlled {
    const dyn_kernels *kernels;
    const dyn_scene   *scene; /* the robot as the controller knows it */
    void              *workspace;
    size_t             n; /* nv W */
    const double      *q, *qd, *kp, *kd;
    const double      *error[2];     /* r - q, r' - q' */
    const double      *acceleration; /* r'' */
    double            *command;      /* nv, to work with */
} api_controlled;

typedef struct api_controller {
    const char *name;
    void (*torques)(const api_controlled *c, double *tau);
} api_controller;

/* NULL with a problem when a string value names none. */
const api_controller *api_read_controller(const api_evaluation *e, const api_node *value, const api_place *at);
