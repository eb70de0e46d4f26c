/* smooth_timing.c - finds a fast timing with limits of the third derivative of s (smooth_timing.h) by Wright 1997. */
#include "smooth_check.h"
#include "smooth_search.h"
#include <math.h>
#include <stdbool.h>

enum { STEPS = 300, HALVINGS = 40, STARTS = 200, ROUNDS = 4, SLOWER = 40 };

#define GAP      1e-7  /* sum of room times multiplier at the end, as a fraction of the duration */
#define ROUGH    1e-6  /* sum of room times multiplier before limits are narrowed between places */
#define WARM     1e-3  /* sum of room times multiplier at the start of the second search, with narrowed limits */
#define BETWEEN  5e-6  /* fraction of a limit kept free between places, where rows are checked at some instants */
#define AGAIN    1e-4  /* fraction of a limit: above this excess between places, limits are narrowed once more */
#define BOUNDARY 0.995 /* fraction of the way to a limit that a step may go */
#define SHRINK   0.2   /* fraction of x below which one step may not bring x */
#define MORE     1.5   /* factor between the shares of the excess by which rates are reduced, one after the other */
#define SLOWEST  0.2   /* most that all rates are reduced at once, as a fraction */

/* --- states ------------------------------------------------------------------------------------------------------- */

dyn_grading dyn_grading_of(double r, bool resting)
{
    const double f = 1 - r;
    if (resting) return (dyn_grading){.s = r, .d1 = 1};
    return (dyn_grading){.s  = r == 1 ? 1 : r * r * r * (10 + r * (6 * r - 15)),
                         .d1 = 30 * r * r * f * f,
                         .d2 = 60 * r * f * (1 - 2 * r),
                         .d3 = 60 * (1 - 6 * r * f)};
}

dyn_smooth_state dyn_smooth_at(const dyn_smooth *t, size_t i, double fraction)
{
    const weights w = weights_at(fraction, 1 / (double)t->intervals);
    return local_state(&w, t->node + 2 * i);
}

double dyn_smooth_value(const dyn_smooth_row *k, const dyn_smooth_state *y)
{
    return k->b2 * y->u + k->b1 * y->x + k->b0 + sqrt(y->x) * (k->a3 * y->du + k->a2 * y->u + k->a1 * y->x + k->a0);
}

/* --- room --------------------------------------------------------------------------------------------------------- */

/* True if the slacks of all limits and x are positive; then s->products and s->count are set. Otherwise t->place and
 * t->bad_limit name the first limit without a positive slack. */
static bool limits_have_room(search *s)
{
    dyn_smooth *t = s->t;
    s->products = s->count = 0;
    for (size_t i = 0; i < t->intervals; i++) {
        if (is_late(s, i)) return false;
        for (size_t n = s->first[i]; n < s->first[i + 1]; n++) {
            const dyn_smooth_state y      = sample_state(s, i, n);
            const double           rho    = sqrt(y.x);
            const double          *lambda = s->multiplier + 2 * n * s->limits;
            for (size_t k = 0; y.x > 0 && k < s->limits; k++, lambda += 2) {
                const room c    = room_of(s, &s->sample[n], k, &y, rho);
                const bool both = !isinf(c.low);
                t->place        = s->sample[n].place;
                t->bad_limit    = k;
                if (!(c.high > 0 && c.low > 0)) return false;
                s->products += lambda[0] * c.high + (both ? lambda[1] * c.low : 0);
                s->count += 1 + both;
            }
            if (!(y.x > 0)) return false;
        }
    }
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* The largest fractions of a step that keep slacks (primal) and multipliers (dual) positive. */
typedef struct lengths {
    double primal, dual;
} lengths;

static inline void shorten_step(double *length, double value, double change)
{
    if (value + *length * change < (1 - BOUNDARY) * value) *length = -BOUNDARY * value / change;
}

/* Limits *length like shorten_step, for a norm: after the fraction t of a step its slack is value + t change - t^2 bend
 * / 2. */
static inline void shorten_to_norm(double *length, double value, double change, double bend)
{
    const double most = 2 * BOUNDARY * value / (sqrt(change * change + 2 * fmax(bend, 0) * BOUNDARY * value) - change);
    if (most < *length) *length = most;
}

/* Returns minus the second derivative of the slack of a norm along the step d. */
static inline double bend_of(const room *c, const dyn_smooth_state *d)
{
    return -(c->high_uu * d->u + 2 * c->high_xu * d->x) * d->u - c->high_xx * d->x * d->x;
}

/* Returns the change of a multiplier lambda that makes its product with the changed slack mu, to first order: (mu -
 * lambda slopes) / c - lambda, where c is the slack and `slopes` the change of c in the step. */
static inline double change_of(const search *s, double lambda, double c, double slopes)
{
    return (s->mu - lambda * slopes) / c - lambda;
}

/* Finds the changes of all multipliers in the Newton step s->step, and the largest fractions of the step. */
static lengths limit_step(search *s)
{
    lengths l = {1, 1};
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t n = s->first[i]; n < s->first[i + 1]; n++) {
            const dyn_smooth_state y = sample_state(s, i, n), d = local_state(s->sample[n].shape, s->step + 2 * i);
            const double           rho    = sqrt(y.x);
            const double          *lambda = s->multiplier + 2 * n * s->limits;
            double                *change = s->change + 2 * n * s->limits;
            if (y.x + l.primal * d.x < SHRINK * y.x) l.primal = -(1 - SHRINK) * y.x / d.x;
            for (size_t k = 0; k < s->limits; k++, lambda += 2, change += 2) {
                const room   c     = room_of(s, &s->sample[n], k, &y, rho);
                const double other = c.high_u * d.u + c.high_du * d.du;
                const double high = c.high_x * d.x + other, low = c.low_x * d.x - other;
                if (k < dyn_smooth_rows(s->t))
                    shorten_step(&l.primal, c.high, high);
                else
                    shorten_to_norm(&l.primal, c.high, high, bend_of(&c, &d));
                shorten_step(&l.dual, lambda[0], change[0] = change_of(s, lambda[0], c.high, high));
                change[1] = 0;
                if (isinf(c.low)) continue;
                shorten_step(&l.primal, c.low, low);
                shorten_step(&l.dual, lambda[1], change[1] = change_of(s, lambda[1], c.low, low));
            }
        }
    return l;
}

