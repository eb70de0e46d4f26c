/* limit_kinds.h - reads the kinds of limits that a request names, and writes the list of limits of these kinds
 * (api/robots/model/limits.h). */
#pragma once
#include "api/robots/model/limits.h"
#include "api/codec/emit.h"
#include "query.h"

/* Lists the limits of the kinds in `kinds`, which is at `where`; NULL: all kinds. Returns false with a problem. */
bool api_limits_read(api_query *q, const api_node *kinds, const api_place *where, api_limit_list *limits);

/* Refuses gradients of effort rates for a model with loops. `where` is the place of the kinds. Returns false with a
 * problem.
 */
bool api_limits_check_loops(const api_query *q, const api_limit_list *limits, const api_place *where);

/* Writes an object with "joint", "kind", "lower", "upper" and, of effort_speed, "slope" for each limit. */
void api_limits_emit_entries(const api_limit_list *limits, api_emit *to);

/* Writes the list of the objects of api_limits_emit_entries. */
void api_limits_emit(const api_limit_list *limits, api_emit *to);
