/* integrate_dopri5.c - integrates by the explicit embedded pair of order 5(4) of Dormand & Prince 1980, with error
 * control (integrate_adaptive.h). */
#include "integrate_adaptive.h"

static bool choose_pair(dyn_adaptive *a)
{
    return ARKStepSetTableNum(a->arkode, ARKODE_DIRK_NONE, ARKODE_DORMAND_PRINCE_7_4_5) == ARK_SUCCESS;
}

static bool open_explicit(dyn_ode *ode)
{
    return dyn_adaptive_open(ode, false, choose_pair);
}

const dyn_integrator dyn_integrator_dopri5 = {
    .name           = "dopri5",
    .lanes          = DYN_LANES_ONE,
    .locates_events = true,
    .stages         = 1,
    .data_bytes     = sizeof(dyn_adaptive),
    .bytes          = dyn_adaptive_bytes,
    .open           = open_explicit,
    .integrate      = dyn_adaptive_integrate,
    .close          = dyn_adaptive_close,
};
