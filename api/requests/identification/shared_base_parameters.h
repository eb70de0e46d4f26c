/* shared_base_parameters.h - find a model's base parameters when a request first needs them, and keep them with the
 * model for all later requests. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/identification/base_parameters.h"

/* Returns the base parameters with the joint parameters in `with` (a set of DYN_BASE_...), owned by the model. Returns
 * NULL with a problem if the model is too large, the deadline has passed, or there is no memory. */
const dyn_base *api_base_share(api_query *q, unsigned with);

/* Finds the base parameters among some parameters for this request alone. The caller frees the result with
 * dyn_base_free. Returns NULL with a problem as api_base_share does. */
dyn_base *api_base_find_in_request(const api_query *q, const dyn_base_candidates *among);

/* Returns the estimated seconds to find the base parameters; 0 if they are already known or the model is too large. */
double api_base_wait(const api_model *model, unsigned with);

/* Checks that the request has the model's own gravity, for which the base parameters are found. Returns false with a
 * problem. */
bool api_base_check_gravity(const api_query *q, api_problem *problem);
