/* frame_fields.h - what stands beside the name of a frame: which of its directions, in whose axes. */
#pragma once
#include "fields.h"

/* "axes": an array of x, y, z, rx, ry, rz, each once; absent: all six. They are rows of a Jacobian, 0 to 5, in their
 * order. False with a problem. */
bool api_read_axes(const api_query *q, const api_node *list, const api_place *at, int axis[API_FRAME_AXES], size_t *n);

/* "reference": "world" (if absent) or "frame". False with a problem. */
bool api_read_reference(const api_query *q, const api_node *value, const api_place *at, bool *frame_axes);
