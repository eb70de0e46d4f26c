/* fixed_events.h - takes fixed steps of simulations with events (integrator.h): a step in which the velocity of a
 * sliding joint reaches zero is divided there, in the lane of that simulation alone. */
#pragma once
#include "integrate_fixed.h"

/* Allocates ode->fixed_events, if the integrator does not locate the events of the ODE. Returns false if memory is
 * refused. */
bool dyn_fixed_events_open(dyn_ode *ode, const dyn_integrator *integrator, dyn_memory memory);

/* Takes a step. Sliding joints that come to rest stop, and joints at rest stick or start to slide. */
void dyn_fixed_events_step(dyn_ode *ode, double t, double h, dyn_fixed_step *step);
