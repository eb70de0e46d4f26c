/* natural_spline.c - finds natural cubic splines by tridiagonal equations (natural_spline.h). */
#include "natural_spline.h"
#include <lapacke.h>

typedef struct tridiagonal {
    double     *low, *middle, *high, *high2;
    lapack_int *pivot;
} tridiagonal;

/* Writes row `row` of the matrix: the derivatives of order `order` of the basis functions at knot number `knot`. The
 * first basis function that is not zero at knot j has number j. */
static void put_row(const dyn_spline *s, const tridiagonal *m, size_t row, size_t knot, size_t order)
{
    double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
    size_t first = knot < s->n - s->degree ? knot : knot - 1;
    double t0 = s->knots[s->degree], t = s->knots[s->degree + knot], range = s->knots[s->n] - t0;
    dyn_spline_piece(s, first, (t - t0) / range, basis);
    double entry[3] = {0};
    for (size_t k = 0; k <= s->degree; k++)
        if (first + k + 1 >= row && first + k <= row + 1) entry[first + k + 1 - row] = basis[order][k];
    if (row > 0) m->low[row - 1] = entry[0];
    m->middle[row] = entry[1];
    if (row + 1 < s->n) m->high[row] = entry[2];
}

static bool factor(const dyn_spline *s, const tridiagonal *m)
{
    size_t last = s->n - s->degree;
    put_row(s, m, 0, 0, 0);
    put_row(s, m, 1, 0, 2);
    for (size_t knot = 1; knot < last; knot++)
        put_row(s, m, knot + 1, knot, 0);
    put_row(s, m, s->n - 2, last, 2);
    put_row(s, m, s->n - 1, last, 0);
    return LAPACKE_dgttrf_work((lapack_int)s->n, m->low, m->middle, m->high, m->high2, m->pivot) == 0;
}

/* Solves for the n control points of one component of a signal, from its values at n - 2 knots. Successive values, and
 * successive control points, are `width` numbers apart. `column` [n] is scratch. */
static void solve(const dyn_spline *s, const tridiagonal *m, size_t width, const double *values, double *column,
                  double *to)
{
    size_t n  = s->n;
    column[0] = values[0];
    column[1] = column[n - 2] = 0;
    for (size_t i = 1; i + 3 < n; i++)
        column[i + 1] = values[i * width];
    column[n - 1] = values[(n - 3) * width];
    LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', (lapack_int)n, 1, m->low, m->middle, m->high, m->high2, m->pivot, column,
                        (lapack_int)n);
    for (size_t i = 0; i < n; i++)
        to[i * width] = column[i];
}

dyn_interpolation dyn_natural_spline(dyn_memory memory, const dyn_spline *s, const dyn_points *values, size_t rows,
                                     dyn_points *points)
{
    const size_t width = values->width, n = s->n;
    tridiagonal  m       = {dyn_take(memory, n * sizeof(double)), dyn_take(memory, n * sizeof(double)),
                            dyn_take(memory, n * sizeof(double)), dyn_take(memory, n * sizeof(double)),
                            dyn_take(memory, n * sizeof(lapack_int))};
    double      *control = dyn_take(memory, rows * n * width * sizeof *control),
           *column       = dyn_take(memory, n * sizeof *column);
    if (!m.low || !m.middle || !m.high || !m.high2 || !m.pivot || !control || !column)
        return DYN_INTERPOLATION_NO_MEMORY;
    if (!factor(s, &m)) return DYN_INTERPOLATION_SINGULAR;
    for (size_t b = 0; b < rows; b++)
        for (size_t j = 0; j < width; j++)
            solve(s, &m, width, dyn_points_of(values, b) + j, column, control + b * n * width + j);
    *points = (dyn_points){control, n, width, values->batch};
    return DYN_INTERPOLATED;
}
