/* decoded_cost.c - see decoded_cost.h. */
#include "decoded_cost.h"
#include "api/requests/fields/operation.h"
#include "api/base/work/deadline.h"
#include <math.h>

static const double least_factor = 0.25; /* least factor of a correction learnt from other requests */
enum {
    TOLERATED = 3 /* a decoded estimate up to this many times the first one is accepted without another decision */
};

/* Returns the numbers of one state in the answer: those of all outputs that are selected. */
static double answered_numbers(const api_query *q, const api_selection *selected)
{
    double numbers = 0;
    for (size_t i = 0; api_has_output(selected->operation, i); i++)
        if (selected->outputs & API_BIT(i)) numbers += (double)api_output_entries(q->model, selected, i);
    return numbers;
}

/* Seconds of processor time for the decoded states, without reading, which the first estimate knows from the length of
 * the body. */
static double decoded_seconds(const api_plan *plan)
{
    const api_query *q       = plan->query;
    const api_model *m       = q->model;
    double           seconds = 0;
    const double     write   = q->call->api->calibration.write[api_media_format(q->call->media)];
    for (size_t i = 0; i < q->n_selected; i++) {
        const api_operation *operation = q->selected[i].operation;
        double bodies  = operation->weight * (double)m->n_bodies + operation->square_weight * (double)(m->nv * m->nv);
        double numbers = answered_numbers(q, &q->selected[i]) * write;
        seconds += (double)api_states(q) * (bodies * q->call->api->calibration.body + numbers);
        if (operation->decoded_seconds) seconds += operation->decoded_seconds(q, &q->selected[i]);
    }
    return seconds;
}

bool api_admit_decoded(const api_plan *plan)
{
    api_call           *call     = plan->query->call;
    const api_deadline *deadline = plan->query->input->deadline;
    if (!deadline || !deadline->scheduler || !deadline->scheduler->admit || call->estimated <= 0) return true;
    double estimated = decoded_seconds(plan);
    double seconds   = fmax(api_cost_feedback_apply(&call->api->cost_feedback, call->operation_number,
                                                    api_media_format(call->media), estimated),
                            least_factor * estimated);
    if (seconds <= TOLERATED * call->expected)
        return true; /* also true when a worker runs the request later: `expected` is then the estimate below */
    call->estimated = estimated;
    call->expected  = seconds;
    call->deferred  = !deadline->scheduler->admit(deadline->scheduler->arg, seconds);
    return !call->deferred;
}
