/* motion.h - read joint motions that are B-splines from a request, and evaluate the states at all their samples.
 *
 * The fields of the request are "degree", "duration", "control_points", "knots", "dense", and "samples" or "times".
 * Every row of the request is a motion of N samples; state b N + n is sample n of motion b
 * (dynamics/motion/spline_motion.h).
 *
 * A wrench W that changes with time (a signal) contributes its value to tau, and its value and rate W' to tau_dot
 * (signal_value.h). */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/points.h"
#include "dynamics/motion/spline_motion.h"
#include "wrench_signals.h"

typedef struct api_motion {
    dyn_motion path;        /* api_motion_load reads the control points */
    api_points points;      /* the control points as the request has them */
    double     least, most; /* the shortest and the longest duration, s */
    bool
        dense; /* true: gradients with respect to all control points, not only to the degree + 1 that affect a sample */
    api_wrench_signals wrenches; /* wrenches that change with time */
    /* Lanes of all states, set by api_motion_sample. Each comment begins with the numbers per state. */
    /* nv: coordinates of the spline, and their time derivatives. These are q to qddd of the state, unless the model has
     * joints with a quaternion (dynamics/trajectory_gradients/coordinate_change.h). */
    double *spline_state[DYN_SPLINE_ORDERS];
    double *time, *rate, *first, *basis; /* see the members of the same names of dyn_motion_block */
    /* 6 for each wrench, force and torque: derivatives with respect to the duration T. NULL: no wrench changes with
     * time. */
    double *wrench_by_duration;      /* dW/dT, derivative of the wrench */
    double *wrench_rate_by_duration; /* dW'/dT, derivative of the wrench's rate */
} api_motion;

/* Reads and checks the fields of a motion and sets q->samples. Angles are checked by api_motion_sample. Returns NULL
 * with a problem. */
api_motion *api_motion_read(api_query *q, const api_node *fields);

/* Reads the numbers of the control points. Call it after all fields are read. Returns false with a problem. */
bool api_motion_load(const api_query *q, api_motion *motion);

/* Returns the samples of a block, whose lanes api_motion_sample has set. */
dyn_motion_block api_motion_block(const api_evaluation *e, const api_motion *motion, size_t block);

/* With "on_error": "row", marks the motions whose duration is invalid as failed. Call it once the number of rows is
 * known. Returns false with a problem. */
bool api_motion_check_durations(const api_plan *plan, const api_motion *motion);

/* Evaluates the motions at all samples: fills the lanes of api_motion, q to qddd in plan->state, and the wrenches that
 * change with time. Call it after all fields are read. Returns false with a problem. */
bool api_motion_sample(api_plan *plan, api_motion *motion);

/* Evaluates the motion again at the samples of one block, whose `motion->path.times` may differ from those of the other
 * evaluations, except at states that have failed. */
void api_motion_sample_block(const api_evaluation *e, const api_motion *motion, size_t block);

/* Fills only the lanes of the wrenches that change with time, and of their rates. motion->time must be filled. Returns
 * false with a problem. */
bool api_motion_sample_wrenches(api_plan *plan, api_motion *motion);
