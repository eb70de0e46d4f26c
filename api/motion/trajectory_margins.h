/* trajectory_margins.h - compute how far joints are from their limits along a trajectory, with gradients.
 *
 * The margin of x between `lower` and `upper` is min(x - lower, upper - x). Its gradient is that of the nearer side, of
 * the upper one where both are equally near. */
#pragma once
#include "api/request/margin_limits.h"
#include "trajectory_free.h"

/* Returns true if a limit is of this kind. */
bool api_margins_have(const api_margin_limits *limits, api_margin_kind kind);

/* Writes the margins of a block in lanes, limits->n numbers a state, and their sides: 1 where the lower limit is
 * nearer, else -1. quantities[kind] are the lanes of q, qd, tau and its rate; NULL: no limit is of this kind. Either
 * result may be NULL: not wanted. */
void api_margins_put(const api_evaluation *e, const api_margin_limits *limits,
                     const double *const quantities[API_MARGIN_KINDS], double *margins, double *sides);

/* Takes partial derivatives of the margins, limits->n rows, from the lanes at *next. api_margin_partials_entries
 * returns the numbers per state. */
api_partials api_margin_partials_take(const api_evaluation *e, const api_margin_limits *limits, double **next);
size_t       api_margin_partials_entries(const api_margin_limits *limits, size_t nv);

/* Sets the partial derivatives of the margins. Those of efforts and rates in `p` are by the spline's coordinates. */
void api_margins_differentiate(const api_evaluation *e, const api_margin_limits *limits, const double *sides,
                               const api_trajectory_partials *p, api_partials *margins);
