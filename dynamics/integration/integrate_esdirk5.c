/* integrate_esdirk5.c - integrates stiff systems by the implicit embedded pair of order 5(4) ESDIRK5(4)7L[2]SA2
 * (Kennedy & Carpenter 2019) with Newton's method, with error control (integrate_adaptive.h). */
#include "integrate_adaptive.h"
#include <math.h>
#include <sunmatrix/sunmatrix_dense.h>

/* Finds the Jacobian by finite differences, one column per lane. The columns of the work entries of y are zero, since
 * no rate depends on them. */
static int differentiate(realtype t, N_Vector y, N_Vector now, SUNMatrix to, void *arg, N_Vector a, N_Vector b,
                         N_Vector c)
{
    (void)a, (void)b, (void)c;
    dyn_ode      *ode = arg;
    const double *v = N_VGetArrayPointer(y), *f = N_VGetArrayPointer(now);
    size_t        W = ode->W, n = ode->entries - ode->works;
    double        increment[DYN_MAX_LANES];
    for (size_t first = 0; first < n; first += W) {
        if (!dyn_may_continue(ode->deadline_of_all)) return -1;
        dyn_adaptive_fill_lanes(ode, v, ode->stage_y);
        for (size_t l = 0; l < W && first + l < n; l++) {
            double *entry = &ode->stage_y[(first + l) * W + l];
            double  moved = *entry + 1.5e-8 * (1 + fabs(*entry));
            increment[l]  = moved - *entry;
            *entry        = moved;
        }
        ode->functions->rate(ode->system, t, ode->stage_y, ode->stage_rate[0]);
        for (size_t l = 0; l < W && first + l < n; l++)
            for (size_t i = 0; i < ode->entries; i++)
                SM_ELEMENT_D(to, i, first + l) = (ode->stage_rate[0][i * W + l] - f[i]) / increment[l];
    }
    return 0;
}

/* Moves the largest entry of column k on or below the diagonal to the diagonal. Returns the row that it came from. */
static sunindextype choose_pivot_row(SUNMatrix A, sunindextype k)
{
    sunindextype from = k, n = SM_COLUMNS_D(A);
    for (sunindextype i = k + 1; i < n; i++)
        if (fabs(SM_ELEMENT_D(A, i, k)) > fabs(SM_ELEMENT_D(A, from, k))) from = i;
    for (sunindextype j = 0; j < n && from != k; j++) {
        const realtype entry     = SM_ELEMENT_D(A, k, j);
        SM_ELEMENT_D(A, k, j)    = SM_ELEMENT_D(A, from, j);
        SM_ELEMENT_D(A, from, j) = entry;
    }
    return from;
}

/* Eliminates column k below the diagonal. */
static void eliminate_column(SUNMatrix A, sunindextype k)
{
    const sunindextype n      = SM_COLUMNS_D(A);
    realtype          *column = SM_COLUMN_D(A, k), reciprocal = 1 / column[k];
    for (sunindextype i = k + 1; i < n; i++)
        column[i] *= reciprocal;
    for (sunindextype j = k + 1; j < n; j++) {
        realtype *to = SM_COLUMN_D(A, j), factor = to[k];
        for (sunindextype i = k + 1; i < n && factor != 0; i++)
            to[i] -= factor * column[i];
    }
}

/* Factors the Newton matrix, P A = L U with partial pivoting, with the operations of SUNDIALS' own function in the same
 * order, and checks the deadline: a matrix of 1024 rows takes some tenths of a second. */
static int factor_newton_matrix(SUNLinearSolver solver, SUNMatrix A)
{
    dyn_newton_content *content = solver->content;
    for (sunindextype k = 0; k < SM_COLUMNS_D(A); k++) {
        if (!dyn_may_continue(content->ode->deadline_of_all)) return -1;
        content->dense.pivots[k] = choose_pivot_row(A, k);
        content->dense.last_flag = SM_ELEMENT_D(A, k, k) == 0 ? k + 1 : 0;
        if (content->dense.last_flag > 0) return SUNLS_LUFACT_FAIL;
        eliminate_column(A, k);
    }
    return SUNLS_SUCCESS;
}

/* Opens the dense linear solver with the function `factor_newton_matrix`. */
static bool open_solver(dyn_adaptive *a)
{
    a->solver = SUNLinSol_Dense(a->y, a->jacobian, a->context);
    if (!a->solver) return false;
    a->newton             = (dyn_newton_content){*(SUNLinearSolverContent_Dense)a->solver->content, a->ode};
    a->solver->content    = &a->newton;
    a->solver->ops->setup = factor_newton_matrix;
    return true;
}

/* Requires a new Newton matrix for every step length. By default ARKODE reuses a matrix for steps that differ by up to
 * a fifth, and accepts the first iterate based on earlier convergence. An old matrix fails where a step is cut short at
 * a boundary. */
static bool choose_pair(dyn_adaptive *a)
{
    sunindextype n = (sunindextype)a->ode->entries;
    a->jacobian    = SUNDenseMatrix(n, n, a->context);
    return a->jacobian && open_solver(a) &&
           ARKStepSetTableNum(a->arkode, ARKODE_ESDIRK547L2SA2_7_4_5, ARKODE_ERK_NONE) == ARK_SUCCESS &&
           ARKStepSetLinearSolver(a->arkode, a->solver, a->jacobian) == ARK_SUCCESS &&
           ARKStepSetJacFn(a->arkode, differentiate) == ARK_SUCCESS &&
           ARKStepSetDeltaGammaMax(a->arkode, 1e-14) == ARK_SUCCESS;
}

/* Returns the bytes of any adaptive pair, plus those of the Jacobian and the Newton matrix. */
static size_t bytes(const dyn_ode *ode)
{
    return dyn_adaptive_bytes(ode) + 2 * ode->entries * ode->entries * sizeof(double);
}

static bool open_implicit(dyn_ode *ode)
{
    return dyn_adaptive_open(ode, true, choose_pair);
}

const dyn_integrator dyn_integrator_esdirk5 = {
    .name           = "esdirk5",
    .lanes          = DYN_LANES_STATES,
    .locates_events = true,
    .is_implicit    = true,
    .stages         = 1,
    .data_bytes     = sizeof(dyn_adaptive),
    .bytes          = bytes,
    .open           = open_implicit,
    .integrate      = dyn_adaptive_integrate,
    .close          = dyn_adaptive_close,
};
