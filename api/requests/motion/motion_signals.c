/* motion_signals.c - finds the row, time and duration of a state (motion_signals.h). */
#include "motion_signals.h"

dyn_instant api_instant_of(const api_evaluation *e, const api_motion *m, size_t state)
{
    const size_t last = api_states(e->query) - 1, used = state < last ? state : last, n = used % m->samples;
    dyn_instant  at = {.row = used / m->samples};
    at.T            = m->durations[m->durations_differ ? at.row : 0];
    at.t            = *api_state_lane(e, m->time, 1, state);
    at.fraction     = m->times ? m->times[n] / at.T : (double)n / (double)(m->samples - 1);
    return at;
}
