/* limited_quantities.h - finds the positions and velocities that limits bound (api/robots/model/limits.h), and
 * differentiates them with respect to the state of the model. They are positions and velocities of the tree: with
 * loops, passive joints follow the actuated ones. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/limits.h"

/* Points quantities[] to the lanes of positions, velocities, accelerations and jerks of a block whose loops are closed;
 * NULL: zeros. With loops the positions and velocities are those of the tree, in the workspace of the kernels, and
 * valid until the kernels are called with another qd. */
void api_limited_quantities(const api_evaluation *e, size_t block, const double *quantities[DYN_LIMIT_KINDS]);

/* Differentiates the positions and velocities of a block. `room` has api_limited_rates_entries numbers a state. */
void   api_limited_rates_find(const api_evaluation *e, size_t block, double *room, dyn_limited_rates *rates);
size_t api_limited_rates_entries(const api_model *model);
