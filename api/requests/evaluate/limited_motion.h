/* limited_motion.h - finds the positions and velocities that limits bound (api/robots/model/limits.h), and
 * differentiates them by the state of the model. They are those of the tree: with loops, passive joints follow the
 * actuated ones. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/limits.h"

/* Sets the lanes of positions and velocities of a block whose loops are closed; NULL: zeros. Those of models with loops
 * are in the workspace of the kernels, until these are called with another qd. */
void api_limited_motion(const api_evaluation *e, size_t block, const double *quantities[API_LIMIT_KINDS]);

/* Derivatives of the tree's q and qd, (nv of the tree) x nv in lanes. NULL: the model has no loops, and the tree's
 * coordinates are the model's. */
typedef struct api_limited_rates {
    const double *by_coordinate; /* dqd_tree/dqd, which is dq_tree/dq as well */
    const double *velocity_by_q; /* dqd_tree/dq */
} api_limited_rates;

/* Differentiates the positions and velocities of a block. `room` has api_limited_rates_entries numbers a state. */
void   api_limited_rates_find(const api_evaluation *e, size_t block, double *room, api_limited_rates *rates);
size_t api_limited_rates_entries(const api_model *model);

/* Returns entry v of the derivative of a limited position or velocity by q (`by` 0), qd (1) or a higher derivative of q
 * in a lane. */
double api_limited_slope(const api_evaluation *e, const api_limit *limit, const api_limited_rates *rates, int by,
                         size_t v, size_t lane);
