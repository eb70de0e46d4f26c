/* trajectory_partials.h - differentiates torques, their rates, joint wrenches and accelerations with respect to the
 * state of a trajectory, in the coordinates of its spline, ready for motion_chain.h. */
#pragma once
#include "trajectory_free.h"

/* A trajectory, and which of its signals to differentiate. */
typedef struct api_trajectory_task {
    const api_motion       *motion;
    const dyn_motion_block *samples;
    const api_free_efforts *efforts;        /* efforts->driven NULL: no coordinate is free */
    const api_mimics       *followers;      /* mimic joints with rows after those of the coordinates in tau and rate */
    bool                    rate, wrenches; /* differentiate tau_dot, joint wrenches */
} api_trajectory_task;

/* Returns the numbers per state of `room` for api_trajectory_differentiate. */
size_t api_trajectory_partials_entries(const api_model *model, const api_trajectory_task *task, size_t n_wrenches);

/* Computes the partial derivatives of one block in `room`. p->by_parameters and p->columns are inputs:
 * dtau_dparameters at given accelerations. */
void api_trajectory_differentiate(const api_evaluation *e, const api_trajectory_task *task, size_t block,
                                  dyn_torque_partials *p, double *room);
