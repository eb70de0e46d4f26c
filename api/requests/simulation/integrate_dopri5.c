/* integrate_dopri5.c - integrates by the explicit embedded pair of order 5(4) of Dormand & Prince 1980, with error
 * control (integrate_adaptive.h). */
#include "integrate_adaptive.h"

static bool choose_pair(api_adaptive *a)
{
    return ARKStepSetTableNum(a->arkode, ARKODE_DIRK_NONE, ARKODE_DORMAND_PRINCE_7_4_5) == ARK_SUCCESS;
}

static void *open_explicit(api_ode *ode, api_problem *problem)
{
    return api_adaptive_open(ode, false, choose_pair, problem);
}

const api_integrator api_integrator_dopri5 = {
    .name             = "dopri5",
    .needs            = API_BIT(API_TOLERANCE),
    .lanes            = API_LANES_ONE,
    .locates_events   = true,
    .stages           = 1,
    .steps_per_sample = API_STEPS_PER_SAMPLE,
    .bytes            = api_adaptive_bytes,
    .open             = open_explicit,
    .integrate        = api_adaptive_integrate,
    .close            = api_adaptive_close,
};
