/* prioritised_step.c - solves prioritised linear least squares within bounds (prioritised_step.h). */
#include "prioritised_step.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define DEPENDENT 1e-9  /* part of a row outside the span of earlier rows, relative to it, that counts as zero */
#define SINGULAR  1e-10 /* singular value, relative to the largest, that counts as zero */
#define WITHIN    1e-12 /* excess over a bound, relative to the bound or to 1, that counts as zero */
#define WIDER     1e-8  /* widening of bounds in the search for active ones, relative to the bound or to 1 */
#define STRONG    1e-10 /* damping, relative to a level's squared entries, above which normal equations are used */
#define SLIGHT    1e-4  /* damping of x, relative to the largest row, in the search for active bounds */

enum { BLOCK = 32 /* block size of LAPACK's workspace */ };

/* --- memory ----------------------------------------------------------------------------------------------------- */

/* Memory for the columns of a least-squares problem, and for LAPACK. */
static size_t work_entries(size_t n, size_t rows)
{
    return (rows + 2 * n) * n + (BLOCK + 3) * (n + 1) + rows + 2 * n;
}

size_t dyn_prioritised_step_bytes(size_t n, size_t rows)
{
    const size_t doubles = 3 * n + rows + n + n * n + (rows + 2 * n) * n + rows + 2 * n + work_entries(n, rows);
    const size_t bytes   = doubles * sizeof(double) + 2 * n * sizeof(dyn_limit_row) +
                         dyn_least_norm_bytes(2 * n + rows, n + rows) + n * (sizeof(int) + sizeof(signed char));
    return (bytes + 63) / 16 * 16;
}

void dyn_prioritised_step_lay_out(dyn_prioritised_step *s, void *room)
{
    const size_t n = s->n, rows = s->rows;
    s->limited = room;
    s->x       = (double *)(void *)((char *)room + (dyn_least_norm_bytes(2 * n + rows, n + rows) + 15) / 16 * 16);
    s->trial   = s->x + n;
    s->kept    = s->trial + n;
    s->basis   = s->kept + rows + n;
    s->free    = s->basis + n * n;
    s->right   = s->free + (rows + 2 * n) * n;
    s->work    = s->right + rows + 2 * n;
    s->bound   = (dyn_limit_row *)(void *)(s->work + work_entries(n, rows));
    s->pivot   = (int *)(void *)(s->bound + 2 * n);
    s->side    = (signed char *)(s->pivot + n);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void dyn_step_project(const double *basis, size_t r, size_t n, double *row)
{
    const double length = sqrt(product(row, row, n));
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < r; i++) {
            const double part = product(basis + i * n, row, n);
            for (size_t j = 0; j < n; j++)
                row[j] -= part * basis[i * n + j];
        }
    if (!(sqrt(product(row, row, n)) > DEPENDENT * length)) memset(row, 0, n * sizeof *row);
}

size_t dyn_step_extend_basis(double *basis, size_t r, size_t n, const double *row)
{
    double *to = basis + r * n;
    memcpy(to, row, n * sizeof *to);
    dyn_step_project(basis, r, n, to);
    const double length = sqrt(product(to, to, n));
    if (!(length > 0)) return r;
    for (size_t j = 0; j < n; j++)
        to[j] /= length;
    return r + 1;
}

/* Copies row i of level k, with zeros for the fixed coordinates, which are at bounds. In the last level, |x|^2, the row
 * is a unit vector. */
static void copy_level_row(const dyn_prioritised_step *s, size_t k, size_t i, bool fixed, double *to)
{
    for (size_t j = 0; j < s->n; j++) {
        const double entry = k < s->n_levels ? s->level[k].A[i * s->n + j] : i == j ? 1 : 0;
        to[j]              = fixed && s->side[j] != 0 ? 0 : entry;
    }
}

static size_t rows_of(const dyn_prioritised_step *s, size_t k)
{
    return k < s->n_levels ? s->level[k].rows : s->n;
}

static double right_of(const dyn_prioritised_step *s, size_t k, size_t i)
{
    return k < s->n_levels ? s->level[k].b[i] : 0;
}

