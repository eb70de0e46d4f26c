/* path_between.h - checks limits of the third order between the places of a path (dynamics/path_timing/smooth_check.h):
 * evaluates the rows of instants there. A part between two places is checked at a quarter, half and three quarters of
 * it; one that holds a knot of the spline, where derivatives of the path may jump, on both sides of the knot and
 * between knots. */
#pragma once
#include "path_timing.h"

/* Chooses the instants and allocates their rows. Call it when the places are graded. False with a problem. */
bool api_path_between_open(const api_query *q, api_timing_options *o);

/* Writes the rows of all instants behind the places of a block, whose states and coefficients have `lanes`. The states
 * are those of the places again afterwards, the coefficients are not. */
bool api_path_between_evaluate(const api_evaluation *e, const api_timing_options *o, const api_path_lanes *lanes,
                               size_t block);

/* Returns the instants of path number `row`. */
dyn_smooth_between api_path_between_of(const api_timing_options *o, size_t row);
