/* ode_input.h - apply the input of a simulation (actuator_input.h): the efforts of actuators at a time and a state. */
#pragma once
#include "ode.h"

/* Memory of the request's. False with a problem. */
bool api_ode_input_open(api_evaluation *e, api_ode *plant);

/* Sets the controller's own state when simulations begin, at p->y. */
void api_ode_input_start(api_ode *p);

/* Sets p->tau at time t, p->q and qd, and p->demand: the same before efforts are clipped at their limits. The rate of
 * the controller's own state goes behind the nv accelerations in `rate`. */
void api_ode_input_apply(api_ode *p, double t, const double *qd, double *rate);
