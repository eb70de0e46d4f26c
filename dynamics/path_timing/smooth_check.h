/* smooth_check.h - checks the limits of a smooth timing between the places at which its rows hold (smooth_timing.h). */
#pragma once
#include "smooth_timing.h"

/* Returns the largest excess of a limit at the instants t->between; at most 0: none. With `narrow`, a limit that is
 * exceeded between two places is narrowed at both by about the excess. */
double dyn_smooth_excess_between(dyn_smooth *t, bool narrow);