static void move_multipliers(search *s, double length)
{
    for (size_t k = 0; k < 2 * s->samples * s->limits; k++)
        s->multiplier[k] += length * s->change[k];
}

static void move_nodes(search *s, double length)
{
    for (size_t k = 0; k < s->n; k++)
        s->t->node[k] += length * s->step[k];
}

/* Moves the nodes by the largest fraction of the step, at most `length`, that keeps all slacks positive. Returns the
 * fraction; 0 if there is none. */
static double move_within(search *s, double length)
{
    for (int halving = 0; halving < HALVINGS; halving++, length /= 2) {
        move_nodes(s, length);
        if (limits_have_room(s)) return length;
        move_nodes(s, -length);
    }
    return 0;
}

/* Sets all multipliers to mu / slack. */
static void set_centre(search *s)
{
    for (size_t i = 0; i < s->t->intervals && !is_late(s, i); i++)
        for (size_t n = s->first[i]; n < s->first[i + 1]; n++) {
            const dyn_smooth_state y      = sample_state(s, i, n);
            const double           rho    = sqrt(y.x);
            double                *lambda = s->multiplier + 2 * n * s->limits;
            for (size_t k = 0; k < s->limits; k++, lambda += 2) {
                const room c = room_of(s, &s->sample[n], k, &y, rho);
                lambda[0]    = s->mu / c.high;
                lambda[1]    = isinf(c.low) ? 0 : s->mu / c.low;
            }
        }
}

/* --- search ------------------------------------------------------------------------------------------------------- */

/* Sets a constant rate of r, slow enough that all slacks are positive. */
static bool start_constant(search *s)
{
    double x = 1e8;
    for (int trial = 0; trial < STARTS; trial++, x /= 2) {
        for (size_t k = 0; k < s->n; k++)
            s->t->node[k] = k % 2 == 0 ? x : 0;
        if (!limits_have_room(s)) continue;
        for (size_t k = 0; k < s->n; k += 2)
            s->t->node[k] = x / 2;
        return limits_have_room(s);
    }
    return false;
}

/* Sets all multipliers so that their products with the slacks are equal and add up to `gap` times the duration. All
 * slacks must be positive. */
static bool centre_multipliers(search *s, double gap)
{
    double duration = 0;
    for (size_t i = 0; i < s->t->intervals; i++)
        for (size_t n = s->first[i]; n < s->first[i + 1]; n++)
            duration += s->sample[n].share / sqrt(sample_state(s, i, n).x);
    s->duration = duration;
    s->mu       = gap * duration / (2 * (double)(s->samples * s->limits));
    set_centre(s);
    return limits_have_room(s);
}

/* Takes Newton steps until the products of slacks and multipliers add up to at most `gap` times the duration. */
static dyn_timing_status descend_to(search *s, double gap)
{
    double  centring = 0.3;
    lengths l        = {0, 0};
    for (int step = 0; step < STEPS; step++, s->t->steps++) {
        if (!dyn_may_continue(s->t->deadline)) return DYN_TIMING_LATE;
        if (s->products < gap * s->duration && l.primal > 0.5) return DYN_TIMING_DONE;
        s->mu = centring * s->products / s->count;
        dyn_smooth_assemble(s, false);
        if (!dyn_smooth_newton(s)) {
            dyn_smooth_assemble(s, true);
            if (!dyn_smooth_newton(s)) break;
        }
        l = limit_step(s);
        move_multipliers(s, l.dual);
        l.primal           = move_within(s, l.primal);
        const double least = fmin(l.primal, l.dual);
        centring           = least > 0.9 ? 0.05 : least > 0.5 ? 0.2 : least > 0.1 ? 0.5 : 0.9;
        if (l.primal == 0) break;
    }
    return limits_have_room(s) && s->products < 1e3 * gap * s->duration ? DYN_TIMING_DONE : DYN_TIMING_UNDECIDED;
}

