/* timing.c - finds the fastest timing of a path by reachability (timing.h): Pham & Pham 2018, algorithm 1.
 *
 * A backward pass finds, for every end of an interval, the values of x from which the end of the path is reached: an
 * interval [least, most], found by linear programs in x and u. A forward pass takes the largest u. The rows of an
 * interval are lines that bound u at a given x, above or below. The gap between the lowest upper and the highest lower
 * line is concave in x, so that Newton's method from outside ends at the zero of the gap after few steps. With tangents
 * of ellipses the steps converge quadratically.
 *
 * In a row, sqrt(x) is replaced by its tangent at the x of the pass before. Passes are repeated until x does not
 * change. */
#include "timing_lines.h"
#include <math.h>

enum { NEWTON_STEPS = 200, PASSES = 60, RETRIES = 30 };

#define SETTLED  1e-12 /* relative change of x up to which the passes have converged */
#define ROUNDING 1e-15 /* relative change of x up to which a step of Newton's method counts as none */
#define SLOWER   0.25  /* factor of x after a pass whose tangents allow no motion */
/* --- passes ------------------------------------------------------------------------------------------------------- */

static void note_conflict(dyn_timing *t, const line *one, const line *other)
{
    t->conflict[0]       = one->limit;
    t->conflict_place[0] = one->place;
    t->conflict[1]       = other->limit;
    t->conflict_place[1] = other->place;
}

static bool same_line(const line *one, const line *other)
{
    return one->alpha == other->alpha && one->beta == other->beta;
}

/* Moves *x inwards, downwards from x_most or upwards from x_least, until the upper lines are above the lower lines.
 * Returns false, with t->conflict, if that is so at no x between the bounds. */
static bool move_inwards(dyn_timing *t, const lines *l, bool downwards, double *x)
{
    gap before = {.high = 0};
    for (int step = 0; step < NEWTON_STEPS; step++) {
        const gap g = dyn_timing_gap(l, *x);
        if (step > 0 && !dyn_may_continue(t->deadline)) return true; /* the result is not used */
        if (g.high >= g.low) return true;
        if (step > 0 && same_line(&g.upper, &before.upper) && same_line(&g.lower, &before.lower)) return true;
        const double slope = g.upper.beta - g.lower.beta;
        const double to    = (g.upper.alpha - g.lower.alpha) / slope;
        const bool   out   = downwards ? !(slope > 0) || to < l->x_least : !(slope < 0) || to > l->x_most;
        if (out) {
            note_conflict(t, &g.upper, &g.lower);
            return false;
        }
        const bool rests = step > 0 && fabs(to - *x) <= ROUNDING * *x;
        before           = g;
        *x               = to;
        if (rests) return true;
    }
    return true;
}

/* Finds the controllable sets, intervals of x from which the end of the path is reached, from the last interval to the
 * first. */
static dyn_timing_status pass_backward(dyn_timing *t, bool settling)
{
    t->least[t->intervals] = t->most[t->intervals] = 0;
    for (size_t i = t->intervals; i-- > 0;) {
        lines l = dyn_timing_collect(t, i, settling);
        if (l.late) return DYN_TIMING_LATE;
        if (!(l.x_most >= l.x_least)) {
            note_conflict(t, &l.limits_most, &l.limits_most);
            return DYN_TIMING_INFEASIBLE;
        }
        t->least[i] = l.x_least;
        t->most[i]  = l.x_most;
        if (!move_inwards(t, &l, true, &t->most[i]) || !move_inwards(t, &l, false, &t->least[i]))
            return DYN_TIMING_INFEASIBLE;
        if (i == 0 && t->least[0] > 0) {
            const gap g = dyn_timing_gap(&l, 0);
            note_conflict(t, &g.upper, &g.lower);
            return DYN_TIMING_INFEASIBLE;
        }
        if (t->most[i] < t->least[i]) t->most[i] = t->least[i];
    }
    return DYN_TIMING_DONE;
}

/* Takes the largest possible u in each interval, from the start of the path. *change becomes the largest change of x
 * since the pass before, as a fraction of the largest x. */
