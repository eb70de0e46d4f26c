/* free_coordinates.h - "free": coordinates that move as forces make them, while the motion of all others is given: the
 * base of a robot that stands on nothing, joints without a motor. */
#pragma once
#include "query.h"

/* Reads "free", an array of velocity names or "base", into e->driven, which stays NULL without it: at most one
 * operation takes it. False with a problem. */
bool api_read_free(api_query *q, const api_node *options, const api_place *up);

/* True if a coordinate of the floating base is free. */
bool api_base_is_free(const api_query *q);
