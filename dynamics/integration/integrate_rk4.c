/* integrate_rk4.c - integrates by the classical Runge-Kutta method of order 4, with fixed steps (integrate_fixed.h):
 *
 *     k1 = f(t, y),                     k2 = f(t + h/2, y + h/2 k1),
 *     k3 = f(t + h/2, y + h/2 k2),      k4 = f(t + h, y + h k3),
 *     y += h/6 (k1 + 2 k2 + 2 k3 + k4) */
#include "integrate_fixed.h"

static void shift(const dyn_ode *ode, double h, const double *slope)
{
    for (size_t i = 0; i < ode->entries * ode->W; i++)
        ode->stage_y[i] = ode->y[i] + h * slope[i];
}

static void step(dyn_ode *ode, double t, double h)
{
    const dyn_ode_functions *f = ode->functions;
    double *const           *k = ode->stage_rate;
    f->rate(ode->system, t, ode->y, k[0]);
    if (ode->observed && ode->alone == 0) f->observe(ode->system, t, ode->y);
    shift(ode, 0.5 * h, k[0]);
    f->rate(ode->system, t + 0.5 * h, ode->stage_y, k[1]);
    shift(ode, 0.5 * h, k[1]);
    f->rate(ode->system, t + 0.5 * h, ode->stage_y, k[2]);
    shift(ode, h, k[2]);
    f->rate(ode->system, t + h, ode->stage_y, k[3]);
    for (size_t i = 0; i < ode->entries * ode->W; i++)
        ode->y[i] += h / 6 * ((k[0][i] + 2 * k[1][i]) + (2 * k[2][i] + k[3][i]));
}

static dyn_integration integrate(dyn_ode *ode, dyn_interval interval)
{
    return dyn_integrate_fixed(ode, interval, step);
}

const dyn_integrator dyn_integrator_rk4 = {
    .name        = "rk4",
    .lanes       = DYN_LANES_ROWS,
    .stages      = 4,
    .count_steps = dyn_fixed_steps,
    .integrate   = integrate,
};
