/* stiction_events.h - which joints stick (ode_stiction.h): decided when simulations begin, when what acts may have
 * jumped, and where the integrator finds that friction comes to its limit or a joint to rest. One simulation, in all
 * lanes. */
#pragma once
#include "ode.h"

/* Which of them stick where the plant stands, at p->y, when it begins; and when what acts may have jumped. */
void api_stiction_events_start(api_ode *p);
void api_stiction_events_restart(api_ode *p, double t);

/* What they are from changing, at y in lanes: each of api_ode_stiction_count changes where its number becomes zero. */
void api_stiction_events_margins(api_ode *p, double t, const double *y, double *margins);

/* Where some have, at p->y: those whose `roots` are not 0. Their q' is zero afterwards. */
void api_stiction_events_switch(api_ode *p, double t);
