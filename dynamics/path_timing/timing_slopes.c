/* timing_slopes.c - differentiates the duration of a timing with respect to the bounds of its limits (timing.h).
 *
 * The passes of timing.c make x at every end of an interval a function of one or two lines:
 *
 *     forward   x_{i+1} = x_i + 2 w (alpha - beta x_i), or most_{i+1}
 *     backward  most_i = the bound of x alone, or the x at which an upper and a lower line meet; least_i likewise
 *
 * where alpha depends on the bound of a limit, or on most_{i+1} or least_{i+1}. The derivatives of the duration pass
 * through these equations in reverse: against the forward pass, then against the backward pass. With tangents of
 * sqrt(x) and of ellipses the derivatives of the settled timing are exact. */
#include "timing_lines.h"
#include <math.h>

#define OUTWARDS 1e-9 /* relative change of x beyond which lines that meet are told from lines that touch there */

/* Derivatives of the duration with respect to x, most and least at the ends of intervals, and to the bounds. */
typedef struct slopes {
    const dyn_timing *t;
    double           *x, *most, *least; /* [intervals + 1] */
    double           *by_bound;         /* [rows + norms] */
} slopes;

/* Adds the derivatives of the sum of times 2 ds / (sqrt(x) + sqrt(x of the next place)) with respect to x. */
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

/* Adds the derivative `by_alpha` with respect to alpha of a line to that of its origin; `end` is the end of the line's
 * interval, `lower` is true of a line that bounds from below. */
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

/* Passes the derivative with respect to x at the end of interval i on to x at its start, or to most at its end. */
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

/* Passes the derivative `by_x` with respect to most or least at the start of interval i, whose value is `x`, on to the
 * lines that meet there, or to the line of the bound of x alone. The lines that meet are those that leave no gap a
 * little further outwards. */
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