static double value_of(const dyn_prioritised_step *s, size_t k, size_t i, const double *x)
{
    return k < s->n_levels ? product(s->level[k].A + i * s->n, x, s->n) : x[i];
}

/* --- solution with some coordinates fixed ------------------------------------------------------------------------- */

/* Adds to trial the p of least norm among those that minimise |free p - right|, of m rows. Returns false if a number is
 * not finite. */
static bool add_least_solution(dyn_prioritised_step *s, size_t m)
{
    const size_t n = s->n, most = m > n ? m : n;
    lapack_int   rank = 0;
    if (m == 0) return true;
    for (size_t i = 0; i < m * n; i++)
        if (!isfinite(s->free[i])) return false;
    for (size_t i = 0; i < m; i++)
        if (!isfinite(s->right[i])) return false;
    double *columns = s->work; /* column-major, for LAPACK */
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            columns[j * m + i] = s->free[i * n + j];
    memset(s->pivot, 0, n * sizeof *s->pivot);
    double          *lapack = columns + m * n;
    const lapack_int room   = (lapack_int)((BLOCK + 3) * (n + 1) + m);
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, (lapack_int)m, (lapack_int)n, 1, columns, (lapack_int)m, s->right,
                            (lapack_int)most, s->pivot, SINGULAR, &rank, lapack, room) != 0)
        return false;
    for (size_t j = 0; j < n; j++)
        s->trial[j] += s->side[j] != 0 ? 0 : s->right[j];
    return true;
}

/* Moves trial so that A_j x of the levels before k have the values that must be kept, with coordinates at bounds fixed.
 * Sets `basis` to the directions that would change these values. Returns their number; SIZE_MAX: a number is not
 * finite. */
static size_t keep_levels(dyn_prioritised_step *s, size_t k)
{
    size_t r = 0, m = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < rows_of(s, j); i++, m++) {
            copy_level_row(s, j, i, true, s->free + m * s->n);
            s->right[m] = s->kept[m] - value_of(s, j, i, s->trial);
            if (r < s->n) r = dyn_step_extend_basis(s->basis, r, s->n, s->free + m * s->n);
        }
    return add_least_solution(s, m) ? r : SIZE_MAX;
}

/* Adds to trial the p with the least |free p - right|^2 + damping |trial + p|^2 among the directions that change no A_j
 * x of the levels before. With z, the part of trial in these directions, and F = free, m x n:
 *
 *     p = F^T y - z,  (F F^T + damping 1) y = right + F z. */
static bool add_damped_solution(dyn_prioritised_step *s, size_t m, size_t r)
{
    const size_t n = s->n;
    double      *z = s->right + m, *matrix = s->work;
    for (size_t j = 0; j < n; j++)
        z[j] = s->side[j] != 0 ? 0 : s->trial[j];
    dyn_step_project(s->basis, r, n, z);
    for (size_t i = 0; i < m; i++) {
        s->right[i] += product(s->free + i * n, z, n);
        for (size_t k = 0; k <= i; k++)
            matrix[k * m + i] = product(s->free + i * n, s->free + k * n, n);
        matrix[i * m + i] += s->damping;
    }
    if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)m, 1, matrix, (lapack_int)m, s->right, (lapack_int)m) !=
        0)
        return false;
    for (size_t j = 0; j < n; j++) {
        double sum = -z[j];
        for (size_t i = 0; i < m; i++)
            sum += s->right[i] * s->free[i * n + j];
        s->trial[j] += sum;
    }
    return true;
}

/* True if F F^T + damping 1, with F = free (m x n), is conditioned well enough to be solved. */
static bool is_strong(const dyn_prioritised_step *s, size_t m)
{
    return s->damping > STRONG * product(s->free, s->free, m * s->n);
}

/* Appends to the m equations for p the equations sqrt(damping) (trial + p) = 0, projected on the directions that change
 * no A_j x of the levels before. Returns the number of all equations. */
