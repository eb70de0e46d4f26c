/* signal.h - read vectors that change with time: torques, references and wrenches of a request. The forms:
 *
 *     [...] constant
 *     {"values", "times"?, "interpolation"?} sampled: "hold", "linear", or natural "cubic" spline
 *     {"degree", "control_points", "knots"?} B-spline over the duration
 *     {"amplitude", "angular_frequency", "offset"?, "phase"?} offset + amplitude sin(angular_frequency t + phase);
 *         one number as angular_frequency counts for all entries
 *
 * Each vector has `width` numbers (points.h); with a batch of vectors each row of the request has its own. All forms
 * but the last are stored as splines: a constant is a spline of degree 0 with one control point, "hold" has degree 0,
 * "linear" degree 1. Values without times, and B-splines, extend over the duration and stretch with it. Values with
 * times and sinusoids are functions of time in seconds. */
#pragma once
#include "api/requests/fields/points.h"
#include "dynamics/motion/signal_value.h"

typedef struct api_signal {
    dyn_signal curve; /* api_signal_load sets its numbers */
    bool       is_cubic;
    api_points points[DYN_SINE_PARTS]; /* fields of curve.parts; an absent field has value NULL */
} api_signal;

typedef struct api_signal_form {
    size_t width;    /* numbers of a vector; 0: nv numbers, one for each joint */
    double duration; /* s, duration of the motion, over which a signal that stretches extends */
    double reach;    /* s: the last of "times" must be at least this with "linear" or "cubic" interpolation */
} api_signal_form;

/* Reads and checks a signal at the place `at` of the request; its numbers are read by api_signal_load. Returns false
 * with a problem. */
bool api_signal_read(api_query *q, const api_node *value, const api_place *at, const api_signal_form *form,
                     api_signal *signal);

/* Makes a signal that is zero at all times and needs no api_signal_load. Returns false if memory is refused. */
bool api_signal_make_zero(api_query *q, const api_signal_form *form, api_signal *signal);

/* Reads the numbers of a signal at the place `at`. Call it after "joints" is read, which gives their order. Returns
 * false with a problem. */
bool api_signal_load(const api_query *q, const api_place *at, api_signal *signal);
