/* add_rows.c - updates a triangular factor by new rows with Householder reflections: see dyn_qr_add_rows in
 * sequential_qr.h.
 *
 * Reflection j, I - tau u u^T with u = [1; v], makes column j of the new rows zero (Golub & Van Loan 2013, 5.1). The 1
 * of u multiplies row j of R and v the new rows; v is stored in place of column j of the new rows. The columns are
 * divided into panels of PANEL columns. A column [r; b] after a panel has the entries r in the panel's rows of R and b
 * in the new rows. The reflections of the panel change this column to
 *
 *     r - w,  b - V w,  with w_p = tau_p (r_p + v_p . b - sum over q < p of (v_p . v_q) w_q).
 *
 * A sum over even rows and one over odd rows are added at the end. No product is fused, so that every processor gives
 * the same bits. */
#include "sequential_qr.h"
#include "dynamics/math/double_pair.h"
#include <math.h>

enum { PANEL = 4 /* columns of a panel */, AT_ONCE = 2 /* columns that are changed together */ };

/* If the sum of squares of a column lies between these bounds, it is exact to rounding. Beyond them it may overflow or
 * underflow. */
#define SMALL_SQUARE 1e-280
#define LARGE_SQUARE 1e280

/* The reflections of a panel. */
typedef struct panel {
    size_t        m;               /* number of new rows */
    const double *v[PANEL];        /* [m] each: v of reflection p, stored in column p of the new rows */
    double        tau[PANEL];      /* tau of each reflection; 0: its column was zero, and it changes nothing */
    double        G[PANEL][PANEL]; /* G[p][q] = v_p . v_q for q < p */
} panel;

/* Returns the length of [alpha; x] from numbers divided by the largest; NaN if one is not finite, 0 if x is zero. */
static double scaled_length(double alpha, const double *x, size_t m)
{
    double largest = 0;
    for (size_t i = 0; i < m; i++) {
        if (!isfinite(x[i])) return NAN;
        largest = fmax(largest, fabs(x[i]));
    }
    if (largest == 0 || !isfinite(alpha)) return isfinite(alpha) ? 0 : NAN;
    largest    = fmax(largest, fabs(alpha));
    double sum = alpha / largest * (alpha / largest);
    for (size_t i = 0; i < m; i++)
        sum += x[i] / largest * (x[i] / largest);
    return largest * sqrt(sum);
}

/* Finds the reflection that changes the column [alpha; x] to [beta; 0], stores v in x and beta in alpha. Returns tau;
 * NaN: an entry is not finite. */
static double make_reflection(double *alpha, double *x, size_t m)
{
    const double square = pair_dot(x, x, m), sum = *alpha * *alpha + square;
    const bool   safe   = square > SMALL_SQUARE && sum < LARGE_SQUARE;
    const double length = safe ? sqrt(sum) : scaled_length(*alpha, x, m);
    if (length == 0) return 0;
    const double beta = -copysign(length, *alpha), tau = (beta - *alpha) / beta;
    for (size_t i = 0; i < m; i++)
        x[i] /= *alpha - beta;
    *alpha = beta;
    return isfinite(beta) ? tau : NAN;
}

/* Changes a column by reflection p. r: its entry in row p of R; b [m]: its entries in the new rows. */
static void apply_one(const panel *h, int p, double *r, double *b)
{
    const double w = h->tau[p] * (r[p] + pair_dot(h->v[p], b, h->m));
    r[p] -= w;
    pair_add_scaled(b, -w, h->v[p], h->m);
}

/* Columns [r; b] that are changed together: r are their entries in rows of R, b [m] those in the new rows. */
typedef struct columns {
    double *r, *b;
    size_t  r_apart, b_apart; /* entries between the starts of neighbouring columns, in r and in b */
} columns;

