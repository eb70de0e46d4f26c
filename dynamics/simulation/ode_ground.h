/* ode_ground.h - pushes points of a simulated robot out of planes (dyn_ground_point).
 *
 * With the gap g = n.(x - p) of a point x above the plane through p with the normal n, the velocity v of the material
 * point, v_t = v - (n.v) n, and the depth d = max(0, -g), the force on the robot is
 *
 *     F = N n - mu N v_t / sqrt(|v_t|^2 + v_s^2),  N = max(0, k d (1 - c n.v)),
 *
 * the compliant normal force of Hunt & Crossley (1975), which is continuous at touch and never pulls, and Coulomb
 * friction that is smooth at rest: below the slip velocity v_s a point creeps. Between touch at the velocity u and
 * separation at e u a mass that nothing else moves satisfies c u (1 + e) = ln((1 + c u) / (1 - c e u)).
 *
 * The forces are the last wrenches of the scene. */
#pragma once
#include "robot_ode.h"

/* Takes ode->ground, which stays NULL without points. Returns false if memory is refused. */
bool dyn_ode_ground_open(dyn_memory memory, dyn_robot_ode *ode);

/* Returns the site of the force at a point, of the scene of the simulation. */
dyn_wrench_site dyn_ode_ground_site(const dyn_ground_point *point);

/* Sets the forces at ode->q with velocities qd, in ode->wrenches. Past the deadline they stay as they are. */
void dyn_ode_ground_set(dyn_robot_ode *ode, const double *qd);

/* Returns the forces of the last dyn_ode_ground_set, 3 per point in lanes, N in world axes. */
const double *dyn_ode_ground_forces(const dyn_robot_ode *ode);
