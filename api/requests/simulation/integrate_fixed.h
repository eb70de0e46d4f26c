/* integrate_fixed.h - integrates with fixed steps: the part that all methods with fixed steps share.
 * integrate_adaptive.h has that of methods with error control, integrator.h lists the methods. */
#pragma once
#include "ode.h"

enum { API_MAX_STEPS = 10000000 }; /* largest number of steps of one simulation */

/* Returns the number of steps over `time` seconds: the fewest equal steps that are not longer than requested. */
double api_fixed_steps(const api_simulation *s, double time);

/* Advances ode->y from time t by a step h, in s. Calls api_ode_rate and api_ode_limits_compare for the state at t. */
typedef void api_fixed_step(api_ode *ode, double t, double h);

/* Takes a step and corrects the state at its end. */
void api_fixed_advance(api_ode *ode, double t, double h, api_fixed_step *step);

/* Integrates ode->y over an interval by fixed steps. Returns as `integrate` of api_integrator does. */
bool api_integrate_fixed(api_ode *ode, api_interval interval, api_fixed_step *step, api_problem *problem);
