/* locked_joints.h - read "locked", joints that a request holds at positions. */
#pragma once
#include "api/requests/fields/query.h"

/* Replaces the model of the query by the one without the coordinates of the joints in the request's "locked": every
 * other field, operation and output has the reduced model. A model that a request asked for before is taken from the
 * cache (api/robots/locked_joints/locked_cache.h). The caller releases q->reduced. False with q->problem. */
bool api_lock_joints(api_query *q, const api_node *request);
