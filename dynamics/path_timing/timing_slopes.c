/* timing_slopes.c - differentiates the duration of a timing with respect to the bounds of its limits (timing.h).
 *
 * The passes of timing.c make x at every end of an interval a function of one or two lines u = alpha - beta x. With the
 * width w of interval i in s:
 *
 *     forward   x_{i+1} = x_i + 2 w (alpha - beta x_i), or most_{i+1}
 *     backward  most_i = a bound of x alone, or the x at which an upper and a lower line intersect; least_i likewise
 *
 * Here alpha depends on the bound of a limit, or on most_{i+1} or least_{i+1}. The derivatives of the duration are
 * propagated through these equations in reverse order: first those of the forward pass, then those of the backward
 * pass. With tangents of sqrt(x) and of ellipses the derivatives of the converged timing are exact. */
#include "timing_lines.h"
#include <math.h>

#define OUTWARDS 1e-9 /* relative distance in x beyond an intersection at which its two lines are identified */

/* Derivatives of the duration with respect to x, most and least at the ends of intervals, and to the bounds. */
typedef struct slopes {
    const dyn_timing *t;
    double           *x, *most, *least; /* [intervals + 1] */
    double           *by_bound;         /* [rows + norms] */
} slopes;

/* Adds to d->x the derivatives of the duration, the sum of 2 ds / (sqrt(x) + sqrt(x of the next place)) over all
 * places. */
static void differentiate_times(const slopes *d)
{
    const dyn_timing *t = d->t;
    for (size_t p = 0; p + 1 < dyn_timing_places(t); p++) {
        const size_t i = p / t->parts, first = i * t->parts;
        const double rate[2] = {sqrt(t->x[p]), sqrt(t->x[p + 1])}, sum = rate[0] + rate[1];
        const double width = t->s[first + t->parts] - t->s[first];
        for (size_t end = 0; end < 2; end++) {
            const double by_x = rate[end] > 0 ? (t->s[p] - t->s[p + 1]) / (sum * sum * rate[end]) : 0;
            const double part = (t->s[p + end] - t->s[first]) / width;
            d->x[i] += (1 - part) * by_x;
            d->x[i + 1] += part * by_x;
        }
    }
}

/* Adds to the derivative with respect to the origin of a line, the bound of a limit or `most` or `least` at `end`, the
 * derivative `by_alpha` with respect to alpha of the line. `end` is the end of the line's interval; `lower`: the line
 * bounds u from below. */
static void pass_to_origin(const slopes *d, const line *passed, size_t end, bool lower, double by_alpha)
{
    const double by_origin = by_alpha * passed->rate;
    if (passed->limit != DYN_TIMING_LATER)
        d->by_bound[passed->limit] += by_origin;
    else if (lower)
        d->least[end] += by_origin;
    else
        d->most[end] += by_origin;
}

/* Adds to the derivative with respect to x at the start of interval i, or to `most` at its end, the part that comes
 * from x at its end. */
static void reverse_forward(const slopes *d, size_t i, const lines *l)
{
    const dyn_timing *t     = d->t;
    const size_t      first = i * t->parts;
    const double      width = 2 * (t->s[first + t->parts] - t->s[first]);
    const gap         g     = dyn_timing_gap(l, t->x[first]);
    if (t->x[first + t->parts] >= t->most[i + 1]) {
        d->most[i + 1] += d->x[i + 1];
        return;
    }
    d->x[i] += d->x[i + 1] * (1 - width * g.upper.beta);
    pass_to_origin(d, &g.upper, i + 1, false, d->x[i + 1] * width);
}

/* Propagates the derivative `by_x` with respect to most (`upwards`) or least at the start of interval i to the lines
 * that intersect there, or to the bound of x alone. The two lines are those that leave no gap at an x a little farther
 * outwards. */
static void reverse_bound(const slopes *d, size_t i, const lines *l, bool upwards, double by_x)
{
    const double x     = upwards ? d->t->most[i] : d->t->least[i];
    const line  *alone = upwards ? &l->limits_most : &l->limits_least;
    if (by_x == 0) return;
    if (x == (upwards ? l->x_most : l->x_least)) {
        if (alone->limit != DYN_TIMING_LATER) d->by_bound[alone->limit] += by_x * alone->rate;
        return;
    }
    const gap    g     = dyn_timing_gap(l, x * (upwards ? 1 + OUTWARDS : 1 - OUTWARDS));
    const double slope = g.upper.beta - g.lower.beta;
    if (slope == 0) return;
    pass_to_origin(d, &g.upper, i + 1, false, by_x / slope);
    pass_to_origin(d, &g.lower, i + 1, true, -by_x / slope);
}

static slopes lay_out_slopes(const dyn_timing *t, double *by_bound, double *scratch)
{
    const size_t ends = t->intervals + 1;
    for (size_t k = 0; k < 3 * ends; k++)
        scratch[k] = 0;
    for (size_t k = 0; k < t->rows + t->norms; k++)
        by_bound[k] = 0;
    return (slopes){.t = t, .x = scratch, .most = scratch + ends, .least = scratch + 2 * ends, .by_bound = by_bound};
}

bool dyn_timing_slopes(const dyn_timing *t, double *by_bound, double *scratch)
{
    const slopes d = lay_out_slopes(t, by_bound, scratch);
    differentiate_times(&d);
    for (size_t i = t->intervals; i-- > 0;) {
        const lines l = dyn_timing_collect(t, i, true);
        if (l.late) return false;
        reverse_forward(&d, i, &l);
    }
    for (size_t i = 0; i < t->intervals; i++) {
        const lines l = dyn_timing_collect(t, i, true);
        if (l.late) return false;
        reverse_bound(&d, i, &l, true, d.most[i]);
        reverse_bound(&d, i, &l, false, d.least[i]);
    }
    return true;
}
