/* signal.h - read and evaluate vectors that change with time: torques, references and wrenches of a request. The forms:
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
#include "dynamics/motion/spline.h"

enum { API_SIGNAL_ORDERS = 3 /* value, first and second derivative by time */ };

typedef enum api_sine {
    API_SINE_AMPLITUDE,
    API_SINE_FREQUENCY,
    API_SINE_OFFSET,
    API_SINE_PHASE,
    API_SINE_PARTS
} api_sine;

typedef struct api_signal {
    bool          is_sine, is_cubic;
    bool          stretches; /* true: a function of t / duration; false: of the time t in s */
    double        range;     /* s, length of the spline: knot t_degree is at time 0, knot t_n at `range` */
    dyn_spline    spline;
    api_points    points[API_SINE_PARTS];  /* a spline has only the first; an absent field has value NULL */
    const double *numbers[API_SINE_PARTS]; /* numbers of each of `points`, set by api_signal_load; NULL: absent, zero */
} api_signal;

/* A time at which a signal is evaluated. At a break the signal may jump. Therefore `inside` selects the interval
 * between breaks whose values are meant, and `t` is in that interval or at one of its ends. */
typedef struct api_moment {
    double t, inside; /* both in s */
} api_moment;

typedef struct api_signal_form {
    size_t width;    /* numbers of a vector; 0: nv numbers, one for each joint */
    double duration; /* s, length of a signal that stretches */
    double reach;    /* s: the last of "times" must be at least this with "linear" or "cubic" interpolation */
} api_signal_form;

/* Reads and checks a signal at the place `at` of the request; its numbers are read by api_signal_load. Returns false
 * with a problem. */
bool api_signal_read(api_query *q, const api_node *value, const api_place *at, const api_signal_form *form,
                     api_signal *signal);

/* Reads the numbers of a signal at the place `at`. Call it after "joints" is read, which gives their order. Returns
 * false with a problem. */
bool api_signal_load(const api_query *q, const api_place *at, api_signal *signal);

/* Finds the breaks strictly between 0 and `duration`: the times, in s, at which the signal is not smooth. Writes them
 * in ascending order to `breaks` unless `breaks` is NULL, and returns their number. */
size_t api_signal_breaks(const api_signal *signal, double duration, double *breaks);

/* Writes the value and its first orders - 1 derivatives by time into value[0..orders - 1], lanes [width][W]. Lane l
 * gets the signal of row[l] of the request. */
void api_signal_at(const api_signal *signal, size_t W, const size_t *row, api_moment moment, size_t orders,
                   double *const value[API_SIGNAL_ORDERS]);
