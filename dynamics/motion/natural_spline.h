/* natural_spline.h - finds the natural cubic spline through values at its knots.
 *
 * The control points c_k for the values y_i at the knots t_i solve tridiagonal equations (de Boor 1978, ch. IV). With
 * the basis functions B_k of spline.h,
 *
 *     sum_k B_k(t_i) c_k = y_i at each knot, sum_k B''_k c_k = 0 at both ends.
 *
 * The matrix has n rows for n control points. The second equation at the first knot is row 1, after the row of y_0;
 * that at the last knot is row n - 2. */
#pragma once
#include "dynamics/memory/memory.h"
#include "points.h"
#include "spline.h"

typedef enum dyn_interpolation {
    DYN_INTERPOLATED,
    DYN_INTERPOLATION_SINGULAR, /* knots are too close to each other */
    DYN_INTERPOLATION_NO_MEMORY
} dyn_interpolation;

/* Finds the control points of the spline s, of degree 3 with clamped knots, through n - 2 values for each of `rows`
 * rows; `rows` is 1 unless values->batch is set. points->numbers is then allocated from `memory`. */
dyn_interpolation dyn_natural_spline(dyn_memory memory, const dyn_spline *s, const dyn_points *values, size_t rows,
                                     dyn_points *points);
