/* spline_motion.h - evaluates motions that are B-splines of the coordinates, at samples and between them.
 *
 * With the fraction f = t / T of the duration T, the basis functions B_k of spline.h and the control points c_k,
 *
 *     x(t) = sum_k B_k(f) c_k, d^r x / dt^r = sum_k b_rk c_k, b_rk = B_k^(r)(f) / T^r.
 *
 * x are the positions q, unless the mechanism has joints with a quaternion
 * (dynamics/trajectory_gradients/coordinate_change.h). */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/loops/mechanism.h"
#include "points.h"
#include "signal_value.h"
#include "spline.h"

/* Motions with the same spline: every row is a motion of N samples. The caller owns all arrays. */
typedef struct dyn_motion {
    dyn_mechanism robot;
    dyn_spline    spline;
    dyn_points    points;           /* control points, nv numbers each */
    size_t        samples;          /* N, samples of each motion */
    const double *durations;        /* s: [1] for all motions, or one for each motion */
    bool          durations_differ; /* true: `durations` has one entry for each motion */
    const double *times;            /* [N], s; NULL: N samples evenly spaced from 0 to T */
} dyn_motion;

static inline double dyn_motion_duration(const dyn_motion *m, size_t row)
{
    return m->durations[m->durations_differ ? row : 0];
}

/* Returns the fraction t / T of sample n in a motion of duration T = `duration`, in s. */
static inline double dyn_motion_fraction(const dyn_motion *m, size_t n, double duration)
{
    return m->times ? m->times[n] / duration : (double)n / (double)(m->samples - 1);
}

/* Sample n of a motion: the basis functions that are not zero there, with their derivatives with respect to the
 * fraction t / T. All rows share them, unless `times` are given and the durations differ. */
typedef struct dyn_sample {
    size_t n;
    size_t first; /* index of the first control point that affects the sample */
    double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
} dyn_sample;

/* Evaluates sample n of a motion of duration `duration`, in s. */
dyn_sample dyn_motion_sample(const dyn_motion *m, size_t n, double duration);

/* Three functions evaluate a row's motion between its samples n - 1 (s = 0) and n (s = 1), 0 < n < N.
 * dyn_motion_between writes the coordinates q [nv] at s. dyn_motion_time returns the time at s, in s.
 * dyn_motion_travel_bound returns an upper bound of the travel of any coordinate of a mechanism with loops, in units of
 * dyn_loops.travel. */
void   dyn_motion_between(const dyn_motion *m, size_t row, size_t n, double s, double *q);
double dyn_motion_time(const dyn_motion *m, size_t row, size_t n, double s);
double dyn_motion_travel_bound(const dyn_motion *m, size_t row, size_t n);

/* One block of states, in lanes of W. State number row N + n is sample n of a row; unused lanes after the last state
 * repeat it. Comments on arrays in lanes begin with the number of entries per state. */
typedef struct dyn_motion_block {
    const dyn_motion *motion;
    dyn_deadline      deadline;      /* checked between the rows of gradients of large mechanisms */
    size_t            W;             /* number of lanes */
    size_t            state, states; /* index of the block's first state, and number of all states */
    bool
        dense; /* true: gradients with respect to all control points, not only to the degree + 1 that affect a sample */
    double *x[DYN_SPLINE_ORDERS]; /* nv: coordinates of the spline, and their time derivatives */
    double *time;                 /* 1: the sample's time, s */
    double *rate;                 /* 1: 1/T, with the duration T in s */
    double *first;                /* 1: the index of the first control point that affects the state */
    double *basis;                /* DYN_SPLINE_ORDERS x (degree + 1): b_rk of the control points from `first` on */
} dyn_motion_block;

/* Writes a sample of a row's motion to all arrays of a lane. */
void dyn_motion_put(const dyn_motion_block *b, size_t lane, const dyn_sample *sample, size_t row);

/* Returns the row of the state in a lane. */
static inline size_t dyn_motion_row(const dyn_motion_block *b, size_t lane)
{
    const size_t last = b->states - 1, state = b->state + lane;
    return (state < last ? state : last) / b->motion->samples;
}

/* Returns the instant of the state in a lane; b->time must be set. */
dyn_instant dyn_motion_instant(const dyn_motion_block *b, size_t lane);
