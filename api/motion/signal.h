/* signal.h - read and evaluate vectors that change with time: torques, references and wrenches of a request.
 *
 *     [...]                                                            constant
 *     {"values", "times"?, "interpolation"?}                           sampled: held, linear, or a natural cubic spline
 *     {"degree", "control_points", "knots"?}                           a B-spline over the duration
 *     {"amplitude", "angular_frequency", "offset"?, "phase"?}          offset + amplitude sin(angular_frequency t +
 * phase)
 *
 * A point has `width` numbers (points.h), or a batch of them. All forms but the last are splines: a constant is a
 * spline of degree 0 with one control point; held values have degree 0, linear ones degree 1. Values without times, and
 * B-splines, extend over the duration and stretch with it; the others are functions of time in seconds. */
#pragma once
#include "api/request/points.h"
#include "spline.h"

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
    bool          stretches; /* it extends over the duration, whatever that is */
    double        range;     /* s, of the spline: from its knot t_degree, at time 0, to t_n */
    api_spline    spline;
    api_points    points[API_SINE_PARTS]; /* of a spline the first; parts that are not given have no value */
    const double *numbers[API_SINE_PARTS];
} api_signal;

/* A time between two breaks of the signal. At a break, where the signal may jump, `inside` tells which side is meant.
 */
typedef struct api_moment {
    double t, inside; /* s; no break lies between the two */
} api_moment;

typedef struct api_signal_form {
    size_t width;    /* that of api_points_form */
    double duration; /* s, over which a signal that stretches extends */
    double reach;    /* s, that times have to reach where the signal goes on between values */
} api_signal_form;

/* Reads and checks. False with a problem. */
bool api_signal_read(api_evaluation *e, const api_node *value, const api_place *at, const api_signal_form *form,
                     api_signal *signal);

/* After "joints" is read: loads the numbers of the signal that was read at `at`. */
bool api_signal_load(api_evaluation *e, const api_place *at, api_signal *signal);

/* Times in s at which it is not smooth, of which those strictly between 0 and `duration` are written to `breaks` (NULL:
 * not), rising; returns how many. */
size_t api_signal_breaks(const api_signal *signal, double duration, double *breaks);

/* Puts the value and its first orders - 1 derivatives by time into lanes [width][W], for the W rows. */
void api_signal_at(const api_signal *signal, size_t W, const size_t *row, api_moment moment, size_t orders,
                   double *const value[API_SIGNAL_ORDERS]);
