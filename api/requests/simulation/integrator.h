/* integrator.h - chooses the integrator (dynamics/integration/integrator.h) of a request, and derives the fields of the
 * request that an integrator needs. */
#pragma once
#include "api/requests/fields/query.h"
#include "dynamics/integration/integrator.h"

/* The integrators of DYN_INTEGRATORS, in the same order; ends with NULL. A request without the field "integrator" gets
 * the first integrator whose fields match those of the request. */
extern const dyn_integrator *const api_integrators[];

/* Return the fields that a request must have, and flags that it may set. */
api_set api_integrator_needs(const dyn_integrator *integrator);
api_set api_integrator_takes(const dyn_integrator *integrator);

/* Reads the field "integrator" of a request for a simulation, or chooses the integrator by the other fields, and checks
 * that these fit the integrator. NULL with a problem. */
const dyn_integrator *api_integrator_read(const api_query *q, const api_node *fields);
