/* timing.h - finds the fastest timing s(t) of a path from rest to rest within limits that are linear in the second
 * derivative of s, for one path, without lanes.
 *
 * With x = sd^2 and u = sdd, a limit at a place of the path is a row
 *
 *     a u + b x + d sqrt(x) <= r.
 *
 * Limits of velocities, accelerations and torques have this form, with the coefficients of the operation `path`. The
 * rows of torques are divided by their limits, so that r is about 1. The magnitude of a vector that is linear in u and
 * x, such as the acceleration of a point, has a limit |p u + q x| <= 1, called a norm, an ellipse in u and x. u is
 * constant in each of N intervals, hence x is linear in s: dx/ds = 2 u. Every interval has the same number of parts,
 * and the rows hold at both ends of each part. With one part this is the discretisation of TOPP-RA (Pham & Pham 2018)
 * with the rows of both ends of an interval. */
#pragma once
#include "dynamics/memory/memory.h"
#include <stdbool.h>

/* Value of x = sd^2, in 1/s^2, above which the speed counts as unlimited. */
#define DYN_TIMING_FASTEST 1e12

typedef struct dyn_timing_row {
    double a, b, d, r;
} dyn_timing_row;

/* The limit |p u + q x| <= 1 of the magnitude of a vector, by products of the vectors p and q. */
typedef struct dyn_timing_norm {
    double pp, pq, qq, cross; /* p.p, p.q, q.q, |p x q| */
} dyn_timing_norm;

typedef enum dyn_timing_status {
    DYN_TIMING_DONE,
    DYN_TIMING_INFEASIBLE, /* no timing satisfies the limits `conflict` at the places `conflict_place` */
    DYN_TIMING_UNLIMITED,  /* no row limits the speed at the place conflict_place[0] */
    DYN_TIMING_UNDECIDED,  /* the limit of passes is reached: x has not converged in rows with d */
    DYN_TIMING_LATE,       /* the deadline has passed */
} dyn_timing_status;

/* Value in `conflict` that stands for the limits of later places, which require a lower speed at this one. */
#define DYN_TIMING_LATER ((size_t)-1)

/* A timing problem and its result. The limits of a place are numbered: the rows, then the norms. */

typedef struct dyn_timing {
    size_t                 intervals, parts, rows; /* the path has intervals * parts + 1 places */
    const double          *s;                      /* [places], increasing */
    const dyn_timing_row  *row;                    /* [places][rows] */
    size_t                 norms;
    const dyn_timing_norm *norm; /* [places][norms] */
    dyn_deadline           deadline;
    double                *x;            /* [places] result: sd^2, linear between the ends of an interval */
    double                *u;            /* [intervals] result: sdd */
    double                *least, *most; /* [intervals + 1] scratch: x from which the end of the path is reached */
    double                *line;         /* scratch of dyn_timing_lines() numbers */
    size_t                 conflict[2], conflict_place[2];
} dyn_timing;

static inline size_t dyn_timing_places(const dyn_timing *t)
{
    return t->intervals * t->parts + 1;
}

/* Returns the number of doubles in `line`. */
size_t dyn_timing_lines(const dyn_timing *t);

/* Finds the timing with the largest x at every place. `x`, `u`, `least`, `most` and `line` are memory of the caller. */
dyn_timing_status dyn_timing_solve(dyn_timing *t);

/* Returns a u + b x + d sqrt(x) - r of a row, or |p u + q x| - 1 of a norm, at a place, with u of interval `interval`.
 */
double dyn_timing_excess(const dyn_timing *t, size_t place, size_t limit, size_t interval);

/* Writes the derivatives of the duration with respect to the bound of each limit (r of a row, 1 of a norm), summed over
 * all places: 0 or less. `by_bound`: [rows + norms]; `scratch`: 3 (intervals + 1) numbers. *t must be unchanged since
 * dyn_timing_solve. Returns false if the deadline has passed. */
bool dyn_timing_slopes(const dyn_timing *t, double *by_bound, double *scratch);

/* Writes the time at every place, in s; time[0] = 0. The time after an interval without motion is infinite. */
void dyn_timing_times(const dyn_timing *t, double *time);
