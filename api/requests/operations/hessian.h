/* hessian.h - check the requests of the operations hessian and forward-hessian. */
#pragma once
#include "api/requests/lanes/plan.h"

/* The first five outputs of both operations are contracted with `multipliers`; the next five are not. */
#define API_HESSIAN_CONTRACTED (api_set)0x1f

/* Fails for models with loops. */
bool api_hessian_options(api_query *q, api_selection *selected, const api_node *given, const api_place *up);

/* Fails if outputs are contracted and the request has no multipliers. */
bool api_hessian_prepare(api_plan *plan, api_selection *selected);
