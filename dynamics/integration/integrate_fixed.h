/* integrate_fixed.h - integrates with fixed steps: the part that all methods with fixed steps share.
 * integrate_adaptive.h has the shared part of methods with error control; integrator.h lists the methods. */
#pragma once
#include "integrator.h"

/* Returns the number of steps over `time` seconds: the fewest equal steps that are not longer than `step`, s. */
double dyn_fixed_steps(double step, double time);

/* Advances ode->y from time t by a step h, in s. First evaluates y' at t, and observes that state (dyn_ode_observe). */
typedef void dyn_fixed_step(dyn_ode *ode, double t, double h);

/* Takes a step and corrects the state at its end. */
void dyn_fixed_advance(dyn_ode *ode, double t, double h, dyn_fixed_step *step);

/* Integrates ode->y over an interval by fixed steps. */
dyn_integration dyn_integrate_fixed(dyn_ode *ode, dyn_interval interval, dyn_fixed_step *step);