/* Multiplies the rate of r by 1 - part, everywhere on the path. */
static void slow_down(search *s, double part)
{
    const double factor = 1 - fmin(part, SLOWEST);
    for (size_t k = 0; k < s->n; k++)
        s->t->node[k] *= factor * factor;
}

/* Slows the timing down until no limit is exceeded between places: by more from trial to trial, since a value of which
 * gravity or friction is a part changes less than the rates. */
static dyn_timing_status keep_between(search *s)
{
    double share = 1.05;
    for (int trial = 0; trial < SLOWER; trial++, share *= MORE) {
        const double excess = dyn_smooth_excess_between(s->t, false) + BETWEEN;
        if (excess <= 0) return DYN_TIMING_DONE;
        slow_down(s, share * excess);
    }
    return DYN_TIMING_UNDECIDED;
}

/* Narrows the limits that are exceeded between places, and goes on with the search. */
static dyn_timing_status narrow_and_descend(search *s)
{
    const double excess = fmax(dyn_smooth_excess_between(s->t, true), ROUGH);
    for (int trial = 0; trial < HALVINGS && !limits_have_room(s); trial++)
        slow_down(s, excess);
    slow_down(s, excess);
    if (!limits_have_room(s) || !centre_multipliers(s, WARM)) return DYN_TIMING_UNDECIDED;
    return descend_to(s, GAP);
}

static dyn_timing_status search_smooth(dyn_smooth *t)
{
    search s = dyn_smooth_lay_out(t);
    t->steps = 0;
    for (size_t k = 0; k < 2 * s.samples * s.limits; k++)
        s.multiplier[k] = 0;
    if (!start_constant(&s) || !centre_multipliers(&s, 1)) return DYN_TIMING_INFEASIBLE;
    dyn_timing_status status = descend_to(&s, ROUGH);
    for (int round = 0; round < ROUNDS && status == DYN_TIMING_DONE; round++) {
        if (round > 0 && dyn_smooth_excess_between(t, false) < AGAIN) break;
        status = narrow_and_descend(&s);
    }
    return status == DYN_TIMING_DONE ? keep_between(&s) : status;
}

dyn_timing_status dyn_smooth_solve(dyn_smooth *t)
{
    const dyn_timing_status status = search_smooth(t);
    return dyn_may_continue(t->deadline) ? status : DYN_TIMING_LATE;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

double dyn_smooth_magnitude(const dyn_smooth_norm *k, const dyn_smooth_state *y)
{
    const double v[3] = {k->p[0] * y->u + k->q[0] * y->x, k->p[1] * y->u + k->q[1] * y->x,
                         k->p[2] * y->u + k->q[2] * y->x};
    return sqrt(dot_axes(v, v));
}

double dyn_smooth_excess(const dyn_smooth *t, size_t place, size_t k, const dyn_smooth_state *y)
{
    const size_t rows = dyn_smooth_rows(t);
    if (k >= rows) {
        const dyn_smooth_norm *norm = &t->norm[place * t->norms + k - rows];
        return dyn_smooth_magnitude(norm, y) - norm->high;
    }
    const dyn_smooth_row *row   = &t->row[place * rows + k];
    const double          value = dyn_smooth_value(row, y);
    return fmax(value - row->high, row->low - value);
}

/* Returns the derivative of the slack of limit k with respect to its bound: 1 / rho for rows with the third derivative,
 * which are divided by rho, else 1. For a norm it is its bound, which is about 1. */
static double room_by_bound(const dyn_smooth *t, size_t k, double rho)
{
    return k >= t->second && k < dyn_smooth_rows(t) ? 1 / rho : 1;
}

void dyn_smooth_slopes(dyn_smooth *t, double *by_bound)
{
    const search s = dyn_smooth_lay_out(t);
    for (size_t k = 0; k < s.limits; k++)
        by_bound[k] = 0;
    for (size_t i = 0; i < t->intervals && !is_late(&s, i); i++)
        for (size_t n = s.first[i]; n < s.first[i + 1]; n++) {
            const dyn_smooth_state y      = sample_state(&s, i, n);
            const double           rho    = sqrt(y.x);
            const double          *lambda = s.multiplier + 2 * n * s.limits;
            for (size_t k = 0; k < s.limits; k++, lambda += 2)
                by_bound[k] -= (lambda[0] + lambda[1]) * room_by_bound(t, k, rho);
        }
}

void dyn_smooth_times(const dyn_smooth *t, double *time)
{
    static const double shape[3]  = {0.1127016653792583, 0.5, 0.8872983346207417},
                        weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    const double part             = 1 / (double)(t->intervals * t->parts);
    time[0]                       = 0;
    for (size_t i = 0; i < t->intervals; i++)
        for (size_t j = 0; j < t->parts; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += weight[k] / sqrt(dyn_smooth_at(t, i, ((double)j + shape[k]) / (double)t->parts).x);
            time[i * t->parts + j + 1] = time[i * t->parts + j] + part * sum;
        }
}
