/* integrate_fixed.c - the classical method of Runge and Kutta:
 *
 *     k1 = f(t, y)              k2 = f(t + h/2, y + h/2 k1)
 *     k4 = f(t + h, y + h k3)   k3 = f(t + h/2, y + h/2 k2)      y += h/6 (k1 + 2 k2 + 2 k3 + k4) */
#include "integrate.h"
#include "ode_limits.h"
#include <math.h>

enum { LOOK = 512 /* coordinates to step between two looks at the deadline */ };

double api_fixed_steps(const api_simulation *s, double time)
{
    double steps = ceil(time / s->step * (1 - 1e-12));
    return steps > 1 ? steps : 1;
}

static void shift(const api_ode *p, double h, const double *slope)
{
    for (size_t i = 0; i < p->entries * p->W; i++)
        p->at[i] = p->y[i] + h * slope[i];
}

static void step(api_ode *p, double t, double h)
{
    double *const *k = p->slope;
    api_ode_rate(p, t, p->y, k[0]);
    api_ode_limits_compare(p, t, p->y + p->e->model->nq * p->W);
    shift(p, 0.5 * h, k[0]);
    api_ode_rate(p, t + 0.5 * h, p->at, k[1]);
    shift(p, 0.5 * h, k[1]);
    api_ode_rate(p, t + 0.5 * h, p->at, k[2]);
    shift(p, h, k[2]);
    api_ode_rate(p, t + h, p->at, k[3]);
    for (size_t i = 0; i < p->entries * p->W; i++)
        p->y[i] += h / 6 * ((k[0][i] + 2 * k[1][i]) + (2 * k[2][i] + k[3][i]));
    api_ode_normalize(p, p->y, p->W, p->W);
    api_ode_finish_step(p, t + h, p->y, p->W, p->W);
    api_ode_check_range(p, t + h);
    p->steps++;
}

bool api_integrate_fixed(api_ode *p, double a, double b, api_problem *problem)
{
    size_t steps = (size_t)api_fixed_steps(p->s, b - a);
    double h     = (b - a) / (double)steps;
    for (size_t i = 0; i < steps; i++) {
        if (p->steps % (1 + LOOK / p->e->model->nv) == 0 && !api_deadline_check(p->e->input->deadline, problem))
            return false;
        step(p, a + (double)i * h, h);
        if (!api_ode_may_continue(p)) return api_ode_check_all(p, problem);
    }
    api_ode_limits_evaluate(p, b, p->y);
    return true;
}
