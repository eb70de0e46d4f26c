/* cost.c - estimate the seconds that a request takes, from the machine's calibration (calibration.h) and a peek at
 * the body (peek.h), before the body is decoded. */
#include "cost.h"
#include "api/requests/operations/operation_list.h"
#include "dynamics/loops/loops.h"
#include "dynamics/contact/ground_reaction.h"
#include "api/metrics.h"
#include "peek.h"
#include <math.h>

enum { NUMBER_BYTES = 20 /* bytes of a number in JSON, approximately */ };
/* Returns the seconds of closing the loops of one state. The solver follows a line in the actuated coordinates from the
 * reference to the state, with a number of steps proportional to its length. The largest of the first entries of q
 * estimates that length. */
static double closing_cost(const api_call *call, const api_input *input)
{
    enum { LOOKED_AT = 16, STEPS = 8 /* least number of steps of the solver along the line */, STEPS_PER_RADIAN = 4 };
    const api_model *m      = call->model;
    double           travel = 0;
    if (!m->loops) return 0;
    for (size_t v = 0; v < m->loops->nv; v++)
        travel = fmax(travel, m->loops->travel[v]);
    double length = travel * fmin(api_peek_largest(call, input, API_Q, LOOKED_AT), DYN_MAX_ANGLE);
    return (STEPS + STEPS_PER_RADIAN * length) * api_closing_step_seconds(m);
}

/* Sets the extents of outputs to usual values, because the request is not decoded yet. */
static void set_usual_extents(const api_model *m, api_selection *selected)
{
    api_set_extent(selected, API_SELECTED_FRAMES, m->n_frames);
    api_set_extent(selected, API_SELECTED_AXES, API_FRAME_AXES);
    api_set_extent(selected, API_SUPPORT, 4);
    api_set_extent(selected, API_CONTACTS, DYN_FEET);
    api_set_extent(selected, API_HELD_FRAMES, DYN_FEET);
    api_set_extent(selected, API_FIXED_POINTS, 1);
    api_set_extent(selected, API_JOINT_LIMITS, 3 * m->nv);
    api_set_extent(selected, API_SPLINE_KNOTS, 12);
}

/* Returns the seconds of an operation per state. Adds to `*once` the seconds of the work that is done once per
 * request. */
static double state_cost(const api_call *call, const api_input *input, const api_operation *operation, double *once)
{
    const api_calibration *calibration = &call->api->calibration;
    const api_model       *m           = call->model;
    bool                   chosen      = api_body_mentions(input, api_field_names[API_OUTPUTS]);
    api_selection          selected    = {.operation = operation};
    double                 numbers     = 0;
    double bodies = operation->weight * (double)m->n_bodies + operation->square_weight * (double)(m->nv * m->nv);
    set_usual_extents(m, &selected);
    for (size_t i = 0; api_has_output(operation, i); i++) {
        const api_output *output = &operation->outputs[i];
        bool              named  = chosen && !output->by_default && api_body_mentions(input, output->name);
        if ((named || operation->finish) && operation->once && *once == 0) *once = operation->once(m);
        if (named || output->by_default) numbers += (double)api_output_entries(m, &selected, i);
    }
    double write = calibration->write[api_media_format(call->media)];
    if (call->media == API_MEDIA_JSON) write += NUMBER_BYTES * calibration->compress[call->coding];
    double more = operation->state_seconds ? operation->state_seconds(call, input) : 0;
    return bodies * calibration->body + more + numbers * write;
}

/* Estimates the number of states: one per position vector that fits the body. A motion has `samples` states instead,
 * times a factor for its control points. More states than the limit are refused without evaluation, so the limit
 * bounds the estimate. */
static double estimate_states(const api_call *call, const api_input *input)
{
    double entries = api_peek_positions(call, input), samples = 0;
    if (call->operation && call->operation->takes & API_BIT(API_SAMPLES))
        samples = api_peek_number(call, input, API_SAMPLES);
    return fmin(samples > 0 ? samples * (1 + entries / 16) : 1 + entries, (double)call->api->limits.rows);
}

/* Returns the seconds to build the model of a request with locked joints. The model of a short document takes less than
 * a millisecond and may be in the cache: its time counts as none. */
static double locking_cost(const api_call *call, const api_input *input)
{
    enum {
        SHORT    = 8192 /* bytes; the time to build a shorter document counts as none */,
        READINGS = 12 /* time to build, per time to parse the document */
    };
    if (call->model->document_length < SHORT || !api_body_mentions(input, api_field_names[API_LOCKED])) return 0;
    return READINGS * call->api->calibration.parse * (double)call->model->document_length;
}

static double operation_cost(const api_call *call, const api_input *input)
{
    double each = 0, all = 0, once = 0;
    if (call->operation) all = state_cost(call, input, call->operation, &once);
    for (size_t i = 0; !call->operation && api_operations[i]; i++) {
        if (api_operations[i]->alone) continue;
        double cost = state_cost(call, input, api_operations[i], &once);
        all += cost;
        if (api_body_mentions(input, api_operations[i]->name)) each += cost;
    }
    if (call->operation && call->operation->request_seconds) once += call->operation->request_seconds(call, input);
    once += locking_cost(call, input);
    return once + estimate_states(call, input) * (closing_cost(call, input) + (each > 0 ? each : all));
}

double api_estimate_cost(api_call *call, const char *body, size_t length)
{
    const api_coded        coded       = {call->body_coding, body, length, NULL};
    const bool             is_coded    = call->body_coding != API_CODING_NONE && !call->expanded.bytes;
    api_input              input       = {.body = body, .length = length};
    const api_calibration *calibration = &call->api->calibration;
    bool                   model       = call->method == API_PUT; /* a model is parsed, checked and expanded */
    if (is_coded) input = (api_input){.length = api_expand_guess(&coded, call->api->limits.body)};
    double seconds = 5e-6 + (double)input.length * (model ? 4 * calibration->parse : calibration->read[call->content]);
    if (call->wants_coding) return seconds + (double)call->reply.length * calibration->compress[call->coding];
    if (call->wants_body && call->method == API_GET) /* the model is written as a file */
        return seconds + 40 * calibration->parse * (double)call->model->document_length;
    if (!call->wants_body || call->method != API_POST) return seconds;
    call->estimated       = seconds + operation_cost(call, &input);
    double least          = call->operation ? call->operation->least_seconds : 0;
    double expected       = api_cost_feedback_apply(&call->api->cost_feedback, call->operation_number,
                                                    api_media_format(call->media), call->estimated);
    return call->expected = expected > least ? expected : least;
}

/* True if the time of a request corrects later estimates. A request with a problem has stopped early, so its time
 * counts only if it is longer than the estimate. */
static bool teaches(const api_call *call, double took)
{
    return call->reply.status == 200 || took > call->expected;
}

void api_cost_learn(const api_call *call)
{
    double took = 1e-9 * (double)((int64_t)(call->stamps.ended - call->stamps.began) + call->helped);
    if (call->estimated <= 0 || !teaches(call, took)) return;
    if (took > 0)
        api_metric_observe(API_METRIC_ESTIMATE_RATIO, API_NO_LABELS,
                           (uint64_t)(1e3 * fmin(call->expected / took, 1e6)));
    api_cost_feedback_update(&call->api->cost_feedback, call->operation_number, api_media_format(call->media),
                             call->estimated, took);
}
