/* frame_fields.h - read two options of a frame: "axes", the directions to use, and "reference", the coordinate system
 * of these directions. */
#pragma once
#include "fields.h"

/* Reads "axes", an array of x, y, z, rx, ry, rz, each at most once; if absent, all six. axis[i] becomes the row of the
 * frame's Jacobian, 0 to 5, that belongs to entry i. False with a problem. */
bool api_read_axes(const api_query *q, const api_node *list, const api_place *at, int axis[API_FRAME_AXES], size_t *n);

/* Returns the name of a direction, 0 to 5: "x" to "rz". */
const char *api_axis_name(int axis);

/* Reads "reference": *frame_axes becomes true for "frame", and false for "world" or if absent. False with a problem. */
bool api_read_reference(const api_query *q, const api_node *value, const api_place *at, bool *frame_axes);
