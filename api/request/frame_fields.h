/* frame_fields.h - read the options beside the name of a frame: "axes", the selected directions, and "reference", whose
 * axes they are. */
#pragma once
#include "fields.h"

/* Reads "axes": an array of x, y, z, rx, ry, rz, each at most once; absent: all six. They become rows of a Jacobian, 0
 * to 5, in the order of the request. False with a problem. */
bool api_read_axes(const api_query *q, const api_node *list, const api_place *at, int axis[API_FRAME_AXES], size_t *n);

/* Reads "reference": "world", also if absent, or "frame". False with a problem. */
bool api_read_reference(const api_query *q, const api_node *value, const api_place *at, bool *frame_axes);
