/* triangle.c - see triangle.h. */
#include "triangle.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { PANEL = 32 /* columns factored at a time */ };

/* Beside the longest column, what is no column; of columns of unit length, which singular values are zero but for
 * rounding; and in a unit vector, which entries are. */
#define ZERO       1e-12
#define NEGLIGIBLE 1e-8
#define TRACE      1e-5

static size_t panel(size_t n)
{
    return n < PANEL ? n : PANEL;
}

size_t api_triangle_scratch(size_t n)
{
    return panel(n) * n;
}

bool api_triangle_add(double *R, size_t n, double *rows, size_t m, size_t ld, double *scratch)
{
    if (m == 0) return true;
    lapack_int nb = (lapack_int)panel(n);
    return LAPACKE_dtpqrt(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)n, 0, nb, R, (lapack_int)n, rows, (lapack_int)ld,
                          scratch, nb) == 0;
}

size_t api_triangle_solve_scratch(size_t n)
{
    return 2 * n * n + 3 * n + 1;
}

static double length_of(const double *column, size_t rows)
{
    double square = 0;
    for (size_t i = 0; i < rows; i++)
        square += column[i] * column[i];
    return sqrt(square);
}

/* A copy of the unknowns' columns, each scaled to unit length; shorter than all that counts: to zero. False: too long
 * to compute with. */
static bool scale_columns(const double *R, size_t n, double *scaled)
{
    double longest = 0;
    for (size_t j = 0; j < n; j++)
        longest = fmax(longest, length_of(R + j * (n + 1), j + 1));
    for (size_t j = 0; j < n; j++) {
        const double *from   = R + j * (n + 1);
        double        length = length_of(from, j + 1), by = length > ZERO * longest ? 1 / length : 0;
        for (size_t i = 0; i < n; i++)
            scaled[j * n + i] = i <= j ? by * from[i] : 0;
    }
    return isfinite(longest);
}

/* Singular values and right vectors of the scaled columns: which unknowns have a part in what has no effect. */
static bool look(const double *R, api_unknowns *u, double *scratch, bool *deficient)
{
    size_t  n      = u->n;
    double *scaled = scratch, *vt = scaled + n * n, *singular = vt + n * n, *rest = singular + n;
    if (!scale_columns(R, n, scaled) || LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', (lapack_int)n, (lapack_int)n, scaled,
                                                       (lapack_int)n, singular, NULL, 1, vt, (lapack_int)n, rest) != 0)
        return false;
    *deficient = !(singular[n - 1] > NEGLIGIBLE * singular[0]);
    for (size_t k = 0; k < n; k++) {
        u->unseen[k] = false;
        for (size_t i = 0; i < n; i++)
            if (!(singular[i] > NEGLIGIBLE * singular[0]) && fabs(vt[k * n + i]) > TRACE) u->unseen[k] = true;
    }
    u->condition = *deficient ? 0 : singular[0] / singular[n - 1];
    return true;
}

api_solved api_triangle_solve(const double *R, api_unknowns *u, double *scratch)
{
    size_t     n         = u->n;
    lapack_int N         = (lapack_int)n;
    bool       deficient = false;
    u->condition         = 1;
    if (n == 0) return API_SOLVED;
    if (!look(R, u, scratch, &deficient)) return API_UNSOLVED;
    if (deficient) return API_DEFICIENT;
    for (size_t j = 0; j < n; j++)
        memcpy(u->inverse + j * n, R + j * (n + 1), n * sizeof *R);
    memcpy(u->x, R + n * (n + 1), n * sizeof *R);
    if (LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'N', 'N', N, 1, u->inverse, N, u->x, N) != 0 ||
        LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', N, u->inverse, N) != 0)
        return API_UNSOLVED;
    return API_SOLVED;
}
