/* friction_map.h - declares the kernel that maps efforts without friction, T, to efforts with friction, tau, and back.
 *
 * tau = T + friction holds for each coordinate, where the friction may depend on |T| (dyn_friction.load). The map is
 * the same for every mechanism with these joints: T is the effort of rigid bodies, springs and wrenches, those of held
 * frames included. Its arrays, lanes and blocks follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* The scene must have DYN_FRICTION. */
typedef struct dyn_friction_map {
    const double *qd;     /* nv; NULL means zeros */
    const double *side;   /* nv: sense of sharp friction, 1, -1 or 0; NULL: the sign of qd */
    const double *tau;    /* nv: T is computed; NULL: tau is computed */
    const double *T;      /* nv: given if and only if tau is NULL */
    double       *result; /* nv: T or tau; may be the given array */
    /* Derivatives; NULL: not computed. */
    double *factor;       /* nv: dtau/dT; may be the array `result`, which it then replaces, if `slope` is NULL */
    double *factor_slope; /* nv: the derivative of `factor` with respect to the coordinate's own velocity */
    double *slope;        /* nv x nv: dtau/dqd at constant T */
} dyn_friction_map;
