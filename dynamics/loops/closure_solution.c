/* closure_solution.c - solves linear systems with the Jacobian of closure equations, component by component
 * (closure.h). The _work functions of LAPACKE use memory of the caller. */
#include "closure.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* --- all lanes at once ------------------------------------------------------------------------------------------- */

void dyn_closure_factorize(dyn_closure_solver *c, double *inverse, double *scale)
{
    const dyn_scene scene = {.deadline = c->deadline};
    for (size_t i = 0; i < c->layout.n && dyn_closure_may_continue(c); i++) {
        const dyn_closure_component *component = &c->layout.component[i];
        const dyn_closure_factor     io        = {.block    = &component->block,
                                                  .jacobian = c->J,
                                                  .work     = c->work,
                                                  .inverse  = inverse + component->inverse * c->W,
                                                  .scale    = scale + component->scale * c->W,
                                                  .pivot    = c->pivot + i * c->W,
                                                  .norm     = c->norm + i * c->W};
        if (component->block.n > 0 && component->block.m >= component->block.n)
            c->tree->closure_factor(&scene, NULL, &io, 1);
    }
}

bool dyn_closure_is_factored(const dyn_closure_solver *c, size_t lane, double least)
{
    for (size_t i = 0; i < c->layout.n; i++) {
        const dyn_closure_block *block = &c->layout.component[i].block;
        if (block->m < block->n) return false;
        if (block->n > 0 && !(c->pivot[i * c->W + lane] >= least && isfinite(c->norm[i * c->W + lane]))) return false;
    }
    return true;
}

void dyn_closure_find_change(dyn_closure_solver *c, bool fourth, dyn_closure_changes *to)
{
    const dyn_scene            scene = {.deadline = c->deadline};
    _Alignas(DYN_ALIGN) double part[DYN_MAX_LANES], part_fourth[DYN_MAX_LANES];
    *to = (dyn_closure_changes){0};
    for (size_t i = 0; i < c->layout.n && dyn_closure_may_continue(c); i++) {
        const dyn_closure_component *component = &c->layout.component[i];
        const dyn_closure_change     io        = {.block    = &component->block,
                                                  .jacobian = c->J,
                                                  .inverse  = c->inverse + component->inverse * c->W,
                                                  .scale    = c->scale + component->scale * c->W,
                                                  .work     = c->work,
                                                  .change   = part,
                                                  .fourth   = fourth ? part_fourth : NULL};
        if (component->block.n == 0) continue;
        c->tree->closure_change(&scene, NULL, &io, 1);
        for (size_t lane = 0; lane < c->W; lane++) {
            to->first[lane] += part[lane];
            if (fourth) to->fourth[lane] += part_fourth[lane];
        }
    }
    for (size_t lane = 0; lane < c->W; lane++) {
        to->first[lane]  = sqrt(to->first[lane]);
        to->fourth[lane] = sqrt(sqrt(sqrt(to->fourth[lane])));
    }
}

/* Copies one lane of c->next_inverse and c->next_scale to c->inverse and c->scale. */
static void take_lane(const dyn_closure_solver *c, size_t lane)
{
    for (size_t i = 0; i < c->layout.inverse_entries; i++)
        c->inverse[i * c->W + lane] = c->next_inverse[i * c->W + lane];
    for (size_t i = 0; i < c->equations.unknowns; i++)
        c->scale[i * c->W + lane] = c->next_scale[i * c->W + lane];
}

static void exchange(double **a, double **b)
{
    double *before = *a;
    *a             = *b;
    *b             = before;
}

void dyn_closure_refactorize(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES])
{
    bool all = true;
    for (size_t lane = 0; lane < c->live; lane++)
        all = all && wanted[lane];
    dyn_closure_factorize(c, c->next_inverse, c->next_scale);
    if (all) exchange(&c->inverse, &c->next_inverse), exchange(&c->scale, &c->next_scale);
    for (size_t lane = 0; !all && lane < c->W; lane++)
        if (wanted[lane < c->live ? lane : c->live - 1]) take_lane(c, lane);
}

/* --- one lane ---------------------------------------------------------------------------------------------------- */

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Workspace of LAPACK's dgelsy for m right sides: at least max(min(m, n) + 3 n + 1, 2 min(m, n) + m) doubles. */
size_t dyn_closure_dense_work(size_t m, size_t n)
{
    return 4 * n + 3 * m + 8;
}

/* Copies the Jacobian entries of a component in one lane to c->A (column-major), with columns scaled to length one, and
 * the lengths to c->column_norm. Negligible columns become zero. Returns false if an entry is not finite. */
