/* ode_input.h - computes the efforts of actuators at a time and a state from the input of a simulation
 * (api/requests/control/actuator_input.h). */
#pragma once
#include "robot_ode.h"

/* Takes the arrays from the request's pool. Returns false with a problem. */
bool api_ode_input_open(api_evaluation *e, api_ode *ode);

/* Sets the controller's own state at the start, in ode->state.y. */
void api_ode_input_start(api_ode *ode);

/* Sets ode->tau at time t, ode->q and qd, and ode->unclipped, the efforts before clipping. Writes the rate of the
 * controller's own state to `rate` behind nv accelerations. */
void api_ode_input_apply(api_ode *ode, double t, const double *qd, double *rate);
