/* timing_lines.h - collects the limits of one interval of a timing as lines in x and u, for the files of this folder.
 *
 * x and u are those at the interval's start. Upper lines bound u from above at a given x, lower lines from below. A
 * norm bounds u by both halves of an ellipse, and contributes the tangents of the ellipse at the x at which the gap is
 * evaluated. */
#pragma once
#include "timing.h"

/* A line u = alpha - beta x. */
typedef struct line {
    double alpha, beta;
    double rate;         /* derivative of alpha by the bound of the limit */
    size_t place, limit; /* place and number of the limit that gives the line */
} line;

/* An ellipse |a u + b x| <= 1 in x and u of the interval's start: aa = a.a, ab = a.b, bb = b.b, cross = |a x b|. */
typedef struct ellipse {
    double aa, ab, bb, cross, most; /* most: the largest x in the ellipse */
    size_t place, limit;
} ellipse;

/* The lines of one interval. Upper lines fill the array `item` of `room` lines from the front, lower lines from the
 * back. */
typedef struct lines {
    line    *item;
    size_t   room, n_upper, n_lower, n_ellipses;
    ellipse *ellipse;
    double   x_least, x_most;           /* bounds of x that do not depend on u */
    line     limits_least, limits_most; /* the limits that give x_least and x_most; alpha is the bound */
    bool     late;                      /* the deadline has passed: the lines are not complete */
} lines;

/* The lowest upper line and the highest lower line at some x, with their values of u there. */
typedef struct gap {
    line   upper, lower;
    double high, low;
} gap;

/* Collects the lines of interval i, whose end must have x in [least, most]. `settling`: true from the second pass on,
 * when x of the pass before is known. */
lines dyn_timing_collect(const dyn_timing *t, size_t i, bool settling);

gap dyn_timing_gap(const lines *l, double x);