static dyn_timing_status pass_forward(dyn_timing *t, bool settling, double *change)
{
    double x = 0, largest = 0, moved = 0;
    for (size_t i = 0; i < t->intervals; i++) {
        const lines l = dyn_timing_collect(t, i, settling);
        if (l.late) return DYN_TIMING_LATE;
        const size_t first = i * t->parts;
        const double width = t->s[first + t->parts] - t->s[first];
        const double next  = fmin(fmax(x + 2 * width * dyn_timing_gap(&l, x).high, t->least[i + 1]), t->most[i + 1]);
        t->u[i]            = (next - x) / (2 * width);
        for (size_t j = 0; j <= t->parts; j++) {
            const double here = j == t->parts ? next : x + 2 * t->u[i] * (t->s[first + j] - t->s[first]);
            if (j > 0 || i == 0) moved = fmax(moved, fabs(here - t->x[first + j]));
            t->x[first + j] = here;
            largest         = fmax(largest, here);
        }
        x = next;
    }
    *change = largest > 0 ? moved / largest : 0;
    return DYN_TIMING_DONE;
}

/* True if some row has a term d sqrt(x) that is not just a bound of x: with a or b, or with d < 0. A timing with these
 * rows needs several passes. */
static bool is_damped(const dyn_timing *t)
{
    bool damped = false;
    for (size_t k = 0; k < dyn_timing_places(t) * t->rows; k++)
        damped |= t->row[k].d != 0 && (t->row[k].a != 0 || t->row[k].b != 0 || t->row[k].d < 0);
    return damped;
}

/* Lowers x of the last pass, at which the next pass takes its tangents. In a row with d > 0, a tangent of sqrt(x) at an
 * x far above the allowed motion excludes slow motions, too. A tangent at a smaller x excludes only fast motions, and
 * only in the next pass. */
static void slow_down(dyn_timing *t)
{
    for (size_t p = 0; p < dyn_timing_places(t); p++)
        t->x[p] *= SLOWER;
}

static dyn_timing_status reach_timing(dyn_timing *t)
{
    const bool damped  = is_damped(t);
    double     change  = 1;
    int        retries = 0;
    for (size_t p = 0; p < dyn_timing_places(t); p++)
        t->x[p] = 0;
    for (int pass = 0; pass < PASSES && change > SETTLED; pass++) {
        dyn_timing_status status = pass_backward(t, pass > 0);
        if (status == DYN_TIMING_DONE) status = pass_forward(t, pass > 0, &change);
        if (status == DYN_TIMING_INFEASIBLE && pass > 0 && retries++ < RETRIES) {
            slow_down(t);
            change = 1;
            continue;
        }
        if (status != DYN_TIMING_DONE) return status;
        if (!damped) change = 0;
    }
    for (size_t p = 0; p < dyn_timing_places(t); p++)
        if (t->x[p] > 0.5 * DYN_TIMING_FASTEST) {
            t->conflict_place[0] = p;
            return DYN_TIMING_UNLIMITED;
        }
    return change <= SETTLED ? DYN_TIMING_DONE : DYN_TIMING_UNDECIDED;
}

dyn_timing_status dyn_timing_solve(dyn_timing *t)
{
    const dyn_timing_status status = reach_timing(t);
    return dyn_may_continue(t->deadline) ? status : DYN_TIMING_LATE;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

double dyn_timing_excess(const dyn_timing *t, size_t place, size_t limit, size_t interval)
{
    const double u = t->u[interval], x = t->x[place];
    if (limit >= t->rows) {
        const dyn_timing_norm *n = &t->norm[place * t->norms + limit - t->rows];
        return sqrt(fmax(n->pp * u * u + 2 * n->pq * u * x + n->qq * x * x, 0)) - 1;
    }
    const dyn_timing_row *k = &t->row[place * t->rows + limit];
    return k->a * u + k->b * x + k->d * sqrt(t->x[place]) - k->r;
}

void dyn_timing_times(const dyn_timing *t, double *time)
{
    time[0] = 0;
    for (size_t p = 1; p < dyn_timing_places(t); p++)
        time[p] = time[p - 1] + 2 * (t->s[p] - t->s[p - 1]) / (sqrt(t->x[p - 1]) + sqrt(t->x[p]));
}
