/* fixed_events.h - takes fixed steps of simulations with joints that can stick (ode_stiction.h): a step in which the
 * velocity of a sliding joint reaches zero is divided there, in the lane of that simulation alone. */
#pragma once
#include "integrate_fixed.h"

/* The state before a step and after it, and the start of a part of it. */
typedef struct api_fixed_events {
    double    *start, *end, *part; /* in lanes: the entries of y, then those of the closed position */
    api_fault *faults;             /* [DYN_MAX_LANES] at the end */
} api_fixed_events;

/* Takes ode->fixed from the request's pool, if joints can stick. Returns false with a problem. */
bool api_fixed_events_open(api_evaluation *e, api_ode *ode);

/* Takes a step. Sliding joints that come to rest stop, and joints at rest stick or start to slide. */
void api_fixed_events_step(api_ode *ode, double t, double h, api_fixed_step *step);
