/* integrate_fixed.c - integrates with fixed steps of a given method (integrate_fixed.h). */
#include "integrate_fixed.h"
#include "fixed_events.h"
#include "ode_limits.h"
#include "stiction_events.h"
#include <math.h>

enum { CHECK = 512 /* coordinates times steps between two checks of the deadline */ };

double api_fixed_steps(const api_simulation *s, double time)
{
    double steps = ceil(time / s->step * (1 - 1e-12));
    return steps > 1 ? steps : 1;
}

void api_fixed_advance(api_ode *ode, double t, double h, api_fixed_step *step)
{
    step(ode, t, h);
    api_ode_normalize(ode, ode->y, ode->W, ode->W);
    api_ode_finish_step(ode, t + h, ode->y, ode->W, ode->W);
}

/* Takes the step from t to t + h. */
static void take_step(api_ode *ode, double t, double h, api_fixed_step *step)
{
    if (ode->stiction)
        api_fixed_events_step(ode, t, h, step);
    else
        api_fixed_advance(ode, t, h, step);
    api_ode_check_range(ode, t + h);
    ode->steps++;
}

bool api_integrate_fixed(api_ode *ode, api_interval interval, api_fixed_step *step, api_problem *problem)
{
    size_t steps = (size_t)api_fixed_steps(ode->s, interval.to - interval.from);
    double h     = (interval.to - interval.from) / (double)steps;
    if (interval.starts_at_break && ode->stiction) api_stiction_events_restart(ode, interval.from);
    for (size_t i = 0; i < steps; i++) {
        if (ode->steps % (1 + CHECK / ode->e->model->nv) == 0 && !api_ode_check_time(ode, problem)) return false;
        take_step(ode, interval.from + (double)i * h, h, step);
        if (!api_ode_may_continue(ode)) return api_ode_check_all(ode, problem);
    }
    api_ode_limits_evaluate(ode, interval.to, ode->y);
    return true;
}
