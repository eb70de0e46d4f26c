/* directional.h - declares the kernels of directional derivatives: products of the derivatives of inverse and forward
 * dynamics and given directions, without the matrices.
 *
 * Arrays, lanes and blocks follow the rules of dynamics.h. A direction of q has nv entries, along the directions of
 * dyn_sensitivity. The derivative of the sign of sharp Coulomb friction is 0. Wrenches are constant in their axes, and
 * so are their points in the frame. */
#pragma once
#include "dynamics.h"

/* Rates of tau, that of dyn_inverse_dynamics, along n directions. */
typedef struct dyn_directional {
    const double *q, *qd, *qdd, *wrenches;
    size_t        n;
    const double *direction_q, *direction_qd, *direction_qdd; /* n x nv; NULL: zero */
    double       *rates;                                      /* n x nv; must not be NULL */
    double       *tau;                                        /* nv, with the bits of dyn_inverse_dynamics */
} dyn_directional;

/* Rates of qdd, that of dyn_forward_dynamics without driven coordinates, along n directions. */
typedef struct dyn_forward_directional {
    const double *q, *qd, *tau, *wrenches;
    size_t        n;
    const double *direction_q, *direction_qd, *direction_tau; /* n x nv; NULL: zero */
    double       *rates;                                      /* n x nv; must not be NULL */
    double       *qdd;                                        /* nv; must not be NULL */
    double       *singular; /* 1: first body whose pivot of M is zero up to rounding, or -1. May be NULL */
} dyn_forward_directional;
