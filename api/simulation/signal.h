/* signal.h - joint values over time, in a request for a simulation: torques, or a reference.
 *
 *     [...]                                                            constant
 *     {"values", "times"?, "interpolation"?}                           sampled: held, linear, or a natural cubic spline
 *     {"degree", "control_points", "knots"?}                           a B-spline over the duration
 *     {"amplitude", "angular_frequency", "offset"?, "phase"?}          offset + amplitude sin(angular_frequency t +
 * phase)
 *
 * Each of nv numbers at a point, or a batch of them. All but the last are splines: a constant is one of degree 0 and
 * one control point, held values are of degree 0, linear ones of degree 1. */
#pragma once
#include "api/evaluation/points.h"
#include "api/motion/spline.h"

enum { API_SIGNAL_ORDERS = 3 /* value, rate, acceleration */ };

typedef enum api_sine {
    API_SINE_AMPLITUDE,
    API_SINE_FREQUENCY,
    API_SINE_OFFSET,
    API_SINE_PHASE,
    API_SINE_PARTS
} api_sine;

typedef struct api_signal {
    bool          is_sine, is_cubic;
    double        range; /* s, of the spline: from its knot t_degree, at time 0, to t_n */
    api_spline    spline;
    api_points    points[API_SINE_PARTS]; /* of a spline the first; parts that are not given have no value */
    const double *numbers[API_SINE_PARTS];
} api_signal;

/* Reads and checks. False with a problem. */
bool api_signal_read(api_evaluation *e, const api_node *value, const api_place *at, double duration,
                     api_signal *signal);

/* After "joints" is read: its numbers. */
bool api_signal_load(api_evaluation *e, api_signal *signal);

/* Times in s at which it is not smooth, of which those strictly between 0 and `duration` are written to `breaks` (NULL:
 * not), rising; returns how many. */
size_t api_signal_breaks(const api_signal *signal, double duration, double *breaks);

/* Value and derivatives by time up to `orders`, in lanes [nv][W] of the W rows, at time t; `inside` is a time between
 * the same breaks. */
void api_signal_at(const api_evaluation *e, const api_signal *signal, size_t W, const size_t *row, double t,
                   double inside, size_t orders, double *const value[API_SIGNAL_ORDERS]);
