/* motion_loops.h - close the loops of a model at all samples of motions. */
#pragma once
#include "motion.h"

/* Finds the passive coordinates at all samples: those of a sample follow from the sample before along the motion. Does
 * nothing for models without loops. Returns false with a problem. */
bool api_motion_follow_loops(api_plan *plan, const api_motion *motion);
