/* friction_map.h - declares the kernel that maps efforts without friction, T, to efforts with friction, tau, and back.
 *
 * tau = T + friction holds for each coordinate, where the friction may depend on |T| (dyn_friction.load). T is the
 * effort of rigid bodies, springs and wrenches, including those on held frames. The map depends only on the joints, not
 * on the bodies. Arrays, lanes and blocks of the kernel follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* Inputs and outputs. The scene must include DYN_FRICTION. */
typedef struct dyn_friction_map {
    const double *qd;     /* nv; NULL: zeros */
    const double *side;   /* nv: sense of sharp friction, 1, -1 or 0 (none); NULL: the sign of qd */
    const double *tau;    /* nv: input, from which T is computed; NULL: tau is computed */
    const double *T;      /* nv: input if and only if tau is NULL */
    double       *result; /* nv: T or tau; may be the input array */
    /* Derivatives; NULL: not computed. */
    double *factor;       /* nv: dtau/dT; if `slope` is NULL it may be the array `result`, whose values it replaces */
    double *factor_slope; /* nv: the derivative of `factor` with respect to the coordinate's own velocity */
    double *slope;        /* nv x nv: dtau/dqd at constant T */
} dyn_friction_map;
