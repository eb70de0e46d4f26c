/* smooth_check.c - finds excesses of limits between the places of a smooth timing (smooth_check.h). */
#include "smooth_check.h"
#include <math.h>

enum {
    INSTANTS = 3,
    STENCIL  = 4,
    LOOK     = 32,
    MANY     = 256 /* LOOK: places between two checks of the deadline; with more than MANY limits, each place is one */
};

#define NEAR 0.1 /* fraction of a limit; a limit is checked between places only if the place before is nearer to it */

static const double instant[INSTANTS] = {0.25, 0.5, 0.75};

/* Writes the weights with which values at four consecutive places interpolate the value at the distance x from the
 * first place, in units of the distance between places (Lagrange's cubic polynomial). */
static void weigh(double x, double weight[STENCIL])
{
    weight[0] = (x - 1) * (x - 2) * (x - 3) / -6;
    weight[1] = x * (x - 2) * (x - 3) / 2;
    weight[2] = x * (x - 1) * (x - 3) / -2;
    weight[3] = x * (x - 1) * (x - 2) / 6;
}

static dyn_smooth_row interpolate_rows(const dyn_smooth_row *first, size_t stride, const double weight[STENCIL])
{
    dyn_smooth_row k = {0};
    for (size_t i = 0; i < STENCIL; i++) {
        const dyn_smooth_row *r = first + i * stride;
        k.a3 += weight[i] * r->a3;
        k.a2 += weight[i] * r->a2;
        k.a1 += weight[i] * r->a1;
        k.a0 += weight[i] * r->a0;
        k.b2 += weight[i] * r->b2;
        k.b1 += weight[i] * r->b1;
        k.b0 += weight[i] * r->b0;
    }
    return k;
}

static dyn_smooth_norm interpolate_norms(const dyn_smooth_norm *first, size_t stride, const double weight[STENCIL])
{
    dyn_smooth_norm k = {.high = 0};
    for (size_t i = 0; i < STENCIL; i++)
        for (size_t axis = 0; axis < 3; axis++) {
            k.p[axis] += weight[i] * first[i * stride].p[axis];
            k.q[axis] += weight[i] * first[i * stride].q[axis];
        }
    return k;
}

/* The part of an interval from place `place` to the next, with the states at its begin and at INSTANTS instants, and
 * the weights of interpolation from four places. */
typedef struct part {
    size_t           place, from; /* `from`: the first of the four places */
    dyn_smooth_state state[INSTANTS], begin;
    double           weight[INSTANTS][STENCIL];
} part;

static part part_after(const dyn_smooth *t, size_t place)
{
    const size_t last = t->intervals * t->parts, i = place / t->parts;
    part         p = {.place = place};
    p.from         = place == 0 ? 0 : place + 2 > last ? last - (STENCIL - 1) : place - 1;
    p.begin        = dyn_smooth_at(t, i, (double)(place - i * t->parts) / (double)t->parts);
    for (size_t k = 0; k < INSTANTS; k++) {
        p.state[k] = dyn_smooth_at(t, i, ((double)(place - i * t->parts) + instant[k]) / (double)t->parts);
        weigh((double)(place - p.from) + instant[k], p.weight[k]);
    }
    return p;
}

static void find_excess_of_row(const dyn_smooth *t, const part *p, size_t row, double excess[2])
{
    const size_t          rows     = dyn_smooth_rows(t);
    const dyn_smooth_row *k        = &t->row[p->place * rows + row];
    const double         *narrowed = &t->narrowed[2 * (p->place * dyn_smooth_limits(t) + row)];
    const double high = k->high + narrowed[0], low = k->low - narrowed[1], begin = dyn_smooth_value(k, &p->begin);
    if (begin < high - NEAR && begin > low + NEAR) return;
    for (size_t n = 0; n < INSTANTS; n++) {
        const dyn_smooth_row between = interpolate_rows(&t->row[p->from * rows + row], rows, p->weight[n]);
        const double         value   = dyn_smooth_value(&between, &p->state[n]);
        excess[0]                    = fmax(excess[0], value - high);
        excess[1]                    = fmax(excess[1], low - value);
    }
}

static void find_excess_of_norm(const dyn_smooth *t, const part *p, size_t norm, double excess[2])
{
    const dyn_smooth_norm *k = &t->norm[p->place * t->norms + norm];
    const double high        = k->high + t->narrowed[2 * (p->place * dyn_smooth_limits(t) + dyn_smooth_rows(t) + norm)];
    if (dyn_smooth_magnitude(k, &p->begin) < high - NEAR) return;
    for (size_t n = 0; n < INSTANTS; n++) {
        const dyn_smooth_norm between = interpolate_norms(&t->norm[p->from * t->norms + norm], t->norms, p->weight[n]);
        excess[0]                     = fmax(excess[0], dyn_smooth_magnitude(&between, &p->state[n]) - high);
    }
}

/* Writes by how much a limit is exceeded, at most, in a part: excess[0] above its upper, excess[1] below its lower
 * bound; 0 or less if it is not exceeded. */
static void find_excess(const dyn_smooth *t, const part *p, size_t limit, double excess[2])
{
    const size_t rows = dyn_smooth_rows(t);
    excess[0] = excess[1] = -HUGE_VAL;
    if (limit < rows)
        find_excess_of_row(t, p, limit, excess);
    else
        find_excess_of_norm(t, p, limit - rows, excess);
}

static void narrow_at(const dyn_smooth *t, size_t place, size_t limit, const double amount[2])
{
    const size_t    rows     = dyn_smooth_rows(t);
    double         *narrowed = &t->narrowed[2 * (place * dyn_smooth_limits(t) + limit)];
    dyn_smooth_row *row      = limit < rows ? &t->row[place * rows + limit] : NULL;
    double         *high     = row ? &row->high : &t->norm[place * t->norms + limit - rows].high;
    if (amount[0] > 0) *high -= amount[0], narrowed[0] += amount[0];
    if (row && amount[1] > 0) row->low += amount[1], narrowed[1] += amount[1];
}

double dyn_smooth_excess_between(dyn_smooth *t, bool narrow)
{
    const size_t limits = dyn_smooth_limits(t), last = t->intervals * t->parts;
    double       most = -HUGE_VAL, *before = t->before; /* excesses in the part before this place */
    for (size_t k = 0; k < 2 * limits; k++)
        before[k] = 0;
    for (size_t place = 0; place < last; place++) {
        if ((limits > MANY || place % LOOK == 0) && !dyn_may_continue(t->deadline)) return most;
        const part p = part_after(t, place);
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
