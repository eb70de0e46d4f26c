/* ode_input.h - computes the efforts of actuators at a time and a state from the input of a simulation
 * (simulation.h). */
#pragma once
#include "robot_ode.h"

/* Allocates the arrays of signals and controller from `memory`. Returns false if memory is refused. */
bool dyn_ode_input_open(dyn_memory memory, dyn_robot_ode *ode);

/* Sets the controller's own state at the start, in ode->state.y, and takes the first sample of one that is sampled. */
void dyn_ode_input_start(dyn_robot_ode *ode);

/* Does what dyn_ode_input_apply does, with the controller evaluated at this very time, also if it is sampled. */
void dyn_ode_input_control(dyn_robot_ode *ode, double t, const double *qd, double *rate);

/* Returns the robot as the controller knows it in the first row. */
const dyn_model *dyn_ode_input_model(const dyn_simulation *s);

/* Returns the number of entries of y for the state of the controller and the integrals of its errors. */
size_t dyn_ode_input_states(const dyn_simulation *s);

/* Sets ode->tau at time t, ode->q and qd, and ode->unclipped, the efforts before clipping. Writes the rate of the
 * controller's own state to `rate` behind the nv accelerations. The efforts of a controller that is sampled are those
 * of dyn_ode_sampling_renew below. */
void dyn_ode_input_apply(dyn_robot_ode *ode, double t, const double *qd, double *rate);

/* --- sampled controllers ------------------------------------------------------------------------------------------ */

/* A computer runs a controller: the efforts that it computes from the state at time k `period`, k = 0, 1, ..., act from
 * k period + delay on until the next ones arrive (zero-order hold). The efforts of time 0 also act before any have
 * arrived. Integrals of errors are sums: z grows by period (r - q) after each sample.
 *
 * The integration must end an interval at all these times, which are breaks of the input: dyn_ode_sampling_renew is
 * called there. */

enum { DYN_MAX_SAMPLES = 100000, DYN_MAX_PENDING = 1000 /* most samples that a delay holds back */ };

/* Writes the times between 0 and `last` at which the state is sampled or efforts arrive to `times`, in any order (NULL:
 * counts only). Returns their number. */
size_t dyn_ode_sampling_times(dyn_sampling sampling, double last, double *times);

/* Allocates the arrays of a sampled controller from `memory`; does nothing for others. Returns false if memory is
 * refused. */
bool dyn_ode_sampling_open(dyn_memory memory, dyn_robot_ode *ode);

/* Takes the sample at time 0, at ode->state.y. */
void dyn_ode_sampling_start(dyn_robot_ode *ode);

/* Takes the sample of time t at ode->state.y, if one is due, and lets the efforts act that arrive at t. Does nothing if
 * the controller is not sampled. */
void dyn_ode_sampling_renew(dyn_robot_ode *ode, double t);

/* Sets ode->tau and ode->unclipped to the efforts that act, and the rates of the controller's states, behind the
 * accelerations in `rate`, to zero. */
void dyn_ode_sampling_apply(const dyn_robot_ode *ode, double *rate);
