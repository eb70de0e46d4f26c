/* points.h - tables of a request that have a row of nv numbers, one for each joint, at every point: n x nv, or
 * B x n x nv for a batch. One point that stands alone is nv, or B x nv. */
#pragma once
#include "fields.h"

/* What a table has to be; the texts are for messages. */
typedef struct api_points_form {
    const char *name;  /* of its rows: "control points" */
    size_t      least; /* of them; 0: one that stands alone */
    const char *why;   /* " for degree 3", or "" */
} api_points_form;

typedef struct api_points {
    const api_node *value;
    size_t          n;     /* points; of every row of a batch the same */
    bool            alone; /* one, without an axis of points */
    bool            batch;
} api_points;

/* Checks all of it and notes the rows of a batch. False with a problem. */
bool api_points_measure(api_evaluation *e, const api_node *value, const api_place *at, const api_points_form *form,
                        api_points *points);

/* After "joints" is read: the numbers, [row][point][joint] in the model's order, of one row if they are no batch. NULL
 * with a problem. */
double *api_points_read(api_evaluation *e, const api_points *points);

/* Those of one row of the request. */
static inline const double *api_points_of(const api_evaluation *e, const api_points *points, const double *numbers,
                                          size_t row)
{
    return numbers + (points->batch ? row * points->n * e->model->nv : 0);
}
