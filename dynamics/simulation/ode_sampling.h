/* ode_sampling.h - samples a controller as a computer does: the efforts that it computes from the state at time k
 * `period`, k = 0, 1, ..., act from k period + delay on until the next ones arrive (zero-order hold). Those of time 0
 * also act before anything has arrived.
 *
 * Integrals of errors are sums: z grows by period (r - q) after each sample. The integration must end an interval at
 * all these times, which are breaks of the input: dyn_ode_sampling_renew is called there. */
#pragma once
#include "robot_ode.h"

enum { DYN_MAX_SAMPLES = 100000, DYN_MAX_PENDING = 1000 /* most samples that a delay holds back */ };

/* Writes the times between 0 and `last` at which the state is sampled or efforts arrive to `times`, in any order (NULL:
 * counts only). Returns their number. */
size_t dyn_ode_sampling_times(dyn_sampling sampling, double last, double *times);

/* Takes the arrays if the controller is sampled. Returns false if memory is refused. */
bool dyn_ode_sampling_open(dyn_memory memory, dyn_robot_ode *ode);

/* Takes the sample at time 0, at ode->state.y. */
void dyn_ode_sampling_start(dyn_robot_ode *ode);

/* Takes the sample of time t at ode->state.y, if one is due, and lets the efforts act that arrive then. Does nothing
 * for other inputs. */
void dyn_ode_sampling_renew(dyn_robot_ode *ode, double t);

/* Sets ode->tau and ode->unclipped to the efforts that act, and the rates of the controller's states, behind the
 * accelerations in `rate`, to zero. */
void dyn_ode_sampling_apply(const dyn_robot_ode *ode, double *rate);
