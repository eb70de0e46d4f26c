/* motion_wrenches.c - evaluate the wrenches that change with time at all samples of a motion: see motion.h. */
#include "motion.h"
#include <float.h>
#include <string.h>

/* One sample of a motion at which wrench signals are evaluated. */
typedef struct sample {
    size_t row, state;
    double t, T, fraction; /* time and duration of the motion, s; t / T */
} sample;

/* Evaluates the signal of a force or torque and its first two derivatives by time. A sample within rounding of a jump
 * of the signal gets the value after the jump. */
static void evaluate(const api_signal *s, const sample *at, double value[API_SIGNAL_ORDERS][3])
{
    double    *orders[API_SIGNAL_ORDERS] = {value[0], value[1], value[2]};
    double     t = s->stretches ? at->fraction : at->t, stretch = s->stretches ? 1 / at->T : 1;
    double     behind = s->is_sine ? t : t + 8 * DBL_EPSILON * s->range;
    api_moment moment = {t, behind};
    api_signal_at(s, 1, &at->row, moment, API_SIGNAL_ORDERS, orders);
    for (size_t i = 0; i < 3; i++) {
        value[1][i] *= stretch;
        value[2][i] *= stretch * stretch;
    }
}

/* Writes three numbers into the lane of a state, at entries `first` to `first` + 2 of `entries`. */
static void put(const api_evaluation *e, double *lanes, size_t entries, size_t first, size_t state, const double *v)
{
    double *lane = api_state_lane(e, lanes, entries, state);
    for (size_t i = 0; i < 3; i++)
        lane[(first + i) * e->lanes] = v[i];
}

static void put_signal(const api_evaluation *e, const api_motion *m, const api_wrench_signal *w, const sample *at)
{
    size_t n = e->query->scene.n_wrenches, first = 6 * w->wrench + 3 * w->part;
    double value[API_SIGNAL_ORDERS][3], by_duration[2][3];
    evaluate(&w->signal, at, value);
    for (size_t i = 0; i < 3; i++) {
        by_duration[0][i] = w->signal.stretches ? 0 : at->fraction * value[1][i];
        by_duration[1][i] = w->signal.stretches ? -value[1][i] / at->T : at->fraction * value[2][i];
    }
    put(e, e->plan->wrenches, 9 * n, 9 * w->wrench + 3 * w->part, at->state, value[0]);
    put(e, e->plan->wrench_rates, 6 * n, first, at->state, value[1]);
    put(e, m->wrench_by_duration, 6 * n, first, at->state, by_duration[0]);
    put(e, m->wrench_rate_by_duration, 6 * n, first, at->state, by_duration[1]);
}

static void put_sample(const api_evaluation *e, const api_motion *m, const sample *at)
{
    for (size_t i = 0; i < m->wrenches.n; i++)
        put_signal(e, m, &m->wrenches.signal[i], at);
}

/* Takes lanes of zeros, 6 numbers for each wrench, because the rate of a constant wrench stays zero. Returns NULL if
 * there is no memory. */
static double *take_rates(api_plan *plan)
{
    size_t  entries = 6 * plan->query->scene.n_wrenches;
    double *lanes   = api_take_lanes(plan, entries);
    if (lanes) memset(lanes, 0, entries * plan->blocks * plan->lanes * sizeof *lanes);
    return lanes;
}

bool api_motion_sample_wrenches(api_plan *plan, api_motion *m)
{
    if (m->wrenches.n == 0) return true;
    plan->wrench_rates         = take_rates(plan);
    m->wrench_by_duration      = take_rates(plan);
    m->wrench_rate_by_duration = take_rates(plan);
    if (!plan->wrench_rates || !m->wrench_by_duration || !m->wrench_rate_by_duration) return false;
    if (!api_wrench_signals_load(plan->query, &m->wrenches)) return false;
    api_evaluation e      = api_evaluation_of(plan);
    size_t         states = api_states(plan->query), room = plan->blocks * plan->lanes;
    for (size_t state = 0; state < room; state++) { /* the last state also fills the unused lanes of its block */
        sample at = {.state = state};
        size_t n  = (state < states ? state : states - 1) % m->samples;
        if (n == 0 && !api_deadline_check(plan->query->input->deadline, plan->query->problem)) return false;
        at.row      = (state < states ? state : states - 1) / m->samples;
        at.T        = m->durations[m->durations_differ ? at.row : 0];
        at.t        = *api_state_lane(&e, m->time, 1, state);
        at.fraction = m->times ? m->times[n] / at.T : (double)n / (double)(m->samples - 1);
        put_sample(&e, m, &at);
    }
    return true;
}
