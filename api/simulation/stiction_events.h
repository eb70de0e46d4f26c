/* stiction_events.h - which joints stick (ode_stiction.h): decided when simulations begin, when what acts may have
 * jumped, and where the integrator finds that friction comes to its limit or a joint to rest. One simulation, in all
 * lanes. */
#pragma once
#include "ode.h"

/* Which of them stick where the plant stands, at p->y, when it begins; and when what acts may have jumped. */
void api_stick_begin(api_plant *p);
void api_stick_review(api_plant *p, double t);

/* What they are from changing, at y in lanes: each of api_stick_count changes where its number becomes zero. */
void api_stick_margins(api_plant *p, double t, const double *y, double *margins);

/* Where some have, at p->y: those whose `roots` are not 0. Their q' is zero afterwards. */
void api_stick_change(api_plant *p, double t);
