/* points.h - read the points of a curve from a request. n points of `width` numbers are an array n x width, or B x n x
 * width for a batch of B rows. A single point without an axis of points is an array of `width` numbers, or B x width,
 * or a plain number if width is 1 or the form allows it. */
#pragma once
#include "dynamics/motion/points.h"
#include "fields.h"

/* The expected form of the points; the texts are for messages. */
typedef struct api_points_form {
    const char *name;   /* name of the points in messages, such as "control points" */
    size_t      least;  /* smallest number of points; 0: a single point without an axis of points */
    const char *why;    /* reason for `least` in messages, such as " for degree 3", or "" */
    size_t      width;  /* numbers of a point; 0: nv numbers, one for each joint in the order of the request */
    bool        spread; /* true: a single point may be a plain number, which counts for all entries */
} api_points_form;

typedef struct api_points {
    const api_node *value;
    size_t          n;      /* points, the same for every row of a batch */
    size_t          width;  /* numbers of a point */
    bool            joints; /* true: a point has one number for each joint */
    bool            alone;  /* true: a single point, without an axis of points */
    bool            batch;
} api_points;

/* Checks the shape of the whole value, and sets q->rows if the value is a batch. False with a problem. */
bool api_points_measure(api_query *q, const api_node *value, const api_place *at, const api_points_form *form,
                        api_points *points);

/* Returns the numbers as [row][point][width], with joints in the model's order; call after "joints" is read. There is a
 * single row unless the value is a batch. NULL with a problem. */
double *api_points_read(const api_query *q, const api_points *points);

/* Reads the numbers for computations. Returns false with a problem. */
static inline bool api_points_load(const api_query *q, const api_points *points, dyn_points *to)
{
    *to = (dyn_points){api_points_read(q, points), points->n, points->width, points->batch};
    return to->numbers != NULL;
}

/* Returns the numbers of one row; without a batch all rows have the same numbers. */
static inline const double *api_points_of(const api_points *points, const double *numbers, size_t row)
{
    return numbers + (points->batch ? row * points->n * points->width : 0);
}
