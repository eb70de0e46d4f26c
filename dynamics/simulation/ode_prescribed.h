/* ode_prescribed.h - imposes a given motion on some coordinates while the others are integrated
 * (simulation.h). */
#pragma once
#include "robot_ode.h"

/* Allocates ode->prescribed; it stays NULL if no motion is prescribed. Returns false if memory is refused. */
bool dyn_ode_prescribed_open(dyn_memory memory, dyn_robot_ode *ode);

/* Writes positions and velocities of the prescribed motion at time t to y, for `lanes` states with entries `stride`
 * apart, and stores the accelerations in ode->prescribed. */
void dyn_ode_prescribed_set(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Returns a copy of y (in lanes) with the prescribed motion at time t; y itself if nothing is prescribed. */
const double *dyn_ode_prescribed_state(dyn_robot_ode *ode, double t, const double *y);

/* Returns the prescribed accelerations (nv in lanes, 0 for all other coordinates); NULL if no coordinate is prescribed.
 */
const double *dyn_ode_prescribed_accelerations(const dyn_robot_ode *ode);

/* Sets the efforts of prescribed coordinates in ode->tau and ode->unclipped from the accelerations qdd of the whole
 * robot. */
void dyn_ode_prescribed_efforts(dyn_robot_ode *ode, const double *qd, const double *qdd);
