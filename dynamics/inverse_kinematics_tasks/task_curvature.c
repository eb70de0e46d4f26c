/* task_curvature.c - finds Newton's model of a level of prioritised tasks (task_curvature.h). */
#include "task_curvature.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/inverse_kinematics/search_start.h"
#include "dynamics/model/joint_types.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define DIFFERENCE 0x1p-24 /* rad or m: step of the finite differences */
#define FLAT       1e-6    /* curvature, relative to the largest, that counts as zero: H has errors of about 1e-7 */
#define NEAR       1e-9    /* rad or m: a coordinate this near to a limit is at it */
#define SINGULAR   1e-10   /* singular value, relative to the largest, that counts as zero */

enum { BLOCK = 32 /* block size of LAPACK's workspace */ };

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Memory for the columns of a least-squares problem, its right side, and LAPACK. */
static size_t work_entries(size_t n, size_t before)
{
    return before * n + (BLOCK + 5) * (n + before + 1);
}

size_t dyn_task_curvature_entries(size_t nq, size_t n, size_t rows, size_t most_before)
{
    return 2 * n * n + 3 * n + most_before + rows + rows * n + rows + nq + work_entries(n, most_before) + most_before +
           n;
}

void dyn_task_curvature_lay_out(dyn_task_curvature *c, size_t nq, double *room)
{
    const size_t n = c->n;
    c->H           = room;
    c->basis       = c->H + n * n;
    c->gradient    = c->basis + n * n;
    c->lambda      = c->gradient + 3 * n;
    c->factor      = c->lambda + c->most_before;
    c->A           = c->factor + c->rows;
    c->error       = c->A + c->rows * n;
    c->moved       = c->error + c->rows;
    c->columns     = c->moved + nq;
    c->pivot       = (int *)(void *)(c->columns + work_entries(n, c->most_before));
    c->side        = (signed char *)(c->pivot + c->most_before);
}

/* --- the gradient of the Lagrangian ------------------------------------------------------------------------------- */

static size_t rows_before(const dyn_curved_level *l)
{
    size_t rows = 0;
    for (size_t k = 0; k < l->n_before; k++)
        rows += l->before[k].rows;
    return rows;
}

/* Writes the part of the gradient that changes with q: the sum of the rows of A times their factors, errors for those
 * of the level, multipliers for those before. */
static void find_gradient(const dyn_task_curvature *c, const dyn_curved_level *l, const double *A, const double *error,
                          double *to)
{
    const size_t n = c->n;
    memset(to, 0, n * sizeof *to);
    for (size_t i = 0; i < l->end; i++) {
        const double factor = i < l->first ? c->factor[i] : error[i];
        for (size_t j = 0; j < n; j++)
            to[j] += factor * A[i * n + j];
    }
}

/* Finds lambda, the least-squares solution of B^T lambda = -A^T e among the coordinates that are not held at a bound.
 * Returns false if a number is not finite. */
static bool solve_multipliers(dyn_task_curvature *c, const dyn_curved_level *l, const double *gradient, size_t before)
{
    const size_t n = c->n, most = n > before ? n : before;
    double      *right = c->columns + before * n, *work = right + most, *to = c->columns;
    lapack_int   rank = 0;
    memset(right, 0, most * sizeof *right);
    memset(c->pivot, 0, before * sizeof *c->pivot);
    for (size_t j = 0; j < n; j++) {
        right[j] = c->side[j] != 0 ? 0 : -gradient[j];
        if (!isfinite(right[j])) return false;
    }
    for (size_t k = 0; k < l->n_before; k++)
        for (size_t i = 0; i < l->before[k].rows; i++, to += n)
            for (size_t j = 0; j < n; j++)
                to[j] = c->side[j] != 0 ? 0 : l->before[k].A[i * n + j];
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)before, 1, c->columns, (lapack_int)n, right,
                            (lapack_int)most, c->pivot, SINGULAR, &rank, work,
                            (lapack_int)((BLOCK + 3) * (before + 1) + n)) != 0)
        return false;
    memcpy(c->lambda, right, before * sizeof *right);
    return true;
}

/* Adds B^T lambda to the gradient, and sets the factors of the rows of A before the level. */
static void add_multipliers(dyn_task_curvature *c, const dyn_curved_level *l, double *gradient)
{
    const size_t  n      = c->n;
    const double *lambda = c->lambda;
    memset(c->factor, 0, c->rows * sizeof *c->factor);
    for (size_t k = 0; k < l->n_before; k++)
        for (size_t i = 0; i < l->before[k].rows; i++, lambda++) {
            const double *row = l->before[k].A + i * n;
            for (size_t j = 0; j < n; j++)
                gradient[j] += *lambda * row[j];
            if (!l->is_model[k]) c->factor[(size_t)(row - l->A) / n] = *lambda;
        }
}

/* Finds the gradient r and the factors of the rows before the level. */
static bool find_multipliers(dyn_task_curvature *c, const dyn_curved_level *l, double *r)
{
    const size_t before = rows_before(l);
    memset(c->factor, 0, c->rows * sizeof *c->factor);
    find_gradient(c, l, l->A, l->error, r);
    if (before == 0) return true;
    if (!solve_multipliers(c, l, r, before)) return false;
    add_multipliers(c, l, r);
    return true;
}

/* Marks the coordinates at their limits. */
static void mark_limits_met(const dyn_task_curvature *c, const double *q)
{
    const dyn_model *m = c->block->robot->tree;
    memset(c->side, 0, c->n * sizeof *c->side);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_has_bounds(b)) continue;
        const size_t k      = (size_t)b->joint.q;
        c->side[b->joint.v] = q[k] >= c->loops->upper[k] - NEAR ? 1 : q[k] <= c->loops->lower[k] + NEAR ? -1 : 0;
    }
}