static bool get_dense(dyn_closure_solver *c, const dyn_closure_block *b, size_t lane)
{
    bool finite = true;
    for (size_t k = 0; k < b->n; k++) {
        double sum = 0, *column = c->A + k * b->m;
        for (size_t i = 0; i < b->m; i++) {
            const int entry = b->entry[i * b->n + k];
            column[i]       = entry < 0 ? 0 : c->J[(size_t)entry * c->W + lane];
            sum += column[i] * column[i];
        }
        const bool still  = sqrt(sum) <= DYN_CLOSURE_NEGLIGIBLE;
        c->column_norm[k] = still ? 1 : sqrt(sum);
        for (size_t i = 0; i < b->m; i++)
            column[i] = still ? 0 : column[i] / c->column_norm[k];
        finite = finite && isfinite(sum);
    }
    return finite;
}

/* Computes the pseudoinverse of a component in one lane by a complete orthogonal decomposition, and its rank. */
static bool invert_dense(dyn_closure_solver *c, const dyn_closure_component *component, size_t lane, size_t *rank)
{
    const size_t     rows = component->block.m, n = component->block.n, stride = greater(rows, n);
    const lapack_int m = (lapack_int)rows;
    lapack_int       found;
    double          *inverse = c->inverse + component->inverse * c->W + lane;
    *rank                    = 0;
    if (rows == 0) return true;
    if (!get_dense(c, &component->block, lane)) return false;
    memset(c->pivots, 0, n * sizeof *c->pivots);
    memset(c->B, 0, stride * rows * sizeof *c->B);
    for (size_t i = 0; i < rows; i++)
        c->B[i * stride + i] = 1;
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, m, (lapack_int)n, m, c->A, m, c->B, (lapack_int)stride, c->pivots,
                            DYN_CLOSURE_SINGULAR, &found, c->dense_work,
                            (lapack_int)dyn_closure_dense_work(rows, n)) != 0)
        return false;
    *rank = (size_t)found;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows; i++)
            inverse[(k * rows + i) * c->W] = c->B[i * stride + k] / c->column_norm[k];
    return true;
}

/* True if the Householder factors show that component i has full rank in a lane. Let A be its matrix, D the lengths of
 * A's columns and s the least singular value of A D^-1, whose greatest one is at most sqrt(n). c->norm bounds 1 / s, so
 * that s >= DYN_CLOSURE_SINGULAR sqrt(n) can be shown. */
static bool has_full_rank(const dyn_closure_solver *c, size_t i, size_t lane)
{
    const dyn_closure_block *b = &c->layout.component[i].block;
    return b->m >= b->n && c->pivot[i * c->W + lane] > 0 &&
           c->norm[i * c->W + lane] * sqrt((double)b->n) <= 1 / DYN_CLOSURE_SINGULAR;
}

/* Sets the rank of component i in the wanted lanes. Lanes in which full rank is not certain are decomposed by
 * LAPACK. */
static void finish_component(dyn_closure_solver *c, size_t i, const bool *wanted)
{
    const dyn_closure_component *component = &c->layout.component[i];
    bool                         again     = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        size_t rank = component->block.n;
        if (!wanted[lane]) continue;
        if (!has_full_rank(c, i, lane)) {
            c->finite[lane] = invert_dense(c, component, lane, &rank) && c->finite[lane];
            again           = true;
        }
        c->rank[lane] += rank;
    }
    if (again) dyn_closure_pad(c, component->block.m * component->block.n, c->inverse + component->inverse * c->W);
}

