/* ode_input.h - computes the efforts of actuators at a time and a state from the input of a simulation
 * (simulation.h). */
#pragma once
#include "robot_ode.h"

/* Allocates the arrays of signals and controller from `memory`. Returns false if memory is refused. */
bool dyn_ode_input_open(dyn_memory memory, dyn_robot_ode *ode);

/* Sets the state of the controller at the start, in ode->state.y, and takes the first sample of a sampled
 * controller. */
void dyn_ode_input_start(dyn_robot_ode *ode);

/* Does the same as dyn_ode_input_apply, but evaluates the controller at time t even if it is sampled. */
void dyn_ode_input_control(dyn_robot_ode *ode, double t, const double *qd, double *rate);

/* Returns the model of the robot that the controller uses, in the first row. */
const dyn_model *dyn_ode_input_model(const dyn_simulation *s);

/* Returns the number of entries of y for the state of the controller and the integrals of its errors. */
size_t dyn_ode_input_states(const dyn_simulation *s);

/* Sets ode->tau, and ode->unclipped, the efforts before clipping, at time t, ode->q and qd. Writes the rate of the
 * controller's state to `rate` after the nv accelerations. The efforts of a sampled controller are those of
 * dyn_ode_sampling_renew below. */
void dyn_ode_input_apply(dyn_robot_ode *ode, double t, const double *qd, double *rate);

/* --- sampled controllers ------------------------------------------------------------------------------------------ */

/* A sampled controller models a controller on a computer: the efforts that it computes from the state at time k
 * `period`, k = 0, 1, ..., act from k period + delay until the next ones (zero-order hold). The efforts of time 0 also
 * act before that. Integrals of errors are sums: z grows by period (r - q) after each sample. */

enum { DYN_MAX_SAMPLES = 100000, DYN_MAX_PENDING = 1000 /* largest number of samples whose efforts are delayed */ };

/* Writes to `times` (NULL: only counts) the times between 0 and `last` at which a sample is taken or efforts begin to
 * act, in any order. Returns their number. */
size_t dyn_ode_sampling_times(dyn_sampling sampling, double last, double *times);

/* Allocates the arrays of a sampled controller from `memory`; does nothing for a continuous controller. Returns false
 * if memory is refused. */
bool dyn_ode_sampling_open(dyn_memory memory, dyn_robot_ode *ode);

/* Takes the sample at time 0, at ode->state.y. */
void dyn_ode_sampling_start(dyn_robot_ode *ode);

/* Takes the sample of time t at ode->state.y, if one is due, and activates the efforts that begin to act at t. Does
 * nothing if the controller is not sampled. */
void dyn_ode_sampling_renew(dyn_robot_ode *ode, double t);

/* Sets ode->tau and ode->unclipped to the efforts that act now, and the rates of the controller's states, after the
 * accelerations in `rate`, to zero. */
void dyn_ode_sampling_apply(const dyn_robot_ode *ode, double *rate);
