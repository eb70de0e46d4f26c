/* smooth_check.h - checks the limits of a smooth timing between the places at which its rows hold (smooth_timing.h). */
#pragma once
#include "smooth_timing.h"

/* Returns the largest excess of a limit at instants between the places, where rows are interpolated from four places; 0
 * or less: no limit is exceeded. With `narrow`, a limit that is exceeded between two places is narrowed at both by the
 * excess; t->narrowed stores the sum of these changes. */
double dyn_smooth_excess_between(dyn_smooth *t, bool narrow);
