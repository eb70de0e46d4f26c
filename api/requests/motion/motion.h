/* motion.h - read joint motions that are B-splines from a request, and evaluate the states at all their samples.
 *
 * The fields of the request are "degree", "duration", "control_points", "knots", "dense", and "samples" or "times".
 * With the fraction f = t / T of the duration T, the basis functions B_k of spline.h and the control points c_k,
 *
 *     q(t) = sum_k B_k(f) c_k, d^r q / dt^r = sum_k b_rk c_k, b_rk = B_k^(r)(f) / T^r.
 *
 * Every row of the request is a motion of N samples; state b N + n is sample n of motion b.
 *
 * A wrench W that changes with time (a signal) contributes its value to tau, and its value and rate W' to tau_dot
 * (signal_value.h). */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/points.h"
#include "dynamics/motion/spline.h"
#include "wrench_signals.h"

typedef struct api_motion {
    dyn_spline    spline;
    size_t        samples;          /* N, samples of each motion */
    api_points    points;           /* the control points */
    const double *durations;        /* s: [1] for all motions, or [B] one for each motion */
    bool          durations_differ; /* true: `durations` has one entry for each of the B motions */
    double        least, most;      /* the shortest and the longest duration, s */
    const double *times;            /* [N], s; NULL: N samples evenly spaced from 0 to T */
    const double *values;           /* numbers of the control points; set by api_motion_sample */
    bool          dense; /* true: gradients by all control points, not only by the degree + 1 that affect a sample */
    api_wrench_signals wrenches; /* wrenches that change with time */
    /* Lanes of all states, set by api_motion_sample. Each comment begins with the numbers per state. */
    /* nv: coordinates of the spline, and their derivatives by time. They are q to qddd of the state, unless the model
     * has joints with a quaternion (coordinate_change.h). */
    double *spline_state[DYN_SPLINE_ORDERS];
    double *time;  /* 1: the sample's time, s */
    double *rate;  /* 1: 1/T, with the duration T in s */
    double *first; /* 1: the index of the first control point that affects the state */
    double *basis; /* DYN_SPLINE_ORDERS x (degree + 1): b_rk of the control points from `first` on */
    /* 6 for each wrench, force and torque: derivatives by the duration T. NULL: no wrench changes with time. */
    double *wrench_by_duration;      /* dW/dT, derivative of the wrench */
    double *wrench_rate_by_duration; /* dW'/dT, derivative of the wrench's rate */
} api_motion;

/* Reads and checks the fields of a motion and sets q->samples. Angles are checked by api_motion_sample. Returns NULL
 * with a problem. */
api_motion *api_motion_read(api_query *q, const api_node *fields);

/* Three functions evaluate a row's motion between its samples n - 1 (s = 0) and n (s = 1), 0 < n < N.
 * api_motion_between writes the coordinates q [nv] at s. api_motion_time returns the time at s, in s.
 * api_motion_travel_bound returns an upper bound of the travel of any coordinate, in units of dyn_loops.travel. */
void   api_motion_between(const api_evaluation *e, const api_motion *m, size_t row, size_t n, double s, double *q);
double api_motion_time(const api_motion *m, size_t row, size_t n, double s);
double api_motion_travel_bound(const api_evaluation *e, const api_motion *m, size_t row, size_t n);

/* With "on_error": "row", marks the motions whose duration is invalid as failed. Call it once the number of rows is
 * known. Returns false with a problem. */
bool api_motion_check_durations(const api_plan *plan, const api_motion *motion);

/* Evaluates the motions at all samples: fills the lanes of api_motion, q to qddd in plan->state, and the wrenches that
 * change with time. Call it after all fields are read. Returns false with a problem. */
bool api_motion_sample(api_plan *plan, api_motion *motion);

/* Fills only the lanes of the wrenches that change with time, and of their rates. motion->time must be filled. Returns
 * false with a problem. */
bool api_motion_sample_wrenches(api_plan *plan, api_motion *motion);
