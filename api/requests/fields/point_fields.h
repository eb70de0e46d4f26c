/* point_fields.h - read points that are fixed to links or frames. */
#pragma once
#include "query.h"

enum { API_MOST_POINTS = 256 };

/* Reads an array of {"link" or "frame", "point"}: 1 to API_MOST_POINTS points, each given in the axes of its link or
 * frame, by default its origin. Returns frames at these points with the axes of their links or frames, and their number
 * in *n. NULL with a problem. */
const dyn_frame *api_read_fixed_points(api_query *q, const api_node *list, const api_place *at, size_t *n);
