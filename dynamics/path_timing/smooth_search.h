/* smooth_search.h - declares the arrays of the search for a smooth timing, and the slacks of limits (struct room:
 * distances to the bounds), for the files of this folder. */
#pragma once
#include "smooth_timing.h"
#include <math.h>
#include <stdbool.h>

enum { LOCAL = 4 /* unknowns of an interval: x and its scaled derivative at both ends */, HALF_BAND = 3 };

#define ROW_INLINE static inline __attribute__((always_inline))

/* Hermite weights: x, u and u' at the fraction f of an interval of width h, as linear combinations of its four
 * unknowns, x and its derivative with respect to the fraction at both ends. */
typedef struct weights {
    double x[LOCAL], u[LOCAL], du[LOCAL];
} weights;

static inline weights weights_at(double f, double h)
{
    const double g = 1 - f;
    return (weights){
        .x  = {g * g * (1 + 2 * f), f * g * g, f * f * (3 - 2 * f), -f * f * g},
        .u  = {-3 * f * g / h, (1 - 4 * f + 3 * f * f) / (2 * h), 3 * f * g / h, f * (3 * f - 2) / (2 * h)},
        .du = {(6 * f - 3) / (h * h), (3 * f - 2) / (h * h), (3 - 6 * f) / (h * h), (3 * f - 1) / (h * h)}};
}

static inline double dot_local(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static inline dyn_smooth_state local_state(const weights *w, const double *local)
{
    return (dyn_smooth_state){dot_local(w->x, local), dot_local(w->u, local), dot_local(w->du, local)};
}

/* A point of an interval at which the limits hold: a place, where each interval counts both of its ends, or one side of
 * a knot. */
typedef struct sample {
    const weights         *shape;
    const dyn_smooth_row  *row;   /* [rows] */
    const dyn_smooth_norm *norm;  /* [norms] */
    size_t                 place; /* number of the place of the sample, or of the one before it */
    double                 share; /* weight in the trapezoidal rule for the duration: 0 at a knot */
} sample;

/* Arrays of the search in t->work. */
typedef struct search {
    dyn_smooth *t;
    size_t      n, limits, samples;  /* unknowns; limits of a place; samples of all intervals */
    double     *band, *right, *step; /* n x 4: lower band of the matrix; n; n */
    double     *multiplier, *change; /* [samples][limits][2]: multipliers of high and low; their change */
    weights    *shape;               /* [parts + 1] of places, then those of the sides of knots */
    sample     *sample;              /* [samples] */
    size_t     *first;               /* [intervals + 1] the first sample of each interval */
    double      duration, mu;
    double      products, count; /* sum and number of the products slack times multiplier */
} search;

/* The slacks of a limit at a state, distances to its upper bound (high) and lower bound (low), and their derivatives
 * with respect to x, u and u'. The derivatives of `low` are minus those of `high`, except for terms with 1 / rho. */
typedef struct room {
    double high, low;
    double high_x, low_x, high_u, high_du; /* low_u = -high_u, low_du = -high_du */
    double high_xx, low_xx, high_xu;       /* low_xu = -high_xu */
    double high_uu;                        /* 0 for rows, which are linear in u */
} room;

/* True if the deadline has passed, checked at some intervals i of a loop over all rows. The loop then stops, and its
 * results are not used. */
static inline bool is_late(const search *s, size_t i)
{
    enum { LOOK = 16384 /* rows between two checks of the deadline */ };
    const size_t per = (s->t->parts + 1) * s->limits, every = per < LOOK ? LOOK / per : 1;
    return i % every == 0 && !dyn_may_continue(s->t->deadline);
}

/* Returns the state of sample m of interval i. */
static inline dyn_smooth_state sample_state(const search *s, size_t i, size_t m)
{
    return local_state(s->sample[m].shape, s->t->node + 2 * i);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

ROW_INLINE room second_room(const dyn_smooth_row *k, const dyn_smooth_state *y, double rho)
{
    const double value = k->b2 * y->u + k->b1 * y->x + k->b0 + rho * k->a0, curve = k->a0 / (4 * rho * y->x);
    const double by_x = k->b1 + k->a0 / (2 * rho);
    return (room){.high    = k->high - value,
                  .low     = value - k->low,
                  .high_x  = -by_x,
                  .low_x   = by_x,
                  .high_u  = -k->b2,
                  .high_xx = curve,
                  .low_xx  = -curve};
}

/* Returns the slacks of a row with u', divided by rho = sqrt(x) (smooth_timing.h). */
ROW_INLINE room third_room(const dyn_smooth_row *k, const dyn_smooth_state *y, double rho)
{
    const double q = 1 / rho, q3 = q * q * q, A = k->a3 * y->du + k->a2 * y->u + k->a1 * y->x + k->a0;
    const double B = k->b2 * y->u + k->b1 * y->x + k->b0, over = k->high - B, under = B - k->low;
    const double by_x = k->b1 * q + k->a1;
    return (room){.high    = over * q - A,
                  .low     = under * q + A,
                  .high_x  = -over * q3 / 2 - by_x,
                  .low_x   = -under * q3 / 2 + by_x,
                  .high_u  = -k->b2 * q - k->a2,
                  .high_du = -k->a3,
                  .high_xx = 0.75 * over * q3 * q * q + k->b1 * q3,
                  .low_xx  = 0.75 * under * q3 * q * q - k->b1 * q3,
                  .high_xu = k->b2 * q3 / 2};
}

static inline double dot_axes(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Returns the slack (high^2 - |v|^2) / 2 of a norm with the vector v = p u + q x; there is no lower bound. */
ROW_INLINE room norm_room(const dyn_smooth_norm *k, const dyn_smooth_state *y)
{
    const double v[3] = {k->p[0] * y->u + k->q[0] * y->x, k->p[1] * y->u + k->q[1] * y->x,
                         k->p[2] * y->u + k->q[2] * y->x};
    return (room){.high    = (k->high * k->high - dot_axes(v, v)) / 2,
                  .low     = HUGE_VAL,
                  .high_x  = -dot_axes(k->q, v),
                  .high_u  = -dot_axes(k->p, v),
                  .high_xx = -dot_axes(k->q, k->q),
                  .high_xu = -dot_axes(k->p, k->q),
                  .high_uu = -dot_axes(k->p, k->p)};
}

/* Returns the room of limit k at a sample. */
ROW_INLINE room room_of(const search *s, const sample *one, size_t k, const dyn_smooth_state *y, double rho)
{
    const size_t rows = dyn_smooth_rows(s->t);
    if (k >= rows) return norm_room(&one->norm[k - rows], y);
    return k < s->t->second ? second_room(&one->row[k], y, rho) : third_room(&one->row[k], y, rho);
}

/* Lays out the arrays of a search in t->work, and lists its samples. */
search dyn_smooth_lay_out(dyn_smooth *t);

/* Assembles the equations of a Newton step from the nodes in s->band and s->right, and s->duration. With `convex`,
 * negative curvature of single rows is left out. */
void dyn_smooth_assemble(search *s, bool convex);

/* Solves the equations by a banded Cholesky factorisation into `step`. Returns false if the matrix is not positive
 * definite. */
bool dyn_smooth_newton(search *s);
