/* gradient_outputs.c - sums gradients over the states of a request: see gradient_outputs.h. */
#include "gradient_outputs.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/base/work/deadline.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

enum { GRAVITY = 3, LOOK = 4096 /* numbers between two checks of the deadline */ };

bool api_gradient_read(api_query *q, api_selection *selected, size_t first)
{
    const api_set      of_all = API_BIT(first + API_SUM_PARAMETERS) | API_BIT(first + API_SUM_GRAVITY);
    api_gradient_sums *sums   = selected->options;
    *sums                     = (api_gradient_sums){.first = first};
    if (selected->outputs & of_all) selected->all_in_lanes = true;
    return !q->model->loops || api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                                        "gradients are for models without loops, and %s has loops", q->model->name);
}

/* Allocates memory for a sum of `n` numbers if `output` is selected, and lanes for its terms. */
static bool take_sum(api_plan *plan, api_selection *selected, size_t output, size_t terms, double **sum)
{
    const api_query *q = plan->query;
    const size_t     n = api_output_entries(q->model, selected, terms);
    if (!(selected->outputs & API_BIT(output))) return true;
    *sum = api_take(q->pool, n * sizeof **sum);
    if (!*sum) return false;
    memset(*sum, 0, n * sizeof **sum);
    return selected->result[terms] || (selected->result[terms] = api_take_lanes(plan, n));
}

bool api_gradient_prepare(api_plan *plan, api_selection *selected)
{
    api_gradient_sums *sums  = selected->options;
    const size_t       first = sums->first;
    return take_sum(plan, selected, first + API_SUM_PARAMETERS, first + API_BY_PARAMETERS, &sums->parameters) &&
           take_sum(plan, selected, first + API_SUM_GRAVITY, first + API_BY_GRAVITY, &sums->gravity);
}

/* Adds the lanes of output `terms` of all states that have not failed. */
static bool sum_states(const api_evaluation *e, const api_selection *selected, size_t terms, double *sum)
{
    const api_query     *q = e->query;
    const size_t         n = api_output_entries(e->model, selected, terms), states = api_answered_states(q);
    const unsigned char *failed = api_failed_rows_marks(e->plan->failed_rows, (int)(selected - q->selected));
    for (size_t state = 0, since = 0; sum && state < states; state++, since += n) {
        if (since >= LOOK && !api_deadline_check(q->input->deadline, q->problem)) return false;
        since = since < LOOK ? since : 0;
        if (failed && failed[state]) continue;
        const double *lane = api_state_lane(e, selected->result[terms], n, state);
        for (size_t i = 0; i < n; i++)
            sum[i] += lane[i * e->lanes];
    }
    for (size_t i = 0; sum && i < n; i++)
        if (!isfinite(sum[i]))
            return api_fail(q->problem, API_RESULT_NOT_FINITE, NULL,
                            "a sum of gradients over the batch is not finite: the figures are too large");
    return true;
}

bool api_gradient_finish(const api_evaluation *e, const api_selection *selected)
{
    const api_gradient_sums *sums = selected->options;
    return sum_states(e, selected, sums->first + API_BY_PARAMETERS, sums->parameters) &&
           sum_states(e, selected, sums->first + API_BY_GRAVITY, sums->gravity);
}

/* At the velocities g the time derivative of a quaternion r is r (g, 0) / 2, and that of a position is R g. */
void api_gradient_put_entries(const api_evaluation *e, const api_selection *selected, const double *by_q, size_t block)
{
    const api_gradient_sums *sums    = selected->options;
    const dyn_model         *m       = e->model->dyn;
    const size_t             W       = e->lanes;
    const double            *q       = api_state_block(e, API_Q, block);
    double                  *entries = api_result_block(e, selected, sums->first + API_BY_Q_ENTRIES, block);
    for (size_t i = 0; entries && i < m->n_bodies; i++) {
        const dyn_body *b          = &m->body[i];
        const size_t    first      = (size_t)b->joint.q * W;
        const int       quaternion = dyn_quaternion_offset(b);
        dyn_coordinates_rate(b, q + first, by_q + (size_t)b->joint.v * W, W, entries + first);
        if (quaternion < 0) continue;
        for (size_t k = 0; k < 4 * W; k++)
            entries[first + (size_t)quaternion * W + k] *= 4;
    }
}

void api_gradient_emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_gradient_sums *sums       = selected->options;
    const bool               parameters = output == sums->first + API_SUM_PARAMETERS;
    const size_t             n          = parameters ? 10 * plan->query->model->n_bodies : GRAVITY;
    const double            *sum        = parameters ? sums->parameters : sums->gravity;
    if (to->buffer && api_failed_rows_all(plan->failed_rows))
        api_emit_null(to);
    else
        api_emit_numbers(to, sum, 1, &n);
}

size_t api_friction_spare(const api_model *model, const api_selection *selected, size_t output)
{
    return selected->outputs & API_BIT(output) ? 2 * model->nv : 0; /* efforts without friction, and multipliers */
}

void api_friction_put(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                      const api_friction_state *state, double *spare)
{
    const size_t n           = e->model->nv * e->lanes;
    double      *multipliers = spare + n, *gradient = api_result_block(e, selected, output, block);
    dyn_scene    rigid = e->query->scene;
    if (!gradient) return;
    rigid.terms &= ~(unsigned)DYN_FRICTION;
    e->kernels->inverse_dynamics(
        &rigid, e->workspace,
        &(dyn_inverse_dynamics){
            .q = state->q, .qd = state->qd, .qdd = state->qdd, .wrenches = state->wrenches, .tau = spare},
        1);
    for (size_t i = 0; i < n; i++)
        multipliers[i] = state->sign * state->multipliers[i];
    e->kernels->friction_gradient(
        &e->query->scene, e->workspace,
        &(dyn_friction_gradient){.qd = state->qd, .T = spare, .multipliers = multipliers, .gradient = gradient}, 1);
}
