/* ode_held_frames.h - keeps frames held while a robot is simulated (dynamics/contact/contact.h). Accelerations keep the
 * velocities along held axes at zero. After every step positions and velocities are projected on the constraints, so
 * that they do not drift.
 *
 * Positions are projected if a held velocity implies a constant position: for a frame's origin along world axes, or
 * along all three axes of any frame; for its orientation if all three rotations are held; for the height of the contact
 * point of a rolling frame above its plane. Other constraints, such as rolling itself and skates, are nonholonomic and
 * constrain no position. The projections are the smallest in the metric of the mass matrix: q moves by -Jbar r, with r
 * the displacements of the frames from their initial poses, then q' by -Jbar J q', where Jbar = M^-1 J^T (J M^-1
 * J^T)^-1. */
#pragma once
#include "robot_ode.h"

/* Allocates the arrays for the held frames `contact`. Returns NULL if memory is refused. */
dyn_ode_held *dyn_ode_held_open(dyn_memory memory, const dyn_robot_ode *ode, const dyn_held_set *contact);

/* Stores the initial poses at ode->state.y. Records a fault of simulations in which a held frame moves. */
void dyn_ode_held_start(dyn_robot_ode *ode);

/* Replaces qdd, the accelerations at ode->q without held frames, by those with held frames. */
void dyn_ode_held_rate(dyn_robot_ode *ode, double t, const double *qd, double *qdd);

/* Recomputes the wrenches on the held frames, at the state of the last dyn_ode_held_rate, from `qdd`, accelerations
 * without held frames that contain the friction of joints at rest. */
void dyn_ode_held_set_wrenches(dyn_robot_ode *ode, const double *qdd);

/* Subtracts J^T l from tau, in lanes: l are the wrenches on the held frames from the last dyn_ode_held_rate. */
void dyn_ode_held_subtract_efforts(const dyn_robot_ode *ode, double *tau);

/* Projects y after a step that ends at time t, unless there is contact damping. y has `lanes` states with entries
 * `stride` apart. */
void dyn_ode_held_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Moves the positions q of one lane by `step`, which has one entry for each velocity; both are in lanes. */
void dyn_ode_held_move(const dyn_robot_ode *ode, size_t lane, double *q, const double *step);

/* Returns the constraint matrices of the last dyn_ode_held_rate. */
dyn_contact_block *dyn_ode_held_block(dyn_robot_ode *ode);

/* Returns the accelerations along held axes that contact damping leaves, 6 per frame, in lanes. */
const double *dyn_ode_held_residual(const dyn_robot_ode *ode);

/* Returns the wrenches on the held frames: 6 numbers per frame, in lanes. */
const double *dyn_ode_held_wrenches(const dyn_ode_held *contact);
