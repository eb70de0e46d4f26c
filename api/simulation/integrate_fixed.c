/* integrate_fixed.c - integrates with fixed steps of the classical Runge-Kutta method (integrate.h):
 *
 *     k1 = f(t, y),                     k2 = f(t + h/2, y + h/2 k1),
 *     k3 = f(t + h/2, y + h/2 k2),      k4 = f(t + h, y + h k3),
 *     y += h/6 (k1 + 2 k2 + 2 k3 + k4) */
#include "integrate.h"
#include "ode_limits.h"
#include <math.h>

enum { CHECK = 512 /* coordinates times steps between two checks of the deadline */ };

double api_fixed_steps(const api_simulation *s, double time)
{
    double steps = ceil(time / s->step * (1 - 1e-12));
    return steps > 1 ? steps : 1;
}

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
    api_ode_normalize(ode, ode->y, ode->W, ode->W);
    api_ode_finish_step(ode, t + h, ode->y, ode->W, ode->W);
    api_ode_check_range(ode, t + h);
    ode->steps++;
}

bool api_integrate_fixed(api_ode *ode, double a, double b, api_problem *problem)
{
    size_t steps = (size_t)api_fixed_steps(ode->s, b - a);
    double h     = (b - a) / (double)steps;
    for (size_t i = 0; i < steps; i++) {
        if (ode->steps % (1 + CHECK / ode->e->model->nv) == 0 &&
            !api_deadline_check(ode->e->query->input->deadline, problem))
            return false;
        step(ode, a + (double)i * h, h);
        if (!api_ode_may_continue(ode)) return api_ode_check_all(ode, problem);
    }
    api_ode_limits_evaluate(ode, b, ode->y);
    return true;
}
