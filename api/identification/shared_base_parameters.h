/* shared_base_parameters.h - find a model's base parameters when a request first needs them, and keep them with the
 * model for all later requests. */
#pragma once
#include "api/lanes/evaluation.h"
#include "api/model/base_parameters.h"

/* Returns the base parameters with the joint parameters in `with` (a set of API_BASE_...), owned by the model. NULL
 * with a problem: the model is too large, the deadline has passed, or there is no memory. */
const api_base *api_base_share(api_query *q, unsigned with);

/* The estimated seconds to find them; 0 if they are found already or the model is too large. */
double api_base_wait(const api_model *model, unsigned with);

/* Checks that the request has the model's own gravity, for which the base parameters are found. False with a problem.
 */
bool api_base_check_gravity(const api_query *q, api_problem *problem);
