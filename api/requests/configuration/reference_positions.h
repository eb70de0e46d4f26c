/* reference_positions.h - reads positions that a motion is compared with: nq numbers each, with unit quaternions. */
#pragma once
#include "api/requests/fields/points.h"

/* Returns the positions as [row][point][nq] in the model's order, with normalised quaternions; `points` have the width
 * nq and are at `pointer`. NULL with a problem. */
double *api_reference_positions_read(const api_query *q, const api_points *points, const api_place *pointer);
