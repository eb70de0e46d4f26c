/* timing_lines.c - collects the limits of one interval of a timing as lines (timing_lines.h). */
#include "timing_lines.h"
#include <math.h>

enum { LOOK = 8 /* places between two checks of the deadline */ };

#define VERTICAL 1e-30 /* relative coefficient of u below which a line bounds x alone */
#define RIM      1e-10 /* within this fraction of the largest x of an ellipse, the tangent at a smaller x is used */

static size_t lines_of_interval(const dyn_timing *t)
{
    return (t->parts + 1) * (t->rows + 1) + 2;
}

static size_t doubles(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

size_t dyn_timing_lines(const dyn_timing *t)
{
    return doubles(lines_of_interval(t) * sizeof(line)) + doubles((t->parts + 1) * t->norms * sizeof(ellipse));
}

/* The half plane p u + q x <= r; `rate` is the derivative of r by the bound of the limit. */
typedef struct half_plane {
    double p, q, r, rate;
} half_plane;

static void bound_x(lines *l, const half_plane *h, line bound)
{
    bound.alpha = h->r / h->q;
    bound.rate  = h->rate / h->q;
    if (h->q > 0 && bound.alpha < l->x_most) l->x_most = bound.alpha, l->limits_most = bound;
    if (h->q < 0 && bound.alpha > l->x_least) l->x_least = bound.alpha, l->limits_least = bound;
    if (h->q == 0 && h->r < 0) l->x_most = -1, l->limits_most = bound;
}

static void add_line(lines *l, const half_plane *h, const line *origin)
{
    line added = *origin;
    if (fabs(h->p) <= VERTICAL * (fabs(h->q) + fabs(h->r))) {
        bound_x(l, h, added);
        return;
    }
    added.alpha = h->r / h->p;
    added.beta  = h->q / h->p;
    added.rate  = h->rate / h->p;
    if (h->p > 0)
        l->item[l->n_upper++] = added;
    else
        l->item[l->room - ++l->n_lower] = added;
}

/* Adds a row at a place of the interval; `reach` is 2 (s of the place - s at the start of the interval), so that x of
 * the place is x + reach u. `near` is x at the place in the pass before, where the tangent of sqrt(x) is taken; 0:
 * there is none. */
static void add_limit_row(lines *l, const dyn_timing_row *row, double reach, double near, const line *origin)
{
    double b = row->b, r = row->r;
    if (row->a == 0 && b == 0 && row->d > 0) {
        const double     bound = r > 0 ? r / row->d * (r / row->d) : r;
        const half_plane plane = {.p = reach, .q = 1, .r = bound, .rate = 2 * r / (row->d * row->d)};
        if (bound < DYN_TIMING_FASTEST) add_line(l, &plane, origin);
        return;
    }
    if (row->d != 0 && near > 0) {
        b += row->d / (2 * sqrt(near));
        r -= row->d * sqrt(near) / 2;
    }
    add_line(l, &(half_plane){.p = row->a + reach * b, .q = b, .r = r, .rate = 1}, origin);
}

/* Adds a norm |p u + q x| <= 1 at a place; see add_limit_row for `reach`. In u and x of the interval's start the vector
 * is a u + b x with a = p + reach q and b = q, and |a x b| = |p x q|. The largest x of the ellipse is |a| / |a x b|; if
 * a is zero, x alone is bounded. */
static void add_norm(lines *l, const dyn_timing_norm *n, double reach, const line *origin)
{
    const double aa = n->pp + reach * (2 * n->pq + reach * n->qq), bb = n->qq;
    const bool   flat = !(aa > VERTICAL * VERTICAL * bb);
    const double most = flat ? 1 / sqrt(bb) : sqrt(aa) / n->cross;
    if (most < DYN_TIMING_FASTEST) add_line(l, &(half_plane){.q = 1, .r = most, .rate = most}, origin);
    if (flat) return;
    l->ellipse[l->n_ellipses++] = (ellipse){.aa    = aa,
                                            .ab    = n->pq + reach * bb,
                                            .bb    = bb,
                                            .cross = n->cross,
                                            .most  = most,
                                            .place = origin->place,
                                            .limit = origin->limit};
}

static lines begin_lines(const dyn_timing *t, size_t first)
{
    const size_t room = lines_of_interval(t);
    lines        l    = {.item = (line *)(void *)t->line, .room = room, .x_most = DYN_TIMING_FASTEST};
    l.ellipse         = (ellipse *)(void *)(t->line + doubles(room * sizeof(line)));
    l.limits_least = l.limits_most = (line){.place = first, .limit = DYN_TIMING_LATER};
    return l;
}

lines dyn_timing_collect(const dyn_timing *t, size_t i, bool settling)
{
    const size_t first = i * t->parts;
    lines        l     = begin_lines(t, first);
    for (size_t j = 0; j <= t->parts; j++) {
        const size_t place = first + j;
        const double reach = 2 * (t->s[place] - t->s[first]);
        if (place % LOOK == 0 && !dyn_may_continue(t->deadline)) {
            l.late = true;
            return l;
        }
        for (size_t k = 0; k < t->rows; k++)
            add_limit_row(&l, &t->row[place * t->rows + k], reach, settling ? t->x[place] : 0,
                          &(line){.place = place, .limit = k});
        for (size_t k = 0; k < t->norms; k++)
            add_norm(&l, &t->norm[place * t->norms + k], reach, &(line){.place = place, .limit = t->rows + k});
    }
    const double width = 2 * (t->s[first + t->parts] - t->s[first]);
    const line   later = {.place = first + t->parts, .limit = DYN_TIMING_LATER};
    add_line(&l, &(half_plane){.p = width, .q = 1, .r = t->most[i + 1], .rate = 1}, &later);
    add_line(&l, &(half_plane){.p = -width, .q = -1, .r = -t->least[i + 1], .rate = -1}, &later);
    return l;
}

/* Returns the tangent of the upper (side 1) or lower (-1) half of an ellipse at x: with the vector v = a u + b x of
 * length 1, the line is v.a u + v.b x = 1. Near the largest x, where the tangent is vertical, the tangent at a smaller
 * x is used. */
static line tangent_at(const ellipse *e, double x, double side)
{
    const double on   = fmin(x, (1 - RIM) * e->most),
                 half = side * sqrt(fmax(e->aa - e->cross * on * (e->cross * on), 0));
    const double u = (half - e->ab * on) / e->aa, beta = (e->ab * u + e->bb * on) / half;
    return (line){.alpha = u + beta * on, .beta = beta, .rate = 1 / half, .place = e->place, .limit = e->limit};
}

gap dyn_timing_gap(const lines *l, double x)
{
    gap g = {.high = HUGE_VAL, .low = -HUGE_VAL};
    for (const line *k = l->item; k < l->item + l->n_upper; k++)
        if (k->alpha - k->beta * x < g.high) g.high = k->alpha - k->beta * x, g.upper = *k;
    for (const line *k = l->item + l->room - l->n_lower; k < l->item + l->room; k++)
        if (k->alpha - k->beta * x > g.low) g.low = k->alpha - k->beta * x, g.lower = *k;
    for (const ellipse *k = l->ellipse; k < l->ellipse + l->n_ellipses; k++) {
        const line upper = tangent_at(k, x, 1), lower = tangent_at(k, x, -1);
        if (upper.alpha - upper.beta * x < g.high) g.high = upper.alpha - upper.beta * x, g.upper = upper;
        if (lower.alpha - lower.beta * x > g.low) g.low = lower.alpha - lower.beta * x, g.lower = lower;
    }
    return g;
}
