/* stiction_events.h - decides which joints stick (ode_stiction.h): at the start of a simulation, after breaks of the
 * input, at the events that the integrator locates, and after every fixed step. */
#pragma once
#include "ode_stiction.h"

/* Sets the side of every joint to the sign of its velocity at ode->state.y, at the start. */
void dyn_stiction_events_set_sides(dyn_robot_ode *ode);

/* Decides which joints stick at ode->state.y and time t: at the start and after a break of the input. */
void dyn_stiction_events_restart(dyn_robot_ode *ode, double t);

/* Recomputes the wrenches on held frames of the last evaluation, at ode->state.y. If sticking joints and held frames
 * can share a load in several ways, they are those with the friction of least size
 * (dynamics/joint_stiction/stiction_solver.h). */
void dyn_stiction_events_share_load(dyn_robot_ode *ode);

/* Writes the event function of each joint that can stick at y (in lanes, one simulation) to `margins`. When it becomes
 * negative, the joint may start or end sticking. */
void dyn_stiction_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins);

/* Handles the events at ode->state.y, of one simulation: joints whose `roots` are not 0 change between sliding and
 * sticking; joints that stop get q' = 0. */
void dyn_stiction_events_switch(dyn_robot_ode *ode, double t);

/* Returns the least velocity of a joint of one lane in the direction of its side: negative if a joint has reversed
 * since the joints had the velocities `from` (nv in lanes). Infinite if all joints are at rest. */
double dyn_stiction_events_advance(const dyn_robot_ode *ode, size_t lane, const double *from);

/* Stops the joints of one lane that have reversed, however slowly, since they had the velocities `from` (nv in lanes).
 * Then decides which joints at rest stick; with `stay` all of them stick, unless that would change velocities abruptly.
 * The sides of other lanes stay the same, but not their y. */
void dyn_stiction_events_stop(dyn_robot_ode *ode, double t, size_t lane, const double *from, bool stay);

/* Ends a fixed step at time t: decides which joints at rest stick. Marks lanes whose velocities must still be corrected
 * as `uncorrected`. */
void dyn_stiction_events_end_step(dyn_robot_ode *ode, double t);
