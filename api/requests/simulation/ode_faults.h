/* ode_faults.h - detects simulations that diverge, and reports faults of simulations as problems.
 *
 * An unstable step, a gain of the wrong sign, or a mechanism driven through a singularity makes velocities grow without
 * bound. Adaptive steps would shrink with them, and the simulation would continue until its deadline. Therefore
 * velocities and accelerations beyond those of any robot are faults. */
#pragma once
#include "robot_ode.h"
#include "dynamics/integration/integrator.h"

/* Records faults of lanes whose velocities qd exceed DYN_MAX_RATE. */
void api_ode_faults_check_velocities(api_ode *ode, double t, const double *qd);

/* Records faults of lanes in which a joint of a robot with loops, passive joints included, exceeds DYN_MAX_RATE. The
 * velocities are those of the last kernel call. */
void api_ode_faults_check_passive(api_ode *ode, double t);

/* Replaces q by the last closed position in lanes with a fault, for robots with loops. Continuation along a diverging
 * motion would take a time proportional to its length. */
void api_ode_faults_freeze(const api_ode *ode, double *q);

/* Records faults of lanes whose accelerations qdd exceed DYN_MAX_ACCELERATION. */
void api_ode_faults_check_accelerations(api_ode *ode, double t, const double *qdd);

/* Returns true if no simulation has a fault. Otherwise reports the fault of the first faulty simulation as a problem
 * and returns false. */
bool api_ode_faults_check_all(const api_ode *ode, api_problem *problem);

/* Returns true if the simulation has no fault. Otherwise reports its fault as a problem and returns false. */
bool api_ode_faults_check_lane(const api_ode *ode, size_t lane, api_problem *problem);

/* Reports that memory is short for the integrator. Returns false. */
bool api_ode_faults_fail_short(api_problem *problem);

/* Returns true if an integration is done. Otherwise reports why it ended as a problem and returns false. */
bool api_ode_faults_check_integration(api_ode *ode, dyn_integration integration, api_problem *problem);
