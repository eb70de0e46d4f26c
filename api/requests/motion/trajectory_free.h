/* trajectory_free.h - find the motion of free coordinates along a trajectory, and differentiate with them.
 *
 * At a sample the spline gives positions and velocities of all coordinates, and accelerations and jerks of the driven
 * ones D. Those of the free ones F follow from their efforts u and the rates u' of the efforts:
 *
 *     tau_F(q, qd, qdd) = u,  tau_dot_F(q, qd, qdd, qddd) = u'.
 *
 * The derivatives follow from these equations by implicit differentiation, as in free_coordinates.h:
 *
 *     dqdd_F/dx = M_FF^-1 (du/dx - dtau_F/dx),  dqddd_F/dx = M_FF^-1 (du'/dx - Dtau_dot_F/Dx),
 *     Dtau_dot/Dx = dtau_dot/dx + dtau_dot/dqdd_F dqdd_F/dx. */
#pragma once
#include "free_efforts.h"
#include "motion.h"
#include "dynamics/motion/motion_chain.h"
#include "wrench_rate_terms.h"

/* Partial derivatives of the results of one block by q, qd, qdd and, of tau_dot, qddd. rows = 0: not wanted. Behind the
 * nv rows of tau and rate are those of mimic joints whose efforts are limited. */
typedef struct api_trajectory_partials {
    dyn_partials tau, rate, wrenches, qdd;
    double      *by_parameters; /* nv x columns: dtau_dparameters; NULL: not wanted */
    size_t       columns;
} api_trajectory_partials;

/* Returns the rows of y that belong to the model's coordinates, without those of mimic joints. */
static inline dyn_partials api_coordinate_rows(const api_evaluation *e, const dyn_partials *y)
{
    dyn_partials rows = *y;
    if (rows.rows > e->model->nv) rows.rows = e->model->nv;
    return rows;
}

/* Finds the accelerations of free coordinates in plan->state[API_QDD] of a block, and with `jerks` those in [API_QDDD].
 * `room` has api_trajectory_free_motion_room doubles a state. False with a problem. */
bool   api_trajectory_free_motion(const api_evaluation *e, const api_free_efforts *f, size_t block, bool jerks,
                                  double *room);
size_t api_trajectory_free_motion_room(size_t nv);

/* Sets tau of free coordinates to their efforts, and tau_dot to the rates, without rounding errors. NULL: not wanted.
 */
void api_trajectory_free_restore(const api_evaluation *e, const api_free_efforts *f, size_t block, double *tau,
                                 double *tau_dot);

/* Replaces the partial derivatives at given accelerations, and those by the duration, by those with free coordinates.
 * Sets p->qdd. p->rate.by[3] is p->tau.by[2]. `room` has api_trajectory_free_room doubles a state. */
void   api_trajectory_free_partials(const api_evaluation *e, const api_free_efforts *f, size_t block,
                                    const api_trajectory_partials *p, const api_duration_terms *terms, double *room);
size_t api_trajectory_free_room(size_t nv);
