/* smooth_timing.h - finds a fast timing of a path from rest to rest within limits that contain the third derivative of
 * s, such as those of jerks and torque rates.
 *
 * The path parameter s is a function of another parameter, s = g(r) with 0 <= r <= 1, chosen so that a finite rate of r
 * gives rest without acceleration at both ends: g = 10 r^3 - 15 r^4 + 6 r^5, or g = r for a path whose first and second
 * derivatives with respect to s are zero at both ends, as those of a spline with three equal control points there. With
 * x = rd^2, u = rdd = x'/2 and ' for d/dr, a limit at a place is a row
 *
 *     low <= B + rho A <= high,  rho = sqrt(x),
 *     A = a3 u' + a2 u + a1 x + a0,  B = b2 u + b1 x + b0,
 *
 * with a3 = a2 = a1 = 0 in rows without the third derivative. A limit of the magnitude of a vector, such as the
 * acceleration of a point, is a norm, |p u + q x| <= high. x is a cubic polynomial in each of N intervals with
 * continuous first derivative (Hermite), so that u' is linear in each interval and jumps between them. The rows hold at
 * both ends of each part of an interval.
 *
 * Method: a primal-dual interior-point method with exact second derivatives, whose iterates all satisfy the rows
 * (Wright 1997, ch. 5, without slack variables). Rows with u' are divided by rho: then A is linear, and the tangent of
 * high / rho, which is convex, is a bound on the safe side. The problem is not convex: the result is a local optimum.
 *
 * Between the places limits would be exceeded a little, and much where the path's third derivative jumps at a knot. So
 * the rows hold at both sides of each knot, and limits are checked at instants between the places. The limits are
 * narrowed at both places, the search goes on, and the timing is slowed down by the excess that remains. */
#pragma once
#include "timing.h"
#include <stdbool.h>

typedef struct dyn_smooth_row {
    double a3, a2, a1, a0, b2, b1, b0;
    double low, high; /* low may be -HUGE_VAL */
} dyn_smooth_row;

/* The limit |p u + q x| <= high of the magnitude of a vector. */
typedef struct dyn_smooth_norm {
    double p[3], q[3], high;
} dyn_smooth_norm;

enum {
    DYN_SMOOTH_CHECKS = 32, /* most instants between two places */
    DYN_SMOOTH_INNER  = 3   /* instants between two places, two knots, or a place and a knot, evenly spaced */
};

/* Instants between the places at which limits are checked, in their order, and the limits there. At a knot where
 * derivatives of the path jump there are two: one before it, of side -1, and one behind it, of side 1. */
typedef struct dyn_smooth_between {
    const size_t          *first;    /* [places] the first instant behind a place; of the last place their number */
    const double          *fraction; /* [instants] parts of the way in r to the next place, 0 to 1 */
    const signed char     *side;     /* [instants] 0: not at a knot */
    const dyn_smooth_row  *row;      /* [instants][second + third] */
    const dyn_smooth_norm *norm;     /* [instants][norms] */
} dyn_smooth_between;

/* The limits of a place have numbers: the rows without u', those with it, then the norms. */
typedef struct dyn_smooth {
    size_t             intervals, parts;     /* the path has intervals * parts + 1 places, evenly spaced in r */
    size_t             second, third, norms; /* limits of a place: rows without u', rows with it, norms */
    dyn_smooth_row    *row;                  /* [places][second + third]; low and high are narrowed */
    dyn_smooth_norm   *norm;                 /* [places][norms]; high is narrowed */
    dyn_smooth_between between;
    dyn_deadline       deadline;
    double *node;   /* [intervals + 1][2] result: x and its derivative with respect to the fraction of an interval */
    double *work;   /* dyn_smooth_work(): scratch */
    double *before; /* [limits][2] scratch */
    size_t  place, bad_limit; /* DYN_TIMING_INFEASIBLE: place and limit that a robot at rest does not satisfy */
    int     steps;            /* Newton steps taken */
} dyn_smooth;

/* x = rd^2, u = rdd and u' at a place (see above). */
typedef struct dyn_smooth_state {
    double x, u, du;
} dyn_smooth_state;

/* s = g(r) and its first three derivatives with respect to r. */
typedef struct dyn_grading {
    double s, d1, d2, d3;
} dyn_grading;

static inline size_t dyn_smooth_places(const dyn_smooth *t)
{
    return t->intervals * t->parts + 1;
}

static inline size_t dyn_smooth_rows(const dyn_smooth *t)
{
    return t->second + t->third;
}

static inline size_t dyn_smooth_limits(const dyn_smooth *t)
{
    return dyn_smooth_rows(t) + t->norms;
}

/* Returns g at r. `resting`: the path rests at both ends by itself, so that g = r. */
dyn_grading dyn_grading_of(double r, bool resting);

/* Returns g at place number `place` of n + 1 evenly spaced ones. */
static inline dyn_grading dyn_grading_at(size_t place, size_t n, bool resting)
{
    return dyn_grading_of((double)place / (double)n, resting);
}

/* Returns the number of doubles in `work`. */
size_t dyn_smooth_work(const dyn_smooth *t);

/* Finds t->node. DYN_TIMING_INFEASIBLE: the limits exclude even a robot at rest at some place of the path. */
dyn_timing_status dyn_smooth_solve(dyn_smooth *t);

/* Returns the state at the fraction `fraction`, 0 to 1, of interval i. */
dyn_smooth_state dyn_smooth_at(const dyn_smooth *t, size_t i, double fraction);

/* Returns B + rho A of a row. */
double dyn_smooth_value(const dyn_smooth_row *row, const dyn_smooth_state *state);

/* Returns |p u + q x|. */
double dyn_smooth_magnitude(const dyn_smooth_norm *norm, const dyn_smooth_state *state);

/* Returns by how much limit k of a place is exceeded at a state. */
double dyn_smooth_excess(const dyn_smooth *t, size_t place, size_t k, const dyn_smooth_state *state);

/* Writes the derivatives of the duration with respect to the bound of each limit, summed over all places: 0 or less.
 * A larger limit moves both bounds of a row outwards, if the row has two. `by_bound`: [limits]. Call it after
 * dyn_smooth_solve. */
void dyn_smooth_slopes(dyn_smooth *t, double *by_bound);

/* Writes the time at every place, in s. */
void dyn_smooth_times(const dyn_smooth *t, double *time);
