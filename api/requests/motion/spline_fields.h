/* spline_fields.h - read a B-spline from a request: the members "degree", "control_points" and "knots" of an object. */
#pragma once
#include "api/requests/fields/points.h"
#include "dynamics/motion/spline.h"

/* Reads and checks "degree", "control_points" and "knots"; without "knots" the spline is clamped with evenly spaced
 * knots. `up` is the place of the object `fields` in the request. `width` is the number of components of a control
 * point; 0: one for each joint. Returns false with a problem. */
bool api_spline_read(api_query *q, const api_node *fields, const api_place *up, size_t width, dyn_spline *spline,
                     api_points *points);
