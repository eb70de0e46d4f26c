/* state_feedback_fields.h - reads the fields that only the controller state_feedback has
 * (dynamics/control/state_feedback.h): "gain_matrix", "q" and "qd". */
#pragma once
#include "api/requests/fields/fields.h"

/* Checks the shapes, from `object` at the place `up`. Returns a dyn_state_feedback in memory of the request's
 * pool, whose numbers api_state_feedback_load reads; NULL with a problem. */
void *api_state_feedback_read(api_query *q, const api_node *object, const api_place *up);

/* Reads the numbers into `options`, the result of api_state_feedback_read. Call it after "joints" is read. Refuses
 * gains of coordinates that are not `actuated` ([nv]; NULL: all are). False with a problem. */
bool api_state_feedback_load(const api_query *q, const api_place *up, const bool *actuated, void *options);