void dyn_closure_invert(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES])
{
    dyn_closure_refactorize(c, wanted);
    for (size_t lane = 0; lane < c->live; lane++) {
        if (!wanted[lane]) continue;
        c->rank[lane]   = 0;
        c->finite[lane] = dyn_closure_may_continue(c);
    }
    for (size_t i = 0; i < c->layout.n && dyn_closure_may_continue(c); i++)
        if (c->layout.component[i].block.n > 0) finish_component(c, i, wanted);
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static void run_product(const dyn_closure_solver *c, const dyn_matrix_product *io)
{
    const dyn_scene scene = {.deadline = c->deadline};
    c->tree->matrix_product(&scene, NULL, io, 1);
}

/* Sets one row of a matrix, of `columns` entries in lanes, to the row `from`; add > 0 adds it, add < 0 subtracts it. */
static void move_row(const dyn_closure_solver *c, size_t columns, const double *from, int add, double *to)
{
    const size_t n = columns * c->W;
    if (add == 0)
        memcpy(to, from, n * sizeof *to);
    else
        for (size_t e = 0; e < n; e++)
            to[e] = add > 0 ? to[e] + from[e] : to[e] - from[e];
}

void dyn_closure_apply(const dyn_closure_solver *c, size_t columns, const double *b, int add, double *x)
{
    const size_t size = columns * c->W;
    for (size_t i = 0; i < c->layout.n; i++) {
        const dyn_closure_component *component = &c->layout.component[i];
        const size_t                 m = component->block.m, n = component->block.n;
        for (size_t r = 0; n > 0 && r < m; r++)
            move_row(c, columns, b + component->row[r] * size, 0, c->gathered + r * size);
        run_product(c, &(dyn_matrix_product){.m     = n,
                                             .k     = m,
                                             .n     = columns,
                                             .A     = c->inverse + component->inverse * c->W,
                                             .row   = m,
                                             .inner = 1,
                                             .B     = c->gathered,
                                             .C     = c->product});
        for (size_t u = 0; u < n; u++)
            move_row(c, columns, c->product + u * size, add,
                     x + (size_t)c->equations.unknown[component->unknown[u]] * size);
    }
}

void dyn_closure_apply_transposed(const dyn_closure_solver *c, const double *x, int add, double *to)
{
    if (add == 0) memset(to, 0, c->equations.rows * c->W * sizeof *to);
    for (size_t i = 0; i < c->layout.n; i++) {
        const dyn_closure_component *component = &c->layout.component[i];
        const size_t                 m = component->block.m, n = component->block.n;
        for (size_t u = 0; u < n; u++)
            move_row(c, 1, x + (size_t)c->equations.unknown[component->unknown[u]] * c->W, 0, c->gathered + u * c->W);
        if (n == 0) continue;
        run_product(c, &(dyn_matrix_product){.m     = m,
                                             .k     = n,
                                             .n     = 1,
                                             .A     = c->inverse + component->inverse * c->W,
                                             .row   = 1,
                                             .inner = m,
                                             .B     = c->gathered,
                                             .C     = c->product});
        for (size_t r = 0; r < m; r++)
            move_row(c, 1, c->product + r * c->W, add, to + component->row[r] * c->W);
    }
}

/* Copies to c->gathered the rows of x, nv x columns, of the velocities that are columns of frame pair k. */
static void gather_columns(const dyn_closure_solver *c, size_t k, size_t columns, const double *x)
{
    const dyn_pair_columns *pair     = &c->layout.columns[k];
    const int              *velocity = c->layout.velocity + pair->first;
    const size_t            size     = columns * c->W;
    for (size_t e = 0; e < pair->n; e++)
        memcpy(c->gathered + e * size, x + (size_t)velocity[e] * size, size * sizeof *x);
}

void dyn_closure_times(const dyn_closure_solver *c, const double *J, size_t columns, const double *x, int add,
                       double *to)
{
    for (size_t k = 0; k < c->equations.n_pairs && dyn_closure_may_continue(c); k++) {
        const size_t first = c->layout.first[k], n = c->layout.columns[k].n;
        gather_columns(c, k, columns, x);
        run_product(c, &(dyn_matrix_product){.m     = c->layout.first[k + 1] - first,
                                             .k     = n,
                                             .n     = columns,
                                             .A     = J + c->layout.row[first].first * c->W,
                                             .row   = n,
                                             .inner = 1,
                                             .B     = c->gathered,
                                             .add   = add,
                                             .C     = to + first * columns * c->W});
    }
}

void dyn_closure_times_transposed(const dyn_closure_solver *c, const double *J, const double *x, int add, double *to)
{
    for (size_t k = 0; k < c->equations.n_pairs; k++) {
        const size_t first = c->layout.first[k], n = c->layout.columns[k].n;
        const int   *velocity = c->layout.velocity + c->layout.columns[k].first;
        run_product(c, &(dyn_matrix_product){.m     = n,
                                             .k     = c->layout.first[k + 1] - first,
                                             .n     = 1,
                                             .A     = J + c->layout.row[first].first * c->W,
                                             .row   = 1,
                                             .inner = n,
                                             .B     = x + first * c->W,
                                             .C     = c->product});
        for (size_t e = 0; e < n; e++)
            move_row(c, 1, c->product + e * c->W, add, to + (size_t)velocity[e] * c->W);
    }
}

void dyn_closure_pair_motions(const dyn_closure_solver *c, const double *qd, double *to)
{
    for (size_t k = 0; k < c->equations.n_pairs; k++) {
        const dyn_pair_columns *pair = &c->layout.columns[k];
        gather_columns(c, k, 1, qd);
        run_product(c, &(dyn_matrix_product){.m     = 6,
                                             .k     = pair->n,
                                             .n     = 1,
                                             .A     = c->pair_jacobian + 6 * pair->first * c->W,
                                             .row   = pair->n,
                                             .inner = 1,
                                             .B     = c->gathered,
                                             .C     = to + 6 * k * c->W});
    }
}
