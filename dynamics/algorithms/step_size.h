/* step_size.h - declares the size of a workspace for the kernels of step.h; private to dynamics/. */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/math/lane.h"

/* Returns the bytes of a workspace for steps with held frames. For other steps those of DYN_KERNELS are sufficient. */
size_t LANE_NAME(step_size)(const dyn_model *);
