/* trajectory_margins.h - compute how far joints are from their limits along a trajectory, with gradients.
 *
 * The margin of x between `lower` and `upper` is min(x - lower, upper - x). Its gradient is that of the nearer side, of
 * the upper one where both are equally near. */
#pragma once
#include "api/requests/evaluate/limited_motion.h"
#include "trajectory_free.h"

/* Writes the margins of a block in lanes, limits->n numbers a state, and their sides: 1 where the lower limit is
 * nearer, else -1. quantities[kind] are the lanes that limits of this kind bound (api/robots/model/limits.h). Either
 * result may be NULL: not wanted. */
void api_margins_put(const api_evaluation *e, const api_limit_list *limits,
                     const double *const quantities[DYN_LIMIT_KINDS], double *margins, double *sides);

/* Takes partial derivatives of the margins, limits->n rows, from the lanes at *next. api_margin_partials_entries
 * returns the numbers per state. */
dyn_partials api_margin_partials_take(const api_evaluation *e, const api_limit_list *limits, double **next);
size_t       api_margin_partials_entries(const api_limit_list *limits, size_t nv);

/* The margins of one block: their limits and sides, and the derivatives of the limited positions and velocities. */
typedef struct api_margin_block {
    const dyn_motion_block *samples;
    const api_limit_list   *limits;
    const double           *sides;
    dyn_limited_rates       rates;
} api_margin_block;

/* Sets the partial derivatives of the margins. Those of efforts and rates in `p` are by the spline's coordinates. */
void api_margins_differentiate(const api_evaluation *e, const api_margin_block *b, const dyn_torque_partials *p,
                               dyn_partials *margins);
