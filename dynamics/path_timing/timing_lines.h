/* timing_lines.h - collects the limits of one interval of a timing as lines in x and u, for the files of this folder.
 *
 * x and u are those of the interval's start. Upper lines bound u from above at a given x, lower lines from below. A
 * norm bounds u by both halves of an ellipse: its lines are the tangents at the x that is asked about. */
#pragma once
#include "timing.h"

/* A line u = alpha - beta x. */
typedef struct line {
    double alpha, beta;
    double rate;         /* d alpha / d bound of its limit */
    size_t place, limit; /* origin */
} line;

/* A norm |a u + b x| <= 1 in x and u of the interval's start. */
typedef struct ellipse {
    double aa, ab, bb, cross, most; /* most: the largest x */
    size_t place, limit;
} ellipse;

/* The lines of one interval: upper bounds of u from the front of the array, lower bounds from its back. */
typedef struct lines {
    line    *item;
    size_t   room, n_upper, n_lower, n_ellipses;
    ellipse *ellipse;
    double   x_least, x_most;           /* bounds of x alone */
    line     limits_least, limits_most; /* where x_least and x_most come from; alpha is the bound */
    bool     late;                      /* the deadline has passed: the lines are not complete */
} lines;

/* The lowest upper line and the highest lower line at some x. */
typedef struct gap {
    line   upper, lower;
    double high, low;
} gap;

/* Collects the lines of interval i. The end of the interval has x in [least, most]. `settling` is true from the second
 * pass on. */
lines dyn_timing_collect(const dyn_timing *t, size_t i, bool settling);

gap dyn_timing_gap(const lines *l, double x);
