/* points.h - read the points of a curve from a request: n points of `width` numbers, n x width, or B x n x width for a
 * batch. A single point without an axis of points is `width` numbers, or B x width, or a number where width is 1. */
#pragma once
#include "fields.h"

/* The expected form of the points; the texts are for messages. */
typedef struct api_points_form {
    const char *name;  /* of the points: "control points" */
    size_t      least; /* least number of points; 0: a single point without an axis of points */
    const char *why;   /* " for degree 3", or "" */
    size_t      width; /* numbers of a point; 0: nv numbers, one for each joint in the order of the request */
} api_points_form;

typedef struct api_points {
    const api_node *value;
    size_t          n;      /* points, the same for every row of a batch */
    size_t          width;  /* numbers of a point */
    bool            joints; /* one number for each joint */
    bool            alone;  /* a single point, without an axis of points */
    bool            batch;
} api_points;

/* Checks the whole value and notes the rows of a batch. False with a problem. */
bool api_points_measure(api_query *q, const api_node *value, const api_place *at, const api_points_form *form,
                        api_points *points);

/* Reads the numbers, [row][point][width], after "joints" is read: numbers of joints are in the model's order. A single
 * row unless the value is a batch. NULL with a problem. */
double *api_points_read(const api_query *q, const api_points *points);

/* The numbers of one row of the request. */
static inline const double *api_points_of(const api_points *points, const double *numbers, size_t row)
{
    return numbers + (points->batch ? row * points->n * points->width : 0);
}
