/* friction.h - computes friction from efforts, for trees and for models with loops. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/friction_map.h"

/* Evaluates the kernel of friction_map.h for a block; with loops for the actuated joints (dyn_loop_friction_map). The
 * friction of the request must depend on the load. */
void api_friction_map(const api_evaluation *e, const dyn_friction_map *io);

/* Computes the friction of moving joints (nv in lanes) under the efforts of the request. */
void api_friction_find(const api_evaluation *e, size_t block, double *friction);
