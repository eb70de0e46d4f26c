/* ode.c - evaluates the equations of a simulation for integrators (ode.h). */
#include "ode.h"
#include <math.h>

void dyn_ode_observe(dyn_ode *ode, double t, const double *y)
{
    if (!ode->observed || ode->alone > 0) return;
    ode->functions->rate(ode->system, t, y, ode->stage_rate[0]);
    ode->functions->observe(ode->system, t, y);
}

bool dyn_ode_is_sound(const dyn_ode *ode)
{
    size_t l = 0;
    while (l < ode->rows && ode->fault[l].kind == DYN_FAULT_NONE)
        l++;
    return l == ode->rows;
}

int dyn_ode_find_worst(dyn_ode *ode, double t, double *acceleration)
{
    const double *qdd   = dyn_ode_velocities(ode, ode->stage_rate[0]);
    int           worst = -1;
    ode->functions->rate(ode->system, t, ode->y, ode->stage_rate[0]);
    *acceleration = 0;
    for (size_t i = 0; i < ode->nv; i++) {
        double a = fabs(qdd[i * ode->W]);
        if (!(a > *acceleration) || !isfinite(a)) continue;
        *acceleration = a;
        worst         = (int)i;
    }
    return worst;
}
