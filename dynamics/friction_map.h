/* friction_map.h - declares the kernel that maps efforts without friction, T, to efforts with friction, tau, and back.
 *
 * tau = T + friction holds for each coordinate, where the friction may depend on |T| (dyn_friction.load). The map is
 * the same for every mechanism with these joints: T is the effort of rigid bodies, springs and wrenches, those of held
 * frames included. The kernel has a table of its own; its arrays, lanes and blocks follow the rules of dynamics.h. */
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
    double *factor;       /* nv: dtau/dT; may be `result`, which it then replaces, if `slope` is NULL */
    double *factor_slope; /* nv: the derivative of `factor` by the coordinate's own velocity */
    double *slope;        /* nv x nv: dtau/dqd at constant T */
} dyn_friction_map;

typedef void dyn_friction_map_kernel(const dyn_scene *, void *ws, const dyn_friction_map *, size_t blocks);

/* Returns the kernel of the target of this table. NULL if the table is not one of this build. */
dyn_friction_map_kernel *dyn_friction_map_of(const dyn_kernels *kernels);
