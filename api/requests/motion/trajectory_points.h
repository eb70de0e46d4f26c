/* trajectory_points.h - compute motion of points fixed to links along a trajectory, with gradients. */
#pragma once
#include "api/requests/evaluate/point_motion.h"
#include "motion.h"
#include "dynamics/motion/motion_chain.h"

/* The points of one trajectory. */
typedef struct api_point_task {
    const dyn_motion_block *samples;
    api_fixed_points        points;
    const dyn_partials *qdd; /* partial derivatives of the accelerations with free coordinates; NULL: none is free */
} api_point_task;

/* Gradients in lanes of a block, of n points one after the other; NULL: not requested. The rows of each point are 3 for
 * positions, else 6. Positions do not depend on the duration, because a sample keeps its fraction of the motion. */
typedef struct api_point_gradients {
    double *positions_by_points;                           /* rows x k x nv, see dyn_chain_by_points */
    double *velocities_by_points, *velocities_by_duration; /* rows x k x nv; rows */
    double *accelerations_by_points, *accelerations_by_duration;
} api_point_gradients;

/* Returns the numbers per state that the evaluation of n points needs in `room`. */
size_t api_trajectory_points_entries(const api_model *model, size_t n);

/* Evaluates points in world axes, and their gradients, at the states of the block. `to` has the requested positions,
 * velocities and accelerations, and nothing else. False with a problem. */
bool api_trajectory_points_evaluate(const api_evaluation *e, const api_point_task *task, size_t block,
                                    api_point_motion to, const api_point_gradients *gradients, double *room);
