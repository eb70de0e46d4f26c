/* spline_fields.h - a B-spline of joint values in a request: "degree", "control_points" and "knots" of an object. */
#pragma once
#include "api/request/points.h"
#include "spline.h"

/* Reads and checks the three; without knots the spline is clamped and even. `up` is the place of `fields`; `width` is
 * that of api_points_form. False with a problem. */
bool api_spline_read(api_evaluation *e, const api_node *fields, const api_place *up, size_t width, api_spline *spline,
                     api_points *points);
