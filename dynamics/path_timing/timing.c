/* timing.c - finds the fastest timing of a path by reachability (timing.h): Pham & Pham 2018, algorithm 1.
 *
 * A backward pass finds for every end of an interval the x from which the end of the path is reached: an interval
 * [least, most], found by linear programs in x and u. A forward pass takes the largest u. The rows of an interval are
 * lines that bound u at a given x, above or below. The gap between the lowest upper and the highest lower line is
 * concave in x, so that Newton's method from outside ends at its zero after few steps.
 *
 * sqrt(x) of a row is replaced by its tangent at the x of the pass before, until x is settled. */
#include "timing.h"
#include <math.h>
#include <stdbool.h>

enum { NEWTON_STEPS = 200, PASSES = 60, RETRIES = 30, LOOK = 8 /* places between two looks at the deadline */ };

#define SETTLED  1e-12 /* relative change of x in the last pass */
#define SLOWER   0.25  /* factor of x after a pass whose tangents exclude all motions */
#define VERTICAL 1e-30 /* coefficient of u below which a line bounds x alone */

/* A line u = alpha - beta x. */
typedef struct line {
    double alpha, beta;
    size_t place, row; /* origin */
} line;

/* The lines of one interval: upper bounds of u from the front of the array, lower bounds from its back. */
typedef struct lines {
    line  *item;
    size_t room, n_upper, n_lower;
    double x_least, x_most; /* bounds of x alone */
    line   limits_most;     /* line from which x_most comes */
    bool   late;            /* the deadline has passed: the lines are not complete */
} lines;

/* The lowest upper line and the highest lower line at some x. */
typedef struct gap {
    const line *upper, *lower;
    double      high, low;
} gap;

static size_t lines_of_interval(const dyn_timing *t)
{
    return (t->parts + 1) * (t->rows + 1) + 2;
}

size_t dyn_timing_lines(const dyn_timing *t)
{
    return (lines_of_interval(t) * sizeof(line) + sizeof(double) - 1) / sizeof(double);
}

/* --- lines of an interval ----------------------------------------------------------------------------------------- */

/* Adds p u + q x <= r. */
static void add_line(lines *l, double p, double q, double r, const line *origin)
{
    line added = *origin;
    if (fabs(p) <= VERTICAL * (fabs(q) + fabs(r))) {
        const double x = r / q;
        if (q > 0 && x < l->x_most) l->x_most = x, l->limits_most = added;
        if (q < 0 && x > l->x_least) l->x_least = x;
        if (q == 0 && r < 0) l->x_most = -1, l->limits_most = added;
        return;
    }
    added.alpha = r / p;
    added.beta  = q / p;
    if (p > 0)
        l->item[l->n_upper++] = added;
    else
        l->item[l->room - ++l->n_lower] = added;
}

/* Adds a row at a place of the interval; `ahead` is 2 (s of the place - s at the start of the interval). `near` is x at
 * the place in the pass before; 0: none. */
static void add_limit_row(lines *l, const dyn_timing_row *row, double reach, double near, const line *origin)
{
    double b = row->b, r = row->r;
    if (row->a == 0 && b == 0 && row->d > 0) {
        const double bound = r > 0 ? r / row->d * (r / row->d) : r;
        if (bound < DYN_TIMING_FASTEST) add_line(l, reach, 1, bound, origin);
        return;
    }
    if (row->d != 0 && near > 0) {
        b += row->d / (2 * sqrt(near));
        r -= row->d * sqrt(near) / 2;
    }
    add_line(l, row->a + reach * b, b, r, origin);
}

/* Collects the lines of interval i. The end of the interval has x in [least, most]. `settling` is true from the second
 * pass on. */
static lines collect_lines(const dyn_timing *t, size_t i, bool settling)
{
    const size_t first = i * t->parts, room = lines_of_interval(t);
    lines        l = {.item = (line *)(void *)t->line, .room = room, .x_most = DYN_TIMING_FASTEST};
    l.limits_most  = (line){.place = first, .row = DYN_TIMING_LATER};
    for (size_t j = 0; j <= t->parts; j++) {
        const size_t place = first + j;
        const double reach = 2 * (t->s[place] - t->s[first]);
        if (place % LOOK == 0 && !dyn_may_continue(t->deadline)) {
            l.late = true;
            return l;
        }
        for (size_t k = 0; k < t->rows; k++)
            add_limit_row(&l, &t->row[place * t->rows + k], reach, settling ? t->x[place] : 0,
                          &(line){.place = place, .row = k});
    }
    const double width = 2 * (t->s[first + t->parts] - t->s[first]);
    const line   later = {.place = first + t->parts, .row = DYN_TIMING_LATER};
    add_line(&l, width, 1, t->most[i + 1], &later);
    add_line(&l, -width, -1, -t->least[i + 1], &later);
    return l;
}

