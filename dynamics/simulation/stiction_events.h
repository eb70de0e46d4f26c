/* stiction_events.h - decides which joints stick (ode_stiction.h): at the start of a simulation, after breaks of the
 * input, at the events that the integrator locates, and after every fixed step. */
#pragma once
#include "ode_stiction.h"

/* Lets every joint slide to the side of its velocity at ode->state.y, at the start. */
void dyn_stiction_events_set_sides(dyn_robot_ode *ode);

/* Decides which joints stick at ode->state.y and time t: at the start and after a break of the input. */
void dyn_stiction_events_restart(dyn_robot_ode *ode, double t);

/* Sets the wrenches on held frames of the last evaluation, at ode->state.y, to those beside the friction that is
 * decided: where both share the load, friction of least size (dynamics/joint_stiction/stiction_solver.h). */
void dyn_stiction_events_share_load(dyn_robot_ode *ode);

/* Writes the dyn_ode_stiction_count event functions at y (in lanes, one simulation) to `margins`. A joint starts or
 * ends sticking where its function becomes negative. */
void dyn_stiction_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins);

/* Applies the events at ode->state.y, of one simulation: joints whose `roots` are not 0 change between sliding and
 * sticking, and their q' becomes zero. */
void dyn_stiction_events_switch(dyn_robot_ode *ode, double t);

/* Returns the least velocity of a joint of one lane in the direction of its side: negative if a joint has turned since
 * the joints had the velocities `from` (nv in lanes). Infinite if all joints are at rest. */
double dyn_stiction_events_advance(const dyn_robot_ode *ode, size_t lane, const double *from);

/* Stops the joints of one lane that have turned, however slowly, since they had the velocities `from` (nv in lanes).
 * Then joints at rest stick or start to slide; if they `stay`, they stick, unless that would change velocities
 * abruptly. Other lanes keep their sides, but not their y. */
void dyn_stiction_events_stop(dyn_robot_ode *ode, double t, size_t lane, const double *from, bool stay);

/* Ends a fixed step at time t: joints at rest stick or start to slide. Marks lanes whose velocities remain to be
 * corrected as `uncorrected`. */
void dyn_stiction_events_end_step(dyn_robot_ode *ode, double t);
