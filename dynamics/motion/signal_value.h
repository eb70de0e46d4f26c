/* signal_value.h - evaluates vectors that change with time, and their derivatives: torques, references, wrenches.
 *
 * A signal is a B-spline, or a sinusoid offset + amplitude sin(frequency t + phase). A constant is a spline of degree 0
 * with one control point; a signal that keeps each sample until the next has degree 0, linear interpolation has degree
 * 1.
 *
 * Along a motion of duration T, derivatives with respect to T are taken at a constant fraction f = t / T. A signal W
 * that stretches with the duration is W(f):
 *
 *     dW/dT = 0, dW'/dT = -W' / T.
 *
 * A signal that is a function of time in seconds is W(f T):
 *
 *     dW/dT = t/T W', dW'/dT = t/T W''. */
#pragma once
#include "points.h"
#include "spline.h"

enum { DYN_SIGNAL_ORDERS = 3 /* value, first and second time derivative */ };

typedef enum dyn_sine_part {
    DYN_SINE_AMPLITUDE,
    DYN_SINE_FREQUENCY, /* angular frequency, rad/s */
    DYN_SINE_OFFSET,
    DYN_SINE_PHASE, /* phase at time 0, rad */
    DYN_SINE_PARTS
} dyn_sine_part;

typedef struct dyn_signal {
    bool       is_sine;
    bool       stretches;             /* true: a function of t / duration; false: of the time t in s */
    double     range;                 /* s, length of the spline: knot t_degree is at time 0, knot t_n at `range` */
    dyn_spline spline;                /* knots and degree of a spline; not set for a sinusoid */
    dyn_points parts[DYN_SINE_PARTS]; /* [0]: control points of a spline; or parts of a sinusoid, zero if absent */
} dyn_signal;

/* A time at which a signal is evaluated. A signal may jump at a break. `inside` therefore selects the interval between
 * two breaks in which the signal is evaluated; `t` is in that interval or at one of its ends. */
typedef struct dyn_moment {
    double t, inside; /* s: the time; any time inside the selected interval */
} dyn_moment;

/* Finds the breaks strictly between 0 and `duration`: the times, in s, at which the signal is not smooth. Writes them
 * in ascending order to `breaks` unless `breaks` is NULL, and returns their number. */
size_t dyn_signal_breaks(const dyn_signal *signal, double duration, double *breaks);

/* Writes the value and its first orders - 1 time derivatives to value[0..orders - 1], each [width][W] in lanes. Lane l
 * contains the signal of row row[l]. */
void dyn_signal_at(const dyn_signal *signal, size_t W, const size_t *row, dyn_moment moment, size_t orders,
                   double *const value[DYN_SIGNAL_ORDERS]);

/* An instant of the motion of row `row`. */
typedef struct dyn_instant {
    size_t row;
    double t, T, fraction; /* time and duration of the motion, s; t / T */
} dyn_instant;

/* Writes the value of a signal with `width` numbers and its first two time derivatives, and the derivatives of the
 * value and of its rate with respect to the duration. An instant within rounding of a jump of the signal gets the value
 * after the jump. */
void dyn_signal_at_instant(const dyn_signal *signal, const dyn_instant *instant, size_t width,
                           double *const value[DYN_SIGNAL_ORDERS], double *const by_duration[2]);
