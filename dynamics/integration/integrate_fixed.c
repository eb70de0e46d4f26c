/* integrate_fixed.c - integrates with fixed steps of a given method (integrate_fixed.h). */
#include "integrate_fixed.h"
#include "fixed_events.h"
#include <math.h>

enum { CHECK = 512 /* coordinates times steps between two checks of the deadline */ };

double dyn_fixed_steps(double step, double time)
{
    double steps = ceil(time / step * (1 - 1e-12));
    return steps > 1 ? steps : 1;
}

void dyn_fixed_advance(dyn_ode *ode, double t, double h, dyn_fixed_step *step)
{
    step(ode, t, h);
    ode->functions->normalize(ode->system, ode->y, ode->W, ode->W);
    ode->functions->finish_step(ode->system, t + h, ode->y, ode->W, ode->W);
}

/* Takes the step from t to t + h, divided at events if the ODE has any. */
static void take_step(dyn_ode *ode, double t, double h, dyn_fixed_step *step)
{
    if (ode->n_events > 0)
        dyn_fixed_events_step(ode, t, h, step);
    else
        dyn_fixed_advance(ode, t, h, step);
    ode->functions->check_range(ode->system, t + h);
    ode->steps++;
}

dyn_integration dyn_integrate_fixed(dyn_ode *ode, dyn_interval interval, dyn_fixed_step *step)
{
    size_t steps = (size_t)dyn_fixed_steps(ode->step, interval.to - interval.from);
    double h     = (interval.to - interval.from) / (double)steps;
    if (interval.starts_at_break && ode->n_events > 0) ode->functions->restart(ode->system, interval.from);
    for (size_t i = 0; i < steps; i++) {
        const double t = interval.from + (double)i * h;
        if (ode->steps % (1 + CHECK / ode->nv) == 0 && !dyn_may_continue(ode->deadline))
            return (dyn_integration){DYN_INTEGRATION_LATE, t};
        take_step(ode, t, h, step);
        if (ode->n_events > 0 &&
            !dyn_may_continue(ode->deadline)) /* the deadline may have ended a divided step between its parts */
            return (dyn_integration){DYN_INTEGRATION_LATE, t};
        if (!ode->functions->may_continue(ode->system)) return (dyn_integration){DYN_INTEGRATION_FAULTY, t};
    }
    dyn_ode_observe(ode, interval.to, ode->y);
    return (dyn_integration){DYN_INTEGRATION_DONE, interval.to};
}
