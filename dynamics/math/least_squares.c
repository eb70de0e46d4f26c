/* least_squares.c - solves large systems of linear equations by least squares (least_squares.h).
 *
 * Golub & Van Loan (2013), sec. 5.4.2: Householder reflections make A upper triangular, its columns exchanged by
 * decreasing length. The vector v of reflection k is stored in column k from the diagonal on, and 2 / v.v in work[k];
 * the diagonal of R is in work[unknowns + k]. */
#include "least_squares.h"
#include <math.h>

static double inner_product(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double *column_of(const dyn_least_squares *s, size_t k)
{
    return s->A + k * s->rows;
}

/* Exchanges column k with the column j >= k that has the largest norm in rows k and below. */
static void choose_column(const dyn_least_squares *s, size_t k)
{
    size_t longest = k;
    double most    = -1;
    for (size_t j = k; j < s->unknowns; j++) {
        const double *x = column_of(s, j) + k, square = inner_product(s->rows - k, x, x);
        if (!(square > most)) continue;
        most    = square;
        longest = j;
    }
    double *a = column_of(s, k), *b = column_of(s, longest);
    for (size_t i = 0; i < s->rows && longest != k; i++) {
        const double entry = a[i];
        a[i]               = b[i];
        b[i]               = entry;
    }
    const int number  = s->pivot[k];
    s->pivot[k]       = s->pivot[longest];
    s->pivot[longest] = number;
}

/* Applies reflection k to x: x -= 2 v (v . x) / (v . v). */
static void reflect(const dyn_least_squares *s, size_t k, double *x)
{
    const double *v    = column_of(s, k) + k;
    const size_t  n    = s->rows - k;
    const double  part = s->work[k] * inner_product(n, v, x + k);
    for (size_t i = 0; i < n; i++)
        x[k + i] -= part * v[i];
}

/* Finds the reflection that makes column k zero below the diagonal, and applies it to the columns after k. */
static void reflect_columns(const dyn_least_squares *s, size_t k)
{
    double      *v        = column_of(s, k) + k;
    const size_t n        = s->rows - k;
    const double length   = sqrt(inner_product(n, v, v));
    const double diagonal = v[0] > 0 ? -length : length;
    v[0] -= diagonal;
    const double square      = inner_product(n, v, v);
    s->work[k]               = square > 0 ? 2 / square : 0;
    s->work[s->unknowns + k] = diagonal;
    for (size_t j = k + 1; j < s->unknowns; j++)
        reflect(s, k, column_of(s, j));
}

/* Solves R y = b by back substitution, and writes the entries of y to b in the original order of the unknowns. */
static void solve_triangle(const dyn_least_squares *s, double *b)
{
    const size_t n = s->unknowns;
    double      *y = s->work + 2 * n;
    for (size_t k = n; k-- > 0;) {
        b[k] /= s->work[n + k];
        for (size_t i = 0; i < k; i++)
            b[i] -= column_of(s, k)[i] * b[k];
    }
    for (size_t k = 0; k < n; k++)
        y[(size_t)s->pivot[k]] = b[k];
    for (size_t k = 0; k < n; k++)
        b[k] = y[k];
}

dyn_least_squares_status dyn_least_squares_solve(const dyn_least_squares *s, size_t columns, double singular)
{
    const size_t n = s->unknowns;
    for (size_t k = 0; k < n; k++)
        s->pivot[k] = (int)k;
    for (size_t k = 0; k < n; k++) {
        if (!dyn_may_continue(s->deadline)) return DYN_SQUARES_STOPPED;
        choose_column(s, k);
        reflect_columns(s, k);
        if (!(fabs(s->work[n + k]) > singular * fabs(s->work[n]))) return DYN_SQUARES_DEFICIENT;
    }
    for (size_t j = 0; j < columns; j++) {
        double *b = s->B + j * s->stride;
        if (!dyn_may_continue(s->deadline)) return DYN_SQUARES_STOPPED;
        for (size_t k = 0; k < n; k++)
            reflect(s, k, b);
        solve_triangle(s, b);
    }
    return DYN_SQUARES_SOLVED;
}
