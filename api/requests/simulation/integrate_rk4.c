/* integrate_rk4.c - integrates by the classical Runge-Kutta method of order 4, with fixed steps (integrate_fixed.h):
 *
 *     k1 = f(t, y),                     k2 = f(t + h/2, y + h/2 k1),
 *     k3 = f(t + h/2, y + h/2 k2),      k4 = f(t + h, y + h k3),
 *     y += h/6 (k1 + 2 k2 + 2 k3 + k4) */
#include "integrate_fixed.h"
#include "ode_limits.h"

static void shift(const api_ode *ode, double h, const double *slope)
{
    for (size_t i = 0; i < ode->entries * ode->W; i++)
        ode->stage_y[i] = ode->y[i] + h * slope[i];
}

static void step(api_ode *ode, double t, double h)
{
    double *const *k = ode->stage_rate;
    api_ode_rate(ode, t, ode->y, k[0]);
    api_ode_limits_compare(ode, t, ode->y + ode->e->model->nq * ode->W);
    shift(ode, 0.5 * h, k[0]);
    api_ode_rate(ode, t + 0.5 * h, ode->stage_y, k[1]);
    shift(ode, 0.5 * h, k[1]);
    api_ode_rate(ode, t + 0.5 * h, ode->stage_y, k[2]);
    shift(ode, h, k[2]);
    api_ode_rate(ode, t + h, ode->stage_y, k[3]);
    for (size_t i = 0; i < ode->entries * ode->W; i++)
        ode->y[i] += h / 6 * ((k[0][i] + 2 * k[1][i]) + (2 * k[2][i] + k[3][i]));
}

static bool integrate(api_ode *ode, void *data, api_interval interval, api_problem *problem)
{
    (void)data;
    return api_integrate_fixed(ode, interval, step, problem);
}

const api_integrator api_integrator_rk4 = {
    .name        = "rk4",
    .needs       = API_BIT(API_STEP),
    .lanes       = API_LANES_ROWS,
    .stages      = 4,
    .count_steps = api_fixed_steps,
    .integrate   = integrate,
};
