/* motion_signals.c - see motion_signals.h. */
#include "motion_signals.h"
#include <float.h>

api_instant api_instant_of(const api_evaluation *e, const api_motion *m, size_t state)
{
    const size_t last = api_states(e->query) - 1, used = state < last ? state : last, n = used % m->samples;
    api_instant  at = {.row = used / m->samples};
    at.T            = m->durations[m->durations_differ ? at.row : 0];
    at.t            = *api_state_lane(e, m->time, 1, state);
    at.fraction     = m->times ? m->times[n] / at.T : (double)n / (double)(m->samples - 1);
    return at;
}

void api_instant_signal(const api_signal *s, const api_instant *at, size_t width,
                        double *const value[API_SIGNAL_ORDERS], double *const by_duration[2])
{
    const double     t = s->stretches ? at->fraction : at->t, stretch = s->stretches ? 1 / at->T : 1;
    const double     behind = s->is_sine ? t : t + 8 * DBL_EPSILON * s->range;
    const api_moment moment = {t, behind};
    api_signal_at(s, 1, &at->row, moment, API_SIGNAL_ORDERS, value);
    for (size_t i = 0; i < width; i++) {
        value[1][i] *= stretch;
        value[2][i] *= stretch * stretch;
        by_duration[0][i] = s->stretches ? 0 : at->fraction * value[1][i];
        by_duration[1][i] = s->stretches ? -value[1][i] / at->T : at->fraction * value[2][i];
    }
}