/* Releases the coordinates that the gradient moves away from their limits. Returns true if there are some. */
static bool release_bounds(const dyn_task_curvature *c, const double *r)
{
    bool released = false;
    for (size_t j = 0; j < c->n; j++)
        if (c->side[j] * r[j] > 0) c->side[j] = 0, released = true;
    return released;
}

/* --- its derivative ----------------------------------------------------------------------------------------------- */

/* Writes column j of H, the derivative of the gradient along coordinate j, whose joint moves body b. Returns false if
 * the loops cannot be closed. */
static bool find_hessian_column(dyn_task_curvature *c, const dyn_curved_level *l, const dyn_body *b, size_t j)
{
    const size_t n    = c->n;
    double      *base = c->gradient + n, *to = c->gradient + 2 * n;
    memset(to, 0, n * sizeof *to);
    to[j] = DIFFERENCE;
    memcpy(c->moved, l->q, (size_t)c->block->robot->tree->nq * sizeof *c->moved);
    dyn_coordinates_move(b, c->moved + b->joint.q, 1, to + b->joint.v, 1);
    if (!dyn_task_loops_close(c->loops, l->q, c->moved)) return false;
    dyn_task_evaluate(c->block, c->moved);
    dyn_task_errors(c->block, c->goal);
    dyn_task_jacobian(c->block, c->A);
    dyn_task_loops_fold(c->loops, c->rows, c->A);
    dyn_task_drop_noise(c->block, c->A);
    dyn_task_gather(c->block, (const double(*)[DYN_TASK_ROWS])c->block->error, 1, c->error);
    find_gradient(c, l, c->A, c->error, to);
    for (size_t i = 0; i < n; i++)
        c->H[i * n + j] = c->side[i] != 0 ? 0 : (to[i] - base[i]) / DIFFERENCE;
    return true;
}

/* Finds H column by column. Returns false if the deadline has passed, or loops cannot be closed. */
static bool find_hessian(dyn_task_curvature *c, const dyn_curved_level *l)
{
    const dyn_mechanism *robot = c->block->robot;
    find_gradient(c, l, l->A, l->error, c->gradient + c->n);
    memset(c->H, 0, c->n * c->n * sizeof *c->H);
    for (size_t i = 0; i < robot->tree->n_bodies; i++) {
        const dyn_body *b = &robot->tree->body[i];
        if (b->joint.mimic || dyn_joint_nv(b->joint.kind) == 0 || dyn_first_velocity(robot, b) < 0) continue;
        for (size_t k = 0; k < (size_t)dyn_joint_nv(b->joint.kind); k++) {
            if (!dyn_may_continue(c->deadline)) return false;
            const size_t j = (size_t)b->joint.v + k;
            if (c->side[j] == 0 && !find_hessian_column(c, l, b, j)) return false;
        }
    }
    return true;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static void exchange_triangles(double *H, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double other = H[i * n + j];
            H[i * n + j]       = H[j * n + i];
            H[j * n + i]       = other;
        }
}

/* Sets H to P H P, symmetric. P removes the components along the rows of the levels before, and the coordinates held at
 * bounds. */
static void project_hessian(const dyn_task_curvature *c, const dyn_curved_level *l)
{
    const size_t n   = c->n;
    double      *row = c->gradient + n;
    size_t       r   = 0;
    for (size_t k = 0; k < l->n_before; k++)
        for (size_t i = 0; i < l->before[k].rows && r < n; i++) {
            for (size_t j = 0; j < n; j++)
                row[j] = c->side[j] != 0 ? 0 : l->before[k].A[i * n + j];
            r = dyn_step_extend_basis(c->basis, r, n, row);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            c->H[i * n + j] = c->H[j * n + i] = 0.5 * (c->H[i * n + j] + c->H[j * n + i]);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++)
            dyn_step_project(c->basis, r, n, c->H + i * n);
        exchange_triangles(c->H, n);
    }
}

/* Sets the diagonal entries of H of the coordinates held at their limits to the norm of H, so that steps keep them
 * there. */
static void hold_coordinates(const dyn_task_curvature *c)
{
    const size_t n   = c->n;
    double       sum = 0;
    for (size_t i = 0; i < n * n; i++)
        sum += c->H[i] * c->H[i];
    for (size_t j = 0; j < n; j++)
        if (c->side[j] != 0) c->H[j * n + j] = sum > 0 ? sqrt(sum) : 1;
}

/* Writes R and c from the eigenvectors of H. Returns false if LAPACK finds none. */
static bool decompose_hessian(const dyn_task_curvature *c, double *R, double *to, size_t *rows)
{
    const size_t n = c->n;
    double      *s = c->columns, *work = s + n, largest = 0;
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(c->H[i])) return false;
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, c->H, (lapack_int)n, s, work,
                           (lapack_int)(4 * n)) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(s[i]));
    *rows = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(s[i]) > FLAT * largest)) continue;
        const double size = sqrt(fabs(s[i]));
        to[*rows]         = 0;
        for (size_t j = 0; j < n; j++) {
            R[*rows * n + j] = size * c->H[i * n + j];
            to[*rows] -= c->H[i * n + j] * c->gradient[j] / size;
        }
        (*rows)++;
    }
    return true;
}

bool dyn_task_curvature_find(dyn_task_curvature *c, const dyn_curved_level *level, double *R, double *to, size_t *rows)
{
    mark_limits_met(c, level->q);
    do
        if (!dyn_may_continue(c->deadline) || !find_multipliers(c, level, c->gradient)) return false;
    while (release_bounds(c, c->gradient));
    if (!find_hessian(c, level)) return false;
    project_hessian(c, level);
    hold_coordinates(c);
    return decompose_hessian(c, R, to, rows);
}