static gap gap_at(const lines *l, double x)
{
    gap g = {.high = HUGE_VAL, .low = -HUGE_VAL};
    for (const line *k = l->item; k < l->item + l->n_upper; k++)
        if (k->alpha - k->beta * x < g.high) g.high = k->alpha - k->beta * x, g.upper = k;
    for (const line *k = l->item + l->room - l->n_lower; k < l->item + l->room; k++)
        if (k->alpha - k->beta * x > g.low) g.low = k->alpha - k->beta * x, g.lower = k;
    return g;
}

/* --- passes ------------------------------------------------------------------------------------------------------- */

static void note_conflict(dyn_timing *t, const line *one, const line *other)
{
    t->conflict[0]       = one->row;
    t->conflict_place[0] = one->place;
    t->conflict[1]       = other->row;
    t->conflict_place[1] = other->place;
}

/* Moves *x from a bound of x inwards until the gap between the lines is open: downwards from x_most, or upwards from
 * x_least. Returns false with a conflict if no x in the bounds has an open gap. */
static bool move_inwards(dyn_timing *t, const lines *l, bool downwards, double *x)
{
    const line *upper = NULL, *lower = NULL;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        const gap g = gap_at(l, *x);
        if (step > 0 && !dyn_may_continue(t->deadline)) return true; /* the result is not used */
        if (g.high >= g.low || (g.upper == upper && g.lower == lower)) return true;
        upper              = g.upper;
        lower              = g.lower;
        const double slope = upper->beta - lower->beta;
        const double to    = (upper->alpha - lower->alpha) / slope;
        const bool   out   = downwards ? !(slope > 0) || to < l->x_least : !(slope < 0) || to > l->x_most;
        if (out) {
            note_conflict(t, upper, lower);
            return false;
        }
        *x = to;
    }
    return true;
}

/* Finds the controllable sets (intervals of x from which the end is reached), from the last interval to the first. */
static dyn_timing_status pass_backward(dyn_timing *t, bool settling)
{
    t->least[t->intervals] = t->most[t->intervals] = 0;
    for (size_t i = t->intervals; i-- > 0;) {
        lines l = collect_lines(t, i, settling);
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
            const gap g = gap_at(&l, 0);
            note_conflict(t, g.upper, g.lower);
            return DYN_TIMING_INFEASIBLE;
        }
        if (t->most[i] < t->least[i]) t->most[i] = t->least[i];
    }
    return DYN_TIMING_DONE;
}

/* Takes the largest u from the start of the path on. *change becomes the largest change of x since the pass before, as
 * a fraction of the largest x. */
static dyn_timing_status pass_forward(dyn_timing *t, bool settling, double *change)
{
    double x = 0, largest = 0, moved = 0;
    for (size_t i = 0; i < t->intervals; i++) {
        const lines l = collect_lines(t, i, settling);
        if (l.late) return DYN_TIMING_LATE;
        const size_t first = i * t->parts;
        const double width = t->s[first + t->parts] - t->s[first];
        const double next  = fmin(fmax(x + 2 * width * gap_at(&l, x).high, t->least[i + 1]), t->most[i + 1]);
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

/* True if a row has a term with sqrt(x) besides others. */
static bool is_damped(const dyn_timing *t)
{
    bool damped = false;
    for (size_t k = 0; k < dyn_timing_places(t) * t->rows; k++)
        damped |= t->row[k].d != 0 && (t->row[k].a != 0 || t->row[k].b != 0 || t->row[k].d < 0);
    return damped;
}

/* Lowers x of the last pass, at which the next pass takes its tangents. In a row with d > 0, a tangent of sqrt(x) at an
 * x far above the allowed motion excludes slow motions, too. A tangent at a smaller x excludes only fast motions, and
 * those only until the next pass. */
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

double dyn_timing_excess(const dyn_timing *t, size_t place, size_t row, size_t interval)
{
    const dyn_timing_row *k = &t->row[place * t->rows + row];
    return k->a * t->u[interval] + k->b * t->x[place] + k->d * sqrt(t->x[place]) - k->r;
}

void dyn_timing_times(const dyn_timing *t, double *time)
{
    time[0] = 0;
    for (size_t p = 1; p < dyn_timing_places(t); p++)
        time[p] = time[p - 1] + 2 * (t->s[p] - t->s[p - 1]) / (sqrt(t->x[p - 1]) + sqrt(t->x[p]));
}
