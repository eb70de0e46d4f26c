/* motion_wrenches.c - evaluate the wrenches that change with time at all samples of a motion: see motion.h. */
#include "motion.h"
#include <string.h>

/* Writes three numbers into the lane of a state, at entries `first` to `first` + 2 of `entries`. */
static void put(const api_evaluation *e, double *lanes, size_t entries, size_t first, size_t state, const double *v)
{
    double *lane = api_state_lane(e, lanes, entries, state);
    for (size_t i = 0; i < 3; i++)
        lane[(first + i) * e->lanes] = v[i];
}

static void put_signal(const api_evaluation *e, const api_motion *m, const api_wrench_signal *w, const dyn_instant *at,
                       size_t state)
{
    const size_t  n = e->query->scene.n_wrenches, first = 6 * w->wrench + 3 * w->part;
    double        value[DYN_SIGNAL_ORDERS][3], by_duration[2][3];
    double *const values[DYN_SIGNAL_ORDERS] = {value[0], value[1], value[2]};
    double *const changes[2]                = {by_duration[0], by_duration[1]};
    dyn_signal_at_instant(&w->signal.curve, at, 3, values, changes);
    put(e, e->plan->wrenches, 9 * n, 9 * w->wrench + 3 * w->part, state, value[0]);
    put(e, e->plan->wrench_rates, 6 * n, first, state, value[1]);
    put(e, m->wrench_by_duration, 6 * n, first, state, by_duration[0]);
    put(e, m->wrench_rate_by_duration, 6 * n, first, state, by_duration[1]);
}

/* Reserves lanes of zeros, 6 numbers for each wrench, because the rate of a constant wrench stays zero. Returns NULL if
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
    const api_evaluation e    = api_evaluation_of(plan);
    const size_t         room = plan->blocks * plan->lanes;
    for (size_t state = 0; state < room; state++) { /* the last state also fills the unused lanes of its block */
        const dyn_motion_block block   = api_motion_block(&e, m, state / e.lanes);
        const dyn_instant      instant = dyn_motion_instant(&block, state % e.lanes);
        if (state % m->path.samples == 0 && !api_deadline_check(plan->query->input->deadline, plan->query->problem))
            return false;
        for (size_t i = 0; i < m->wrenches.n; i++)
            put_signal(&e, m, &m->wrenches.signal[i], &instant, state);
    }
    return true;
}
