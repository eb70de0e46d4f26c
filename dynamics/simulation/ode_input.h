/* ode_input.h - computes the efforts of actuators at a time and a state from the input of a simulation
 * (simulation.h). */
#pragma once
#include "robot_ode.h"

/* Takes the arrays. Returns false if memory is refused. */
bool dyn_ode_input_open(dyn_memory memory, dyn_robot_ode *ode);

/* Sets the controller's own state at the start, in ode->state.y, and takes the first sample of one that is sampled. */
void dyn_ode_input_start(dyn_robot_ode *ode);

/* As dyn_ode_input_apply, for a controller at this very time, also one that is sampled. */
void dyn_ode_input_control(dyn_robot_ode *ode, double t, const double *qd, double *rate);

/* Returns the entries of y for the state of the controller and the integrals of its errors. */
size_t dyn_ode_input_states(const dyn_simulation *s);

/* Sets ode->tau at time t, ode->q and qd, and ode->unclipped, the efforts before clipping. Writes the rate of the
 * controller's own state to `rate` behind nv accelerations. The efforts of a controller that is sampled are those of
 * ode_sampling.h. */
void dyn_ode_input_apply(dyn_robot_ode *ode, double t, const double *qd, double *rate);
