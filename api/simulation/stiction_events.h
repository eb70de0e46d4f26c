/* stiction_events.h - decides which joints stick (ode_stiction.h): at the start of a simulation, after breaks of the
 * input, and at the events that the integrator locates. One simulation, repeated in all lanes. */
#pragma once
#include "ode.h"

/* Decide which joints stick at ode->y: at the start, and at time t after a break of the input. */
void api_stiction_events_start(api_ode *ode);
void api_stiction_events_restart(api_ode *ode, double t);

/* Writes the api_ode_stiction_count event functions at y (in lanes) to `margins`. A joint starts or ends sticking where
 * its function becomes zero. */
void api_stiction_events_margins(api_ode *ode, double t, const double *y, double *margins);

/* Applies the events at ode->y: joints whose `roots` are not 0 change between sliding and sticking, and their q'
 * becomes zero. */
void api_stiction_events_switch(api_ode *ode, double t);
