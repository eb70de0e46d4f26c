/* integrate_esdirk5.c - integrates stiff systems by the implicit embedded pair of order 5(4) ESDIRK5(4)7L[2]SA2
 * (Kennedy & Carpenter 2019) with Newton's method, with error control (integrate_adaptive.h). */
#include "integrate_adaptive.h"
#include <math.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

/* Finds the Jacobian by finite differences, one column per lane. No rate depends on the work entries. */
static int differentiate(realtype t, N_Vector y, N_Vector now, SUNMatrix to, void *arg, N_Vector a, N_Vector b,
                         N_Vector c)
{
    (void)a, (void)b, (void)c;
    api_ode      *ode = arg;
    const double *v = N_VGetArrayPointer(y), *f = N_VGetArrayPointer(now);
    size_t        W = ode->W, n = ode->entries - API_WORKS;
    double        increment[DYN_MAX_LANES];
    for (size_t first = 0; first < n; first += W) {
        api_adaptive_fill_lanes(ode, v, ode->stage_y);
        for (size_t l = 0; l < W && first + l < n; l++) {
            double *entry = &ode->stage_y[(first + l) * W + l];
            double  moved = *entry + 1.5e-8 * (1 + fabs(*entry));
            increment[l]  = moved - *entry;
            *entry        = moved;
        }
        api_ode_rate(ode, t, ode->stage_y, ode->stage_rate[0]);
        for (size_t l = 0; l < W && first + l < n; l++)
            for (size_t i = 0; i < ode->entries; i++)
                SM_ELEMENT_D(to, i, first + l) = (ode->stage_rate[0][i * W + l] - f[i]) / increment[l];
    }
    return 0;
}

/* Requires a new Newton matrix for every step length. By default ARKODE reuses a matrix for steps that differ by up to
 * a fifth, and accepts the first iterate based on earlier convergence. That fails where a step is cut short at a
 * boundary. */
static bool choose_pair(api_adaptive *a)
{
    sunindextype n = (sunindextype)a->ode->entries;
    a->jacobian    = SUNDenseMatrix(n, n, a->context);
    a->solver      = a->jacobian ? SUNLinSol_Dense(a->y, a->jacobian, a->context) : NULL;
    return a->solver && ARKStepSetTableNum(a->arkode, ARKODE_ESDIRK547L2SA2_7_4_5, ARKODE_ERK_NONE) == ARK_SUCCESS &&
           ARKStepSetLinearSolver(a->arkode, a->solver, a->jacobian) == ARK_SUCCESS &&
           ARKStepSetJacFn(a->arkode, differentiate) == ARK_SUCCESS &&
           ARKStepSetDeltaGammaMax(a->arkode, 1e-14) == ARK_SUCCESS;
}

/* Adds the Jacobian and the Newton matrix. */
static size_t bytes(const api_ode *ode)
{
    return api_adaptive_bytes(ode) + 2 * ode->entries * ode->entries * sizeof(double);
}

static void *open_implicit(api_ode *ode, api_problem *problem)
{
    return api_adaptive_open(ode, true, choose_pair, problem);
}

const api_integrator api_integrator_esdirk5 = {
    .name             = "esdirk5",
    .needs            = API_BIT(API_TOLERANCE),
    .takes            = API_BIT(API_STIFF),
    .lanes            = API_LANES_STATES,
    .locates_events   = true,
    .stages           = 1,
    .steps_per_sample = API_STEPS_PER_SAMPLE,
    .bytes            = bytes,
    .open             = open_implicit,
    .integrate        = api_adaptive_integrate,
    .close            = api_adaptive_close,
};
