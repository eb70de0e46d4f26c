/* free_partials.h - differentiates torques along motions whose free coordinates have given efforts.
 *
 * The accelerations and jerks of free coordinates F follow from their efforts u and the rates u' of the efforts:
 *
 *     tau_F(q, qd, qdd) = u,  tau_dot_F(q, qd, qdd, qddd) = u'.
 *
 * The derivatives with respect to a variable x follow from these equations by implicit differentiation, as in
 * free_coordinates.h:
 *
 *     dqdd_F/dx = M_FF^-1 (du/dx - dtau_F/dx),  dqddd_F/dx = M_FF^-1 (du'/dx - Dtau_dot_F/Dx),
 *     Dtau_dot/Dx = dtau_dot/dx + dtau_dot/dqdd_F dqdd_F/dx. */
#pragma once
#include "dynamics/motion/free_coordinates.h"
#include "motion_chain.h"

/* Partial derivatives of the results of one block by q, qd, qdd and, for tau_dot (`rate`), qddd. rows = 0: not wanted.
 * In tau and rate, the rows of mimic joints with limited efforts come after the nv rows of the coordinates. */
typedef struct dyn_torque_partials {
    dyn_partials tau, rate, wrenches, qdd;
    double      *by_parameters; /* nv x columns: dtau_dparameters; NULL: not wanted */
    size_t       columns;
} dyn_torque_partials;

/* The free coordinates of one block, in lanes. */
typedef struct dyn_free_motion {
    dyn_free_block block;             /* its M and `load` belong to the states of the block */
    const bool    *driven;            /* [nv] false for free coordinates */
    const double  *by_duration;       /* nv: derivatives of the efforts u by the duration; NULL: zeros */
    const double  *rates_by_duration; /* nv: derivatives of their rates u' by the duration; NULL: zeros */
    double        *jerk;              /* nv x nv: scratch */
} dyn_free_motion;

/* Replaces partial derivatives at given accelerations, and derivatives by the duration, by those with free coordinates.
 * Sets p->qdd. p->rate.by[3] is the same matrix as p->tau.by[2]. `by_duration` of tau and qdd, and of rate if wanted,
 * must not be NULL. */
void dyn_free_partials(const dyn_free_motion *motion, const dyn_torque_partials *p);
