/* ode_faults.h - detects simulations that diverge: velocities or accelerations beyond those of any robot.
 *
 * An unstable step, a gain of the wrong sign, or a mechanism driven through a singularity makes velocities grow without
 * bound. Adaptive steps would shrink with them, and the simulation would continue until its deadline. */
#pragma once
#include "ode.h"

#define API_MAX_VELOCITY     1e5  /* rad/s or m/s: ten times the speed of the fastest motors */
#define API_MAX_ACCELERATION 1e12 /* rad/s^2 or m/s^2: larger accelerations count as divergence */

/* Records faults of lanes whose velocities qd exceed API_MAX_VELOCITY. */
void api_ode_faults_check_velocities(api_ode *ode, double t, const double *qd);

/* Records faults of lanes in which a joint of a robot with loops, passive joints included, exceeds API_MAX_VELOCITY.
 * The velocities are those of the last kernel call. */
void api_ode_faults_check_passive(api_ode *ode, double t);

/* Replaces q by the last closed position in lanes with a fault, for robots with loops. Continuation along a diverging
 * motion would take a time proportional to its length. */
void api_ode_faults_freeze(const api_ode *ode, double *q);

/* Records faults of lanes whose accelerations qdd exceed API_MAX_ACCELERATION. */
void api_ode_faults_check_accelerations(api_ode *ode, double t, const double *qdd);

/* Returns the velocity index with the largest acceleration at ode->y in lane 0, for messages; -1: all are zero or not
 * finite. */
int api_ode_faults_find_worst(api_ode *ode, double t, double *acceleration);

/* Reports a fault of velocity, acceleration, or of an infinite entry of y as a problem. */
void api_ode_faults_fail(const api_ode *ode, const api_fault *fault, api_problem *problem);
