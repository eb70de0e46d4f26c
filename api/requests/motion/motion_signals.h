/* motion_signals.h - find the instants at which signals are evaluated along a motion (signal_value.h). */
#pragma once
#include "motion.h"

/* Returns the sample of a state among all states of the plan; unused lanes have the last state's. motion->time must be
 * filled. */
dyn_instant api_instant_of(const api_evaluation *e, const api_motion *m, size_t state);
