/* points.h - declares points of curves: control points of splines, values of signals. All rows of a request have the
 * same points, or each row has its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct dyn_points {
    const double *numbers; /* [rows][n][width], or [n][width] unless `batch`; NULL: absent. The caller owns them */
    size_t        n;       /* number of points of a row */
    size_t        width;   /* numbers in a point */
    bool          batch;   /* true: each row has its own points */
} dyn_points;

/* Returns the numbers of one row; without a batch all rows have the same numbers. */
static inline const double *dyn_points_of(const dyn_points *points, size_t row)
{
    return points->numbers + (points->batch ? row * points->n * points->width : 0);
}
