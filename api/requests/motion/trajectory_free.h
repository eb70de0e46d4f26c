/* trajectory_free.h - find the motion of free coordinates along a trajectory, and differentiate with them.
 *
 * At a sample the spline gives positions and velocities of all coordinates, and accelerations and jerks of the driven
 * ones D. The accelerations and jerks of the free ones F follow from their efforts u and the rates u' of the efforts:
 *
 *     tau_F(q, qd, qdd) = u,  tau_dot_F(q, qd, qdd, qddd) = u'. */
#pragma once
#include "free_efforts.h"
#include "motion.h"
#include "dynamics/trajectory_gradients/free_partials.h"
#include "wrench_rate_terms.h"

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

/* Replaces the partial derivatives at given accelerations by those with free coordinates (free_partials.h). `room` has
 * api_trajectory_free_room doubles a state. */
void   api_trajectory_free_partials(const api_evaluation *e, const api_free_efforts *f, size_t block,
                                    const dyn_torque_partials *p, double *room);
size_t api_trajectory_free_room(size_t nv);
