/* point_gradients.h - computes gradients of the motion of points fixed to links along a motion. */
#pragma once
#include "motion_chain.h"

/* Gradients of n points, in lanes of a block, point after point; NULL: not requested. A position has 3 rows, a velocity
 * or acceleration 6. Positions do not depend on the duration, because a sample keeps its fraction of the motion. */
typedef struct dyn_point_gradients {
    double *positions_by_points;                           /* rows x k x nv, see dyn_chain_by_points */
    double *velocities_by_points, *velocities_by_duration; /* rows x k x nv; rows */
    double *accelerations_by_points, *accelerations_by_duration;
} dyn_point_gradients;

/* Partial derivatives of n points in lanes of a block, 6 x nv for each point, with rows [linear; angular] in world
 * axes. NULL: no gradient needs the matrix. */
typedef struct dyn_point_partials {
    size_t              n;
    double             *jacobians, *velocities_by_q, *accelerations_by_q, *accelerations_by_qd;
    const dyn_partials *qdd;  /* partial derivatives of qdd with free coordinates; NULL: all coordinates are driven */
    double             *room; /* 6 nv + 6: scratch */
} dyn_point_partials;

/* Lays out the matrices that the gradients need in the memory `room`, dyn_point_partials_entries numbers per state. */
size_t             dyn_point_partials_entries(size_t nv, size_t n);
dyn_point_partials dyn_point_partials_lay_out(const dyn_motion_block *b, size_t n, const dyn_point_gradients *gradients,
                                              double *room);

/* Writes the gradients. Overwrites the matrices of `p`. */
void dyn_point_gradients_put(const dyn_motion_block *b, const dyn_point_partials *p,
                             const dyn_point_gradients *gradients);
