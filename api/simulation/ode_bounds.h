/* ode_bounds.h - notice simulations that explode: coordinates that move or accelerate beyond anything a robot does.
 *
 * An unstable step, a gain of the wrong sign or a mechanism driven through a singularity makes velocities grow without
 * bound. Steps that keep a tolerance then shrink with them, and the simulation would creep on until its deadline. */
#pragma once
#include "ode.h"

#define API_MAX_VELOCITY     1e5  /* rad/s or m/s: ten times what the fastest motors do */
#define API_MAX_ACCELERATION 1e12 /* rad/s^2 or m/s^2 */

/* Notes the lanes whose velocities qd are beyond the bound. */
void api_ode_bounds_check_velocities(api_ode *p, double t, const double *qd);

/* The same for the velocities of all joints of a robot with loops, which the kernels found when they were asked last.
 */
void api_ode_bounds_check_passive(api_ode *p, double t);

/* Lanes with a fault, of robots with loops: q becomes the position at which the loops were closed last, since following
 * an exploding motion from there would take as long as the motion is far. */
void api_ode_bounds_freeze(const api_ode *p, double *q);

/* Notes the lanes whose accelerations are beyond the bound. */
void api_ode_bounds_check_accelerations(api_ode *p, double t, const double *qdd);

/* The coordinate that accelerates most at p->y in lane 0, and how much: for messages. -1: none does. */
int api_ode_bounds_find_worst(api_ode *p, double t, double *acceleration);

/* The problem of a fault of velocity, acceleration, or of an entry of y that is no number. */
void api_ode_bounds_fail(const api_ode *p, const api_fault *fault, api_problem *problem);
