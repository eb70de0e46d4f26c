/* ode_prescribed.h - imposes a given motion on some coordinates while the others are integrated
 * (api/requests/control/prescribed.h). */
#pragma once
#include "robot_ode.h"

/* Takes ode->prescribed from the request's pool; it stays NULL if nothing is prescribed. Returns false with a problem.
 */
bool api_ode_prescribed_open(api_evaluation *e, api_ode *ode);

/* Writes positions and velocities of the motion at time t to y, for `lanes` states with entries `stride` apart, and
 * stores the accelerations. */
void api_ode_prescribed_set(api_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Returns a copy of y (in lanes) with the prescribed motion at time t; y itself if nothing is prescribed. */
const double *api_ode_prescribed_state(api_ode *ode, double t, const double *y);

/* Returns the prescribed accelerations (nv in lanes, 0 for all other coordinates); NULL if no coordinate is prescribed.
 */
const double *api_ode_prescribed_accelerations(const api_ode *ode);

/* Finds the efforts of prescribed coordinates from the accelerations qdd of the whole robot, in ode->tau and
 * ode->unclipped. */
void api_ode_prescribed_efforts(api_ode *ode, const double *qd, const double *qdd);
