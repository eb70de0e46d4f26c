/* sequential_qr.c - solves least squares from a triangular factor with LAPACK: see sequential_qr.h. */
#include "sequential_qr.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Relative tolerances. A column shorter than ZERO times the longest counts as zero. With columns of unit length, a
 * singular value up to NEGLIGIBLE times the largest counts as zero, and an entry of a singular vector up to TRACE
 * counts as zero. */
#define ZERO       1e-12
#define NEGLIGIBLE 1e-8
#define TRACE      1e-5

size_t dyn_qr_solve_scratch(size_t n)
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

/* Copies the columns of the unknowns, each scaled to unit length, or set to zero if it is not longer than `zero` times
 * the longest. Returns false if a length is not finite. */
static bool scale_columns(const double *R, size_t n, double zero, double *scaled)
{
    double longest = 0;
    for (size_t j = 0; j < n; j++)
        longest = fmax(longest, length_of(R + j * (n + 1), j + 1));
    for (size_t j = 0; j < n; j++) {
        const double *from   = R + j * (n + 1);
        double        length = length_of(from, j + 1), factor = length > zero * longest ? 1 / length : 0;
        for (size_t i = 0; i < n; i++)
            scaled[j * n + i] = i <= j ? factor * from[i] : 0;
    }
    return isfinite(longest);
}

/* Computes the singular values of the scaled columns, and the right singular vectors unless `vt` is NULL. */
static bool decompose(const double *R, size_t n, double zero, double *scaled, double *singular, double *vt)
{
    lapack_int N = (lapack_int)n;
    return scale_columns(R, n, zero, scaled) && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', vt ? 'A' : 'N', N, N, scaled, N,
                                                               singular, NULL, 1, vt, N, singular + n) == 0;
}

/* Finds the rank and the condition number, and marks the unknowns that take part in the null space. The singular
 * vectors are costly, and computed only if the rank is deficient. Returns false if there is no memory, or a number is
 * not finite. */
static bool find_rank(const double *R, dyn_unknowns *u, double *scratch, bool *deficient)
{
    size_t  n      = u->n;
    double *scaled = scratch, *vt = scaled + n * n, *singular = vt + n * n;
    if (!decompose(R, n, ZERO, scaled, singular, NULL)) return false;
    *deficient = !(singular[n - 1] > NEGLIGIBLE * singular[0]);
    memset(u->unseen, 0, n * sizeof *u->unseen);
    u->condition = *deficient ? 0 : singular[0] / singular[n - 1];
    if (!*deficient) return true;
    if (!decompose(R, n, ZERO, scaled, singular, vt)) return false;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            if (!(singular[i] > NEGLIGIBLE * singular[0]) && fabs(vt[k * n + i]) > TRACE) u->unseen[k] = true;
    return true;
}

dyn_solved dyn_qr_examine(const double *R, dyn_unknowns *u, double *scratch)
{
    bool deficient = false;
    u->condition   = 1;
    if (u->n > 0 && !find_rank(R, u, scratch, &deficient)) return DYN_UNSOLVED;
    return deficient ? DYN_DEFICIENT : DYN_SOLVED;
}

bool dyn_qr_substitute(const double *R, dyn_unknowns *u)
{
    size_t     n = u->n;
    lapack_int N = (lapack_int)n;
    if (n == 0) return true;
    for (size_t j = 0; j < n; j++)
        memcpy(u->inverse + j * n, R + j * (n + 1), n * sizeof *R);
    memcpy(u->x, R + n * (n + 1), n * sizeof *R);
    return LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'N', 'N', N, 1, u->inverse, N, u->x, N) == 0 &&
           LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', N, u->inverse, N) == 0;
}

dyn_solved dyn_qr_solve(const double *R, dyn_unknowns *u, double *scratch)
{
    dyn_solved found = dyn_qr_examine(R, u, scratch);
    if (found != DYN_SOLVED) return found;
    return dyn_qr_substitute(R, u) ? DYN_SOLVED : DYN_UNSOLVED;
}

double dyn_qr_condition(const double *R, size_t n, double *scratch)
{
    double *singular = scratch + 2 * n * n;
    if (n == 0) return 1;
    return decompose(R, n, 0, scratch, singular, NULL) ? singular[0] / singular[n - 1] : NAN;
}

/* --- combinations ---------------------------------------------------------------------------------------------------
 */

size_t dyn_qr_combine_scratch(size_t n)
{
    return 3 * n * n + n;
}

/* Removes from v its parts along the m orthonormal columns of Q, and adds these to `parts`; twice, because rounding
 * errors leave parts after the first time. */
static void orthogonalise(double *v, size_t n, const double *Q, size_t m, double *parts)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < m; k++) {
            double part = 0;
            for (size_t i = 0; i < n; i++)
                part += Q[k * n + i] * v[i];
            for (size_t i = 0; i < n; i++)
                v[i] -= part * Q[k * n + i];
            parts[k] += part;
        }
}

/* Examines the columns by the Gram-Schmidt process, S = Q T. A column whose independent part is at most `negligible` is
 * not kept. Returns false if go_on returned false. */
static bool keep_columns(const double *S, dyn_combinations *c, double negligible, double *Q, double *T)
{
    size_t n  = c->n;
    c->n_kept = 0;
    memset(T, 0, n * n * sizeof *T);
    for (size_t position = 0; position < n; position++) {
        size_t  j = c->order[position], m = c->n_kept;
        double *v = Q + m * n;
        if (!c->go_on(c->arg)) return false;
        memcpy(v, S + j * n, n * sizeof *v);
        orthogonalise(v, n, Q, m, T + j * n);
        double length = length_of(v, n);
        if (!(length > negligible)) continue;
        T[j * n + m] = length;
        for (size_t i = 0; i < n; i++)
            v[i] /= length;
        c->kept[c->n_kept++] = j;
    }
    return true;
}

/* Solves T_kept K_j = T_j by back substitution for one column. T has columns of unit length: the result is scaled to
 * the columns of R. */
static void find_coefficients(const double *R, const dyn_combinations *c, const double *T, size_t j, double *K)
{
    size_t n = c->n, m = c->n_kept;
    double length = length_of(R + j * (n + 1), j + 1);
    memcpy(K, T + j * n, m * sizeof *K);
    for (size_t k = m; k-- > 0;) {
        size_t pivot = c->kept[k];
        for (size_t l = k + 1; l < m; l++)
            K[k] -= T[c->kept[l] * n + k] * K[l];
        K[k] /= T[pivot * n + k];
    }
    for (size_t k = 0; k < m; k++)
        c->K[j * n + c->kept[k]] =
            fabs(K[k]) > NEGLIGIBLE ? K[k] * length / length_of(R + c->kept[k] * (n + 1), c->kept[k] + 1) : 0;
}

bool dyn_qr_combine(const double *R, dyn_combinations *c, double *scratch)
{
    size_t  n = c->n;
    double *S = scratch, *Q = S + n * n, *T = Q + n * n, *K = T + n * n, negligible = NEGLIGIBLE;
    scale_columns(R, n, ZERO, S);
    do {
        if (!keep_columns(S, c, negligible, Q, T)) return false;
        negligible *= 10;
    } while (c->n_kept == n && negligible < 1);
    memset(c->K, 0, n * n * sizeof *c->K);
    for (size_t j = 0; j < n; j++) {
        bool kept = false;
        if (!c->go_on(c->arg)) return false;
        for (size_t k = 0; k < c->n_kept; k++)
            kept = kept || c->kept[k] == j;
        if (!kept) find_coefficients(R, c, T, j, K);
    }
    return true;
}
