/* margins.h - computes how far joints are from their limits along a motion, with gradients.
 *
 * The margin of x between `lower` and `upper` is min(x - lower, upper - x), minus slope |w| for a torque-speed line
 * with speed w. The gradient is that of the distance to the nearer bound, the upper one if both are equally near; |w|
 * has slope 0 at rest. */
#pragma once
#include "free_partials.h"
#include "dynamics/motion/limit.h"

/* Writes the margins of n limits for a block in lanes of W, n numbers per state, and n `side` and n `speed_side`
 * factors (dyn_limit_margin). quantities[kind] is, in lanes, the array of quantities that limits of this kind bound.
 * margins or sides may be NULL: not wanted. */
void dyn_margins_put(const dyn_limits *limits, size_t W, const double *const quantities[DYN_LIMIT_KINDS],
                     double *margins, double *sides);

/* Takes memory for the partial derivatives of n margins from the lanes at *next, and advances *next.
 * dyn_margin_partials_entries returns the numbers per state. */
dyn_partials dyn_margin_partials_take(size_t n, size_t nv, size_t W, double **next);
size_t       dyn_margin_partials_entries(size_t n, size_t nv);

/* The margins of one block: their limits and sides, and the derivatives of the limited positions and velocities. */
typedef struct dyn_margin_block {
    const dyn_motion_block *samples;
    dyn_limits              limits;
    const double           *sides;
    dyn_limited_rates       rates;
} dyn_margin_block;

/* Sets the partial derivatives of the margins. `p` has the partial derivatives of efforts (tau) and their rates with
 * respect to the spline's coordinates; dyn_limit.entry are indices of their rows. */
void dyn_margins_differentiate(const dyn_margin_block *b, const dyn_torque_partials *p, dyn_partials *margins);
