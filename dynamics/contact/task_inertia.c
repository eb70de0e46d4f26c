/* task_inertia.c - computes task-space inertias with LAPACK (task_inertia.h). The _work functions of LAPACKE use memory
 * of the caller. */
#include "task_inertia.h"
#include "dynamics/held_directions.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Singular values below this part of the largest count as zero, because Lambda would have no correct digit. */
#define NEGLIGIBLE 1e-8

/* The work array of dgesvd needs at least 3 min(m, n) + max(m, n) and 5 min(m, n) doubles. */
static size_t work_size(size_t nv, size_t k)
{
    return 3 * (nv + k);
}

size_t dyn_task_entries(size_t nv, size_t k)
{
    return nv * nv + 3 * nv * k + 4 * k * k + 2 * k + work_size(nv, k);
}

void dyn_task_lay_out(dyn_task *task, double *room)
{
    size_t nv = task->nv, k = task->k;
    task->M      = room;
    task->X      = task->M + nv * nv;
    task->U      = task->X + nv * k;
    task->Vt     = task->U + nv * k;
    task->Lambda = task->Vt + k * k;
    task->S      = task->Lambda + k * k;
    task->mass   = task->S + k;
    task->LD     = task->mass + k;
    task->basis  = task->LD + k * k;
    task->work   = task->basis + (nv + k) * k;
}

size_t dyn_task_rank(const dyn_task *task)
{
    size_t rank = 0, k = task->k;
    for (size_t a = 0; task->redundant && a < k; a++)
        rank += task->LD[a * (k + 1)] > 0;
    while (!task->redundant && rank < k && task->S[rank] > NEGLIGIBLE * task->S[0])
        rank++;
    return rank;
}

double dyn_task_row_scale(const double *J, size_t nv, size_t W, size_t axis, double reach)
{
    double linear = 0, angular = 0;
    for (size_t i = 0; i < 3 * nv; i++) {
        linear  = fmax(linear, fabs(J[i * W]));
        angular = fmax(angular, fabs(J[(3 * nv + i) * W]));
    }
    return axis < 3 ? fmax(linear, reach * angular) : fmax(angular, linear / reach);
}

void dyn_task_take_lane(dyn_task *task, const double *mass_matrix, const double *J, size_t W, size_t lane)
{
    for (size_t i = 0; i < task->nv * task->nv; i++)
        task->M[i] = mass_matrix[i * W + lane];
    for (size_t i = 0; i < task->k * task->nv; i++)
        task->X[i] = J[i * W + lane];
}

static bool finite_all(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* Replaces X by L^-1 X ('N') or L^-T X ('T'), with M = L L^T. */
static bool solve_triangular(const dyn_task *task, char transposed)
{
    lapack_int nv = (lapack_int)task->nv, k = (lapack_int)task->k;
    return LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', transposed, 'N', nv, k, task->M, nv, task->X, nv) == 0;
}

/* Sets LD, with X = L^-1 J^T of the mass matrix: D_a is the squared distance of column a of [X; damping] from the span
 * of the columns before it that are independent. */
static void find_dependent(const dyn_task *task)
{
    size_t nv = task->nv, k = task->k, n = task->damping > 0 ? nv + k : nv;
    for (size_t a = 0; a < k; a++) {
        double *x = task->basis + (nv + k) * a, *to = task->LD + k * a, size = 0, left = 0;
        for (size_t e = 0; e < n; e++) {
            x[e] = e < nv ? task->X[e + nv * a] : e == nv + a ? task->damping : 0;
            size += x[e] * x[e];
        }
        for (size_t b = 0; b < a; b++) {
            const double *before = task->basis + (nv + k) * b, pivot = task->LD[b * (k + 1)];
            double        sum = 0;
            for (size_t e = 0; e < n; e++)
                sum += before[e] * x[e];
            to[b] = pivot > 0 ? sum / pivot : 0;
            for (size_t e = 0; e < n; e++)
                x[e] -= to[b] * before[e];
        }
        for (size_t e = 0; e < n; e++)
            left += x[e] * x[e];
        to[a] = left > DYN_DEPENDENT * size ? left : 0;
    }
}

/* Factors M = L L^T and decomposes L^-1 J^T = U S V^T. With fewer coordinates than directions the missing singular
 * values are zero. LAPACK refuses empty matrices: without coordinates V is the identity. */
static bool decompose(dyn_task *task)
{
    lapack_int nv = (lapack_int)task->nv, k = (lapack_int)task->k;
    if (nv == 0) {
        for (size_t e = 0; e < task->k * task->k; e++)
            task->Vt[e] = e % (task->k + 1) == 0;
        if (task->redundant) find_dependent(task);
        return true;
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', nv, task->M, nv) != 0 || !solve_triangular(task, 'N')) return false;
    if (task->redundant) find_dependent(task);
    return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'A', nv, k, task->X, nv, task->S, task->U, nv, task->Vt, k,
                               task->work, (lapack_int)work_size(task->nv, task->k)) == 0;
}

size_t dyn_task_contradiction(const dyn_task *task, const double *c, const double *sizes)
{
    size_t  k = task->k;
    double *r = task->work, *s = r + k;
    for (size_t a = 0; a < k; a++) {
        const double *L = task->LD + k * a;
        r[a] = c[a], s[a] = sizes[a];
        for (size_t b = 0; b < a; b++) {
            r[a] -= L[b] * r[b];
            s[a] += fabs(L[b]) * s[b];
        }
        if (!(L[a] > 0) && !(fabs(r[a]) <= DYN_CONSISTENT * s[a])) return a;
    }
    return k;
}

static void compose_inertia(dyn_task *task)
{
    size_t nv = task->nv, k = task->k, known = nv < k ? nv : k, counting = task->redundant ? dyn_task_rank(task) : k;
    for (size_t i = 0; i < k; i++)
        task->mass[i] = i < counting ? 1 / (task->S[i] * task->S[i] + task->damping * task->damping) : 0;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += task->mass[i] * (task->Vt[i + k * a] * task->Vt[i + k * b]);
            task->Lambda[a + k * b] = sum;
        }
    for (size_t a = 0; a < k; a++)
        for (size_t v = 0; v < nv; v++) {
            double sum = 0;
            for (size_t i = 0; i < known; i++)
                sum += task->U[v + nv * i] * (task->S[i] * task->mass[i]) * task->Vt[i + k * a];
            task->X[v + nv * a] = sum;
        }
}

dyn_task_status dyn_task_solve(dyn_task *task)
{
    if (!finite_all(task->M, task->nv * task->nv) || !finite_all(task->X, task->nv * task->k))
        return DYN_TASK_NOT_COMPUTED;
    memset(task->S, 0, task->k * sizeof *task->S);
    if (!decompose(task)) return DYN_TASK_NOT_COMPUTED;
    if (task->damping * task->damping == 0 && !task->redundant && dyn_task_rank(task) < task->k)
        return DYN_TASK_SINGULAR;
    compose_inertia(task);
    return task->nv == 0 || solve_triangular(task, 'T') ? DYN_TASK_DONE : DYN_TASK_NOT_COMPUTED;
}
