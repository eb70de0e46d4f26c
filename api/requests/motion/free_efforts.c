/* free_efforts.c - see free_efforts.h. */
#include "free_efforts.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/free_coordinates.h"
#include "api/codec/number.h"

static const char *const input_fields[] = {"tau", NULL};

bool api_free_efforts_read(api_query *q, const api_node *fields, const api_motion *m, api_free_efforts *f)
{
    const api_node *input = api_node_get(fields, "input");
    const api_place at = api_place_key(NULL, "input"), tau_at = api_place_key(&at, "tau");
    api_signal_form form = {.duration = 1, .reach = m->most};
    *f                   = (api_free_efforts){.is_given = input != NULL};
    if (!api_read_free(q, fields, NULL)) return false;
    f->driven = q->driven;
    if (!input) return true;
    if (!f->driven)
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "an input is given to free coordinates: name them in free");
    if (!api_node_is(input, API_OBJECT))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, an object with tau expected",
                           api_node_kind_text(input));
    if (!api_check_keys(q, input, &at, input_fields, "an input")) return false;
    if (!api_node_get(input, "tau"))
        return api_fail_at(q->problem, &tau_at, API_MISSING_FIELD, "the input of a trajectory is tau, efforts");
    return api_signal_read(q, api_node_get(input, "tau"), &tau_at, &form, &f->signal);
}

/* Checks that the efforts of driven coordinates, which are computed, are given as 0. */
static bool check_driven(const api_evaluation *e, const api_motion *m, const api_free_efforts *f, size_t state,
                         const double *tau)
{
    for (size_t v = 0; v < e->model->nv; v++)
        if (f->driven[v] && tau[v] != 0)
            return api_fail_state(e, API_BAD_VALUE, API_INPUT, state,
                                  "%.64s is not free: its effort is found, and at sample %zu %s given instead of 0",
                                  e->model->velocity_names[v], state % m->path.samples, API_NUMBER_TEXT(tau[v]));
    return true;
}

static bool put_state(const api_evaluation *e, const api_motion *m, const api_free_efforts *f, size_t state,
                      double *room)
{
    const size_t           nv                       = e->model->nv;
    double *const          value[DYN_SIGNAL_ORDERS] = {room, room + nv, room + 2 * nv};
    double *const          change[2]                = {room + 3 * nv, room + 4 * nv};
    const dyn_motion_block block                    = api_motion_block(e, m, state / e->lanes);
    const dyn_instant      instant                  = dyn_motion_instant(&block, state % e->lanes);
    double *const          from[]                   = {value[0], value[1], change[0], change[1]};
    double *const          to[] = {e->plan->state[API_TAU], f->rates, f->by_duration, f->rates_by_duration};
    dyn_signal_at_instant(&f->signal.curve, &instant, nv, value, change);
    for (size_t k = 0; k < 4; k++)
        for (size_t v = 0; v < nv; v++)
            api_state_lane(e, to[k], nv, state)[v * e->lanes] = from[k][v];
    return state >= api_states(e->query) || check_driven(e, m, f, state, value[0]);
}

bool api_free_efforts_sample(api_plan *plan, const api_motion *m, api_free_efforts *f)
{
    const api_place      at = api_place_key(NULL, "input"), tau_at = api_place_key(&at, "tau");
    const size_t         nv = plan->query->model->nv, states = plan->blocks * plan->lanes;
    const api_evaluation e = api_evaluation_of(plan);
    if (!f->is_given) return true;
    double *room         = api_take(plan->query->pool, 5 * nv * sizeof *room);
    plan->state[API_TAU] = api_take_lanes(plan, nv);
    f->rates             = api_take_lanes(plan, nv);
    f->by_duration       = api_take_lanes(plan, nv);
    f->rates_by_duration = api_take_lanes(plan, nv);
    if (!room || !plan->state[API_TAU] || !f->rates || !f->by_duration || !f->rates_by_duration) return false;
    if (!api_signal_load(plan->query, &tau_at, &f->signal)) return false;
    for (size_t state = 0; state < states; state++) {
        if (state % m->path.samples == 0 && !api_deadline_check(plan->query->input->deadline, plan->query->problem))
            return false;
        if (!put_state(&e, m, f, state, room)) return false;
    }
    return true;
}
