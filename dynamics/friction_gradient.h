/* friction_gradient.h - declares the kernel of derivatives with respect to the parameters of friction.
 *
 * Arrays, lanes and blocks of the kernel follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* Number of parameters of dyn_friction; their order is that of its members. */
enum { DYN_FRICTION_PARAMETERS = 8 };

/* Derivatives of the sum of multipliers . tau, at constant q, qd and qdd, with respect to the parameters of the
 * friction of each mover (dyn_model.n_movers), even if a parameter is zero. Zero are the derivatives with respect to
 * coulomb_velocity if friction is sharp; to breakaway magnitudes and stribeck_velocity without Stribeck's curve; to
 * magnitudes for the other direction of motion; and to `load` at T = 0, for mimics and for coupled transmissions. All
 * derivatives are zero for joints with several coordinates, and without DYN_FRICTION. */
typedef struct dyn_friction_gradient {
    const double *qd;          /* nv; NULL: zeros */
    const double *T;           /* nv, efforts without friction; must not be NULL */
    const double *multipliers; /* nv; must not be NULL */
    double       *gradient;    /* n_movers x 8; must not be NULL */
} dyn_friction_gradient;
