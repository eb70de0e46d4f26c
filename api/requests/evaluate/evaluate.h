/* evaluate.h - evaluate a request: from its decoded text to the bytes of the answer. */
#pragma once
#include "api/requests/fields/query.h"

/* Decodes `request` into the query, evaluates it and writes the answer into `body`, for which `*bytes` are claimed
 * of the memory budget. The caller has set call, input, problem, pool, model, operations, combined, scene.model and
 * rows = 1 in the query, and frees the body and q->loaded, whatever happens. False with a problem. */
bool api_evaluate(api_query *q, const api_node *request, api_buffer *body, size_t *bytes);
