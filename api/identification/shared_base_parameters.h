/* shared_base_parameters.h - a model's base parameters for a request: found when they are first asked for, then kept
 * with the model and shared. */
#pragma once
#include "api/evaluate/evaluation.h"
#include "api/model/base_parameters.h"

/* Those with these joint parameters (a set of API_BASE_...). NULL with a problem: the model is too large, or memory. */
const api_base *api_base_share(api_evaluation *e, unsigned with);

/* Seconds to find them, if nobody has yet and anybody will. */
double api_base_wait(const api_model *model, unsigned with);

/* They are for the model's own gravity: false with a problem when the request's is another one. */
bool api_base_check_gravity(const api_evaluation *e);