/* Sets w (first comment) for `count` columns, and subtracts w from r. `count` is a constant of the inlined code. */
static inline __attribute__((always_inline)) void project_on_panel(const panel *h, const columns *to, const int count,
                                                                   double w[AT_ONCE][PANEL])
{
    double_pair sum[AT_ONCE][PANEL];
    size_t      i = 0;
#pragma GCC unroll 4
    for (int c = 0; c < count; c++)
#pragma GCC unroll 4
        for (int p = 0; p < PANEL; p++)
            sum[c][p] = (double_pair){0, 0};
    for (; i + 2 <= h->m; i += 2)
#pragma GCC unroll 4
        for (int c = 0; c < count; c++)
#pragma GCC unroll 4
            for (int p = 0; p < PANEL; p++)
                sum[c][p] += pair_load(h->v[p] + i) * pair_load(to->b + (size_t)c * to->b_apart + i);
#pragma GCC unroll 4
    for (int c = 0; c < count; c++) {
        double       *r = to->r + (size_t)c * to->r_apart;
        const double *b = to->b + (size_t)c * to->b_apart;
#pragma GCC unroll 4
        for (int p = 0; p < PANEL; p++) {
            double s = r[p] + (sum[c][p][0] + sum[c][p][1]);
            if (i < h->m) s += h->v[p][i] * b[i];
#pragma GCC unroll 4
            for (int q = 0; q < p; q++)
                s -= h->G[p][q] * w[c][q];
            w[c][p] = h->tau[p] * s;
            r[p] -= w[c][p];
        }
    }
}

/* Changes `count` columns by all reflections of a panel. */
static inline __attribute__((always_inline)) void apply_panel(const panel *h, const columns *to, const int count)
{
    double w[AT_ONCE][PANEL];
    size_t i = 0;
    project_on_panel(h, to, count, w);
    for (; i + 2 <= h->m; i += 2)
#pragma GCC unroll 4
        for (int c = 0; c < count; c++) {
            double           *b = to->b + (size_t)c * to->b_apart + i;
            const double_pair s = (w[c][0] * pair_load(h->v[0] + i) + w[c][1] * pair_load(h->v[1] + i)) +
                                  (w[c][2] * pair_load(h->v[2] + i) + w[c][3] * pair_load(h->v[3] + i));
            pair_store(b, pair_load(b) - s);
        }
    for (int c = 0; c < count && i < h->m; c++)
        to->b[(size_t)c * to->b_apart + i] -=
            (w[c][0] * h->v[0][i] + w[c][1] * h->v[1][i]) + (w[c][2] * h->v[2][i] + w[c][3] * h->v[3][i]);
}

/* Makes the reflections of the columns j to j + n - 1. pivots->r points to row j of these columns in R, pivots->b to
 * these columns of the new rows. Returns false if an entry is not finite. */
static bool make_panel(panel *h, int n, const columns *pivots)
{
    for (int p = 0; p < n; p++) {
        double *r = pivots->r + (size_t)p * pivots->r_apart, *b = pivots->b + (size_t)p * pivots->b_apart;
        for (int q = 0; q < p; q++)
            apply_one(h, q, r, b);
        h->tau[p] = make_reflection(r + p, b, h->m);
        h->v[p]   = b;
        if (isnan(h->tau[p])) return false;
        for (int q = 0; q < p; q++)
            h->G[p][q] = pair_dot(b, h->v[q], h->m);
    }
    return true;
}

/* A factor R over n columns, and m new rows for it, column-major, with columns `apart` entries apart. */
typedef struct new_rows {
    double *R, *rows;
    size_t  n, m, apart;
} new_rows;

/* Adds the rows to R from column `first` on; `triangular`: they are zero below the diagonal that begins there. */
static bool add_rows_from(new_rows a, size_t first, bool triangular)
{
    for (size_t j = first; j < a.n; j += PANEL) {
        const size_t left = a.n - j, last = j - first + PANEL;
        panel        h      = {.m = triangular && last < a.m ? last : a.m};
        columns      pivots = {a.R + j * a.n + j, a.rows + j * a.apart, a.n, a.apart};
        if (!make_panel(&h, left < PANEL ? (int)left : PANEL, &pivots)) return false;
        size_t k = j + PANEL;
        for (; k + AT_ONCE <= a.n; k += AT_ONCE)
            apply_panel(&h, &(columns){a.R + k * a.n + j, a.rows + k * a.apart, a.n, a.apart}, AT_ONCE);
        if (k < a.n) apply_panel(&h, &(columns){a.R + k * a.n + j, a.rows + k * a.apart, a.n, a.apart}, 1);
    }
    return true;
}

bool dyn_qr_add_rows(double *R, size_t n, double *rows, size_t m, size_t ld)
{
    return add_rows_from((new_rows){R, rows, n, m, ld}, 0, false);
}

bool dyn_qr_add_triangle(double *R, size_t n, size_t first, double *rows, size_t m)
{
    return add_rows_from((new_rows){R, rows, n, m, m}, first, true);
}