static size_t append_damping(dyn_prioritised_step *s, size_t m, size_t r)
{
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++, m++) {
        memset(s->free + m * n, 0, n * sizeof *s->free);
        s->free[m * n + i] = s->side[i] != 0 ? 0 : sqrt(s->damping);
        dyn_step_project(s->basis, r, n, s->free + m * n);
        s->right[m] = -sqrt(s->damping) * s->trial[i];
    }
    return m;
}

/* Sets trial to the solution of level k that is nearest to trial, with coordinates at bounds fixed. */
static bool solve_level(dyn_prioritised_step *s, size_t k)
{
    const size_t n = s->n, m = rows_of(s, k), r = keep_levels(s, k);
    if (r == SIZE_MAX) return false;
    for (size_t i = 0; i < m; i++) {
        copy_level_row(s, k, i, true, s->free + i * n);
        dyn_step_project(s->basis, r, n, s->free + i * n);
        s->right[i] = right_of(s, k, i) - value_of(s, k, i, s->trial);
    }
    if (s->damping == 0 || k < s->undamped || k == s->n_levels) return add_least_solution(s, m);
    return is_strong(s, m) ? add_damped_solution(s, m, r) : add_least_solution(s, append_damping(s, m, r));
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static double slack(double bound)
{
    return WITHIN * fmax(1, fabs(bound));
}

static bool is_within(const dyn_prioritised_step *s)
{
    for (size_t j = 0; j < s->n; j++)
        if (!(s->trial[j] >= s->lower[j] - slack(s->lower[j]) && s->trial[j] <= s->upper[j] + slack(s->upper[j])))
            return false;
    return true;
}

/* Lists the bounds of scale x, a little widened, because rounding errors of the levels before might leave no x within
 * the bounds. */
static size_t list_bounds(dyn_prioritised_step *s, double scale)
{
    static const double one = 1, minus_one = -1;
    size_t              n = 0;
    for (size_t j = 0; j < s->n; j++) {
        const double lower = s->lower[j] - WIDER * fmax(1, fabs(s->lower[j]));
        const double upper = s->upper[j] + WIDER * fmax(1, fabs(s->upper[j]));
        if (isfinite(lower)) s->bound[n++] = (dyn_limit_row){j, 1, &one, scale * lower};
        if (isfinite(upper)) s->bound[n++] = (dyn_limit_row){j, 1, &minus_one, -scale * upper};
    }
    return n;
}

/* Makes the row after the equations of q orthonormal to them, and appends it as an equation with the right side
 * `right`. Leaves out a dependent row. */
static void append_equation(dyn_least_norm *q, double right)
{
    double *to = q->equation + q->n_equations * q->k, size = sqrt(product(to, to, q->k));
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < q->n_equations; i++) {
            const double part = product(q->equation + i * q->k, to, q->k);
            right -= part * q->right[i];
            for (size_t j = 0; j < q->k; j++)
                to[j] -= part * q->equation[i * q->k + j];
        }
    const double length = sqrt(product(to, to, q->k));
    if (!(length > DEPENDENT * size)) return;
    for (size_t j = 0; j < q->k; j++)
        to[j] /= length;
    q->right[q->n_equations++] = right / length;
}

/* Appends the rows of level j as equations in (scale x, y): A_j x = kept for a level before k, or A_k x - y = b_k for
 * level k itself. */
static void append_level(const dyn_prioritised_step *s, size_t j, bool with_error, double scale, dyn_least_norm *q)
{
    size_t before = 0;
    for (size_t i = 0; i < j; i++)
        before += rows_of(s, i);
    for (size_t i = 0; i < rows_of(s, j); i++) {
        double *to = q->equation + q->n_equations * q->k;
        memset(to, 0, q->k * sizeof *to);
        copy_level_row(s, j, i, false, to);
        for (size_t c = 0; c < s->n; c++)
            to[c] /= scale;
        if (with_error) to[s->n + i] = -1;
        append_equation(q, with_error ? right_of(s, j, i) : s->kept[before + i]);
    }
}

