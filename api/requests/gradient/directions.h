/* directions.h - reads "directions" of the operations directional and forward-directional: several directions for each
 * state, along which it is differentiated. */
#pragma once
#include "api/requests/fields/points.h"
#include "api/requests/lanes/evaluation.h"

enum { API_DIRECTION_PARTS = 3 /* directions of q, of qd, and of qdd or tau */ };

typedef struct api_directions {
    const char   *name[API_DIRECTION_PARTS + 1]; /* names of the parts in the request; ends with NULL */
    size_t        n;                             /* directions of each state */
    api_points    part[API_DIRECTION_PARTS];
    const double *number[API_DIRECTION_PARTS]; /* numbers of each part, [rows][n][nv]; NULL: zero */
} api_directions;

/* Sets *n to the number of directions of one part, or expects this number if *n is set already. False with a problem.
 */
bool api_directions_count(const api_query *q, const api_place *pointer, size_t count, size_t *n);

/* Reads the shape of the part `name` of the object "directions", n x nv, if the part is there. False with a problem. */
bool api_direction_part_read(api_query *q, const api_node *object, const api_place *up, const char *name,
                             api_points *points, size_t *n);

/* Reads the shapes, and sets the extent of the outputs. `last` is the name of the third part. False with a problem. */
bool api_directions_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                         const char *last, api_directions *directions);

/* Reads the numbers of all directions. Call it after "joints" is read. False with a problem. */
bool api_directions_load(const api_query *q, api_directions *directions);

/* Returns the numbers of a state that api_directions_gather takes. */
size_t api_directions_entries(const api_model *model, const api_directions *directions);

/* The directions of a block in lanes, n x nv each: of q, of qd, and of qdd or tau. NULL: zero. */
typedef struct api_direction_lanes {
    const double *q, *qd, *last;
} api_direction_lanes;

/* Copies the directions of a block to lanes at *next, and moves *next past them. */
api_direction_lanes api_directions_gather(const api_evaluation *e, const api_directions *directions, size_t block,
                                          double **next);

/* Estimates the seconds of all directions, of which each costs `weight` times inverse dynamics. */
double api_directions_seconds(const api_query *q, const api_directions *directions, double weight);
