/* ode_held_frames.h - keeps frames held while a robot is simulated (dynamics/contact/contact.h). Accelerations keep the
 * velocities along held axes at zero. After every step positions and velocities are projected back, so that they do not
 * drift.
 *
 * Positions are projected where holding a velocity means holding a position: for a frame's origin along world axes, or
 * along all three axes of any frame; for its orientation if all three rotations are held; for the height of the contact
 * point of a rolling frame above its plane. Other holds are nonholonomic, like the rolling itself and skates, and
 * constrain no position. The projections are the smallest in the metric of the mass
 * matrix: q moves by -Jbar r, with r the displacements of the frames from their initial poses, then q' by -Jbar J q'.
 */
#pragma once
#include "robot_ode.h"

/* Allocates the arrays for the held frames `contact`. Returns NULL if memory is refused. */
dyn_ode_held *dyn_ode_held_open(dyn_memory memory, const dyn_robot_ode *ode, const dyn_held_set *contact);

/* Stores the initial poses at ode->state.y. Records a fault of simulations in which a held frame moves. */
void dyn_ode_held_start(dyn_robot_ode *ode);

/* Turns qdd of the free robot at ode->q into qdd of the held robot. */
void dyn_ode_held_rate(dyn_robot_ode *ode, double t, const double *qd, double *qdd);

/* Sets the wrenches at the last dyn_ode_held_rate to those that act beside accelerations qdd without held frames. */
void dyn_ode_held_set_wrenches(dyn_robot_ode *ode, const double *qdd);

/* Subtracts the efforts J^T l of the contact wrenches l from tau, in lanes. The wrenches are those of the last
 * dyn_ode_held_rate. */
void dyn_ode_held_subtract_efforts(const dyn_robot_ode *ode, double *tau);

/* Without contact damping: projects y after a step that ends at time t, for `lanes` states with entries `stride` apart.
 */
void dyn_ode_held_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Moves the positions q of one lane by `step`, which has an entry per velocity; both in lanes. */
void dyn_ode_held_move(const dyn_robot_ode *ode, size_t lane, double *q, const double *step);

/* Returns the constraint matrices at the last dyn_ode_held_rate. */
dyn_contact_block *dyn_ode_held_block(dyn_robot_ode *ode);

/* Returns the accelerations that contact damping leaves along the held axes: laid out like the wrenches. */
const double *dyn_ode_held_residual(const dyn_robot_ode *ode);

/* Returns the wrenches on the held frames: 6 numbers per frame, in lanes. */
const double *dyn_ode_held_wrenches(const dyn_ode_held *contact);