/* Returns `scale` of the problem for the active bounds of level k, which minimises scale^2 |x|^2 + |A_k x - b_k|^2. */
static double scale_of(const dyn_prioritised_step *s, size_t k)
{
    double largest = 0;
    for (size_t i = 0; k < s->n_levels && i < rows_of(s, k); i++)
        largest = fmax(largest, sqrt(product(s->level[k].A + i * s->n, s->level[k].A + i * s->n, s->n)));
    return k < s->n_levels ? fmax(sqrt(s->damping), SLIGHT * (largest > 0 ? largest : 1)) : 1;
}

/* Finds the bounds that are active at the solution of level k, and sets trial and side. Returns false if there is no
 * solution within rounding errors, because the levels before leave no freedom. */
static bool find_met_bounds(dyn_prioritised_step *s, size_t k)
{
    const bool     last  = k == s->n_levels;
    const double   scale = scale_of(s, k);
    dyn_least_norm q     = {.k           = s->n + (last ? 0 : rows_of(s, k)),
                            .n_equations = s->n + s->rows,
                            .n_rows      = list_bounds(s, scale),
                            .row         = s->bound,
                            .deadline    = s->deadline};
    dyn_least_norm_lay_out(&q, s->limited);
    q.n_equations = 0;
    for (size_t j = 0; j < k; j++)
        append_level(s, j, false, scale, &q);
    if (!last) append_level(s, k, true, scale, &q);
    memset(q.x, 0, q.k * sizeof *q.x);
    for (size_t i = 0; i < q.n_equations; i++)
        for (size_t j = 0; j < q.k; j++)
            q.x[j] += q.right[i] * q.equation[i * q.k + j];
    if (dyn_least_norm_solve(&q) != DYN_LEAST_NORM_DONE) return false;
    for (size_t j = 0; j < s->n; j++)
        s->trial[j] = q.x[j] / scale;
    for (size_t i = 0; i < q.n_active; i++) {
        const dyn_limit_row *row = &s->bound[q.active[i].limit];
        const bool           low = row->c[0] > 0;
        s->side[row->first]      = low ? -1 : 1;
        s->trial[row->first]     = low ? s->lower[row->first] : s->upper[row->first];
    }
    return true;
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

static void accept_trial(dyn_prioritised_step *s)
{
    for (size_t j = 0; j < s->n; j++)
        s->x[j] = fmin(fmax(s->trial[j], s->lower[j]), s->upper[j]);
}

/* Replaces x by the solution of level k, or leaves x if the levels before leave no freedom. */
static bool improve(dyn_prioritised_step *s, size_t k)
{
    memcpy(s->trial, s->x, s->n * sizeof *s->x);
    memset(s->side, 0, s->n);
    if (!solve_level(s, k)) return false;
    if (is_within(s)) {
        accept_trial(s);
        return true;
    }
    memset(s->side, 0, s->n);
    s->met_bounds = true;
    if (!find_met_bounds(s, k)) return dyn_may_continue(s->deadline);
    if (!solve_level(s, k)) return false;
    accept_trial(s);
    return true;
}

/* Sets `side` of the coordinates that are at bounds up to `slack`: a later level may have moved x off an active bound
 * by a rounding error. */
static void set_sides(dyn_prioritised_step *s)
{
    for (size_t j = 0; j < s->n; j++)
        s->side[j] = s->x[j] >= s->upper[j] - slack(s->upper[j])   ? 1
                     : s->x[j] <= s->lower[j] + slack(s->lower[j]) ? -1
                                                                   : 0;
}

bool dyn_prioritised_step_solve(dyn_prioritised_step *s)
{
    size_t m      = 0;
    s->met_bounds = false;
    for (size_t j = 0; j < s->n; j++) {
        s->x[j] = fmin(fmax(0, s->lower[j]), s->upper[j]);
        s->met_bounds |= s->x[j] != 0;
    }
    /* If no bound was active, each level has added a vector of least norm, and the last level would change nothing. */
    for (size_t k = 0; k < s->n_levels + (s->least && s->met_bounds); k++) {
        if (!dyn_may_continue(s->deadline) || !improve(s, k)) return false;
        for (size_t i = 0; i < rows_of(s, k); i++, m++)
            s->kept[m] = value_of(s, k, i, s->x);
    }
    set_sides(s);
    return true;
}
