/* integrator.c - allocates the memory of an integration (integrator.h). */
#include "fixed_events.h"

bool dyn_ode_open(dyn_ode *ode, const dyn_integrator *integrator, dyn_memory memory)
{
    const size_t n    = ode->entries * ode->W;
    bool         room = true;
    ode->y            = dyn_take_zeroed(memory, n, &room);
    ode->stage_y      = dyn_take_zeroed(memory, n, &room);
    ode->stage_rate   = dyn_take(memory, integrator->stages * sizeof *ode->stage_rate);
    ode->roots        = dyn_take(memory, ode->n_events * sizeof *ode->roots);
    ode->data         = dyn_take(memory, integrator->data_bytes);
    for (size_t i = 0; ode->stage_rate && i < integrator->stages; i++)
        ode->stage_rate[i] = dyn_take_zeroed(memory, n, &room);
    return room && ode->stage_rate && ode->roots && ode->data && dyn_fixed_events_open(ode, integrator, memory);
}
