/* smooth_check.c - finds excesses of limits between the places of a smooth timing (smooth_check.h). */
#include "smooth_check.h"
#include <math.h>

enum {
    LOOK = 32, /* places between two checks of the deadline */
    MANY = 256 /* limits of a place above which the deadline is checked at each place */
};

enum {
    POINTS   = DYN_SMOOTH_INNER + 2, /* evenly spaced points of a segment */
    STEPS    = 16,                   /* steps in which a segment is looked at */
    SEGMENTS = DYN_SMOOTH_CHECKS / DYN_SMOOTH_INNER
};

#define NEAR 1e-3 /* fraction of a limit: values that stay farther below it are not looked at between points */

/* A piece of the path without a knot inside: the states and limits at its evenly spaced points. */
typedef struct segment {
    dyn_smooth_state       state[POINTS];
    const dyn_smooth_row  *row[POINTS];
    const dyn_smooth_norm *norm[POINTS];
} segment;

/* The path from one place to the next, divided at the knots between them. */
typedef struct part {
    size_t  n;
    segment segment[SEGMENTS];
} part;

/* Sets point number i of a segment to a place. */
static void put_place(const dyn_smooth *t, size_t interval, size_t place, segment *s, size_t i)
{
    s->state[i] = dyn_smooth_at(t, interval, (double)(place - interval * t->parts) / (double)t->parts);
    s->row[i]   = &t->row[place * dyn_smooth_rows(t)];
    s->norm[i]  = &t->norm[place * t->norms];
}

/* Sets point number i of a segment to instant k, which is after a place. */
static void put_instant(const dyn_smooth *t, size_t interval, size_t place, size_t k, segment *s, size_t i)
{
    const double parts = (double)(place - interval * t->parts) + t->between.fraction[k];
    s->state[i]        = dyn_smooth_at(t, interval, parts / (double)t->parts);
    s->row[i]          = &t->between.row[k * dyn_smooth_rows(t)];
    s->norm[i]         = &t->between.norm[k * t->norms];
}

static void list_segments(const dyn_smooth *t, size_t place, part *p)
{
    const dyn_smooth_between *b = &t->between;
    const size_t              i = place / t->parts, end = b->first[place + 1];
    p->n = 0;
    for (size_t k = b->first[place]; k < end && p->n < SEGMENTS;) {
        segment *s = &p->segment[p->n++];
        if (b->side[k] > 0)
            put_instant(t, i, place, k++, s, 0);
        else
            put_place(t, i, place, s, 0);
        for (size_t inner = 1; inner <= DYN_SMOOTH_INNER; inner++)
            put_instant(t, i, place, k++, s, inner);
        if (k < end)
            put_instant(t, i, place, k++, s, POINTS - 1);
        else
            put_place(t, i, place + 1, s, POINTS - 1);
    }
}

/* Returns the largest of three evenly spaced values, and of the parabola through them between the first and the last.
 */
static double peak_of(const double y[3])
{
    const double most = fmax(fmax(y[0], y[1]), y[2]), slope = (y[2] - y[0]) / 2, bend = y[2] - 2 * y[1] + y[0];
    return bend < 0 && fabs(slope) < -bend ? fmax(most, y[1] - slope * slope / (2 * bend)) : most;
}

/* Returns the largest value on a segment, where it is the polynomial through its values at the points. */
static double largest_of(const double value[POINTS])
{
    double y[STEPS + 1], most = -HUGE_VAL;
    for (size_t n = 0; n <= STEPS; n++) {
        const double x = (double)n * (POINTS - 1) / STEPS;
        y[n]           = 0;
        for (size_t i = 0; i < POINTS; i++) {
            double weight = 1;
            for (size_t k = 0; k < POINTS; k++)
                if (k != i) weight *= (x - (double)k) / ((double)i - (double)k);
            y[n] += weight * value[i];
        }
    }
    for (size_t n = 1; n < STEPS; n++)
        most = fmax(most, peak_of(y + n - 1));
    return most;
}

/* Returns by how much a value can exceed its bound at most, at a rough estimate: beyond the points by twice the range
 * of its values there. */
static double most_possible(const double value[POINTS])
{
    double most = value[0], least = value[0];
    for (size_t i = 1; i < POINTS; i++) {
        most  = fmax(most, value[i]);
        least = fmin(least, value[i]);
    }
    return most + 2 * (most - least);
}

/* Returns by how much the values exceed 0 on a segment; at most 0: not at all. */
static double excess_of(const double value[POINTS])
{
    const double possible = most_possible(value);
    return possible < -NEAR ? possible : largest_of(value);
}

/* Writes by how much a limit is exceeded on each of its sides in the part; at most 0: not at all. The bounds are those
 * of an instant: those of places may be narrowed. */
static void find_excess(const dyn_smooth *t, const part *p, size_t limit, double excess[2])
{
    const size_t rows = dyn_smooth_rows(t);
    const bool   norm = limit >= rows;
    excess[0] = excess[1] = -HUGE_VAL;
    for (size_t n = 0; n < p->n; n++) {
        const segment *s    = &p->segment[n];
        const double   high = norm ? s->norm[1][limit - rows].high : s->row[1][limit].high;
        const double   low  = norm ? -HUGE_VAL : s->row[1][limit].low;
        double         above[POINTS], below[POINTS];
        for (size_t i = 0; i < POINTS; i++) {
            const double value = norm ? dyn_smooth_magnitude(&s->norm[i][limit - rows], &s->state[i])
                                      : dyn_smooth_value(&s->row[i][limit], &s->state[i]);
            above[i]           = value - high;
            below[i]           = low - value;
        }
        excess[0] = fmax(excess[0], excess_of(above));
        if (!isinf(low)) excess[1] = fmax(excess[1], excess_of(below));
    }
}

/* Returns by how much a limit is narrowed for an excess: about as much, and always less than the distance from
 * the limit at which a robot at rest is. */
static double narrowing_of(double excess, double room)
{
    return excess > 0 && room > 0 ? excess * room / (excess + room) : 0;
}

static void narrow_at(const dyn_smooth *t, size_t place, size_t limit, const double excess[2])
{
    const size_t    rows = dyn_smooth_rows(t);
    dyn_smooth_row *row  = limit < rows ? &t->row[place * rows + limit] : NULL;
    double         *high = row ? &row->high : &t->norm[place * t->norms + limit - rows].high;
    *high -= narrowing_of(excess[0], *high - (row ? row->b0 : 0));
    if (row) row->low += narrowing_of(excess[1], row->b0 - row->low);
}

double dyn_smooth_excess_between(dyn_smooth *t, bool narrow)
{
    const size_t limits = dyn_smooth_limits(t), last = t->intervals * t->parts;
    double       most = -HUGE_VAL, *before = t->before; /* excesses between the place before and this one */
    part         p;
    for (size_t k = 0; k < 2 * limits; k++)
        before[k] = 0;
    for (size_t place = 0; place < last; place++) {
        if ((limits > MANY || place % LOOK == 0) && !dyn_may_continue(t->deadline)) return most;
        list_segments(t, place, &p);
        for (size_t k = 0; k < limits; k++) {
            double here[2];
            find_excess(t, &p, k, here);
            most = fmax(most, fmax(here[0], here[1]));
            if (narrow)
                narrow_at(t, place, k, (double[]){fmax(here[0], before[2 * k]), fmax(here[1], before[2 * k + 1])});
            before[2 * k]     = here[0];
            before[2 * k + 1] = here[1];
        }
    }
    for (size_t k = 0; narrow && k < limits; k++)
        narrow_at(t, last, k, before + 2 * k);
    return most;
}
