/* free_coordinates.h - read "free": the coordinates whose acceleration is computed, while the motion of all other
 * coordinates is given. Examples are the base of a robot in the air, and joints without a motor. */
#pragma once
#include "query.h"

/* Reads "free", an array of velocity names or "base", into q->driven; without "free", q->driven is not changed. The
 * caller keeps the array: another operation of the request may have another one. False with a problem. */
bool api_read_free(api_query *q, const api_node *options, const api_place *up);

/* True if a coordinate of the floating base is free. */
bool api_base_is_free(const api_query *q);
