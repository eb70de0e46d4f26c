/* cost.c - what a request may cost, and the rates of this machine: each is the best of a few short runs, since noise
 * only ever adds. */
#include "compress.h"
#include "cost.h"
#include "glance.h"
#include "api/operations/ground.h"
#include "api/simulation/integrate.h"
#include "api/wire/json.h"
#include "api/model/loops.h"
#include "api/wire/node_read.h"
#include "api/wire/number.h"
#include "api/evaluation/operation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, NUMBERS = 1000, BODIES = 8, BLOCKS = 16 };

static double now(void)
{
    return 1e-9 * (double)api_now();
}

static double less(double a, double b)
{
    return b < a ? b : a;
}

/* An array of full-length numbers, as sensors and planners send them. */
static void sample(api_media media, api_buffer *b)
{
    api_emit e;
    api_emit_to(&e, media, b);
    double numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (double)(i + 1) / 7;
    api_emit_numbers(&e, numbers, 1, (size_t[]){NUMBERS});
}

static void measure_coding(const api_buffer *text, api_coding coding, api_rates *rates)
{
    api_buffer  b;
    api_problem problem;
    api_problem_clear(&problem);
    api_buffer_init(&b, api_compress_bound(coding, text->length));
    double start = now();
    if (api_compress(coding, text->data, text->length, NULL, &b, &problem))
        rates->code[coding] = less(rates->code[coding], (now() - start) / (double)text->length);
    api_buffer_free(&b);
}

static void measure_write(api_media media, api_buffer *b, api_rates *rates)
{
    api_buffer_init(b, 64 * NUMBERS);
    double start = now();
    sample(media, b);
    rates->write[media] = less(rates->write[media], (now() - start) / NUMBERS);
}

static void measure_read(api_media media, const api_buffer *b, api_rates *rates)
{
    api_problem problem = {0};
    api_scratch scratch = {0};
    api_budget  budget  = {.limit = SIZE_MAX};
    api_share   share   = {&budget, 0};
    api_pool    pool    = {&share, &scratch, &problem, 0, 0};
    api_reading how     = {.pool = &pool, .nesting = 4};
    api_node    root;
    double      numbers[NUMBERS], start = now();
    if (!b->failed && api_read_request(&how, media, b->data, b->length, &root)) {
        api_node_numbers(&root, 0, NUMBERS, numbers);
        rates->read[media] = less(rates->read[media], (now() - start) / (double)b->length);
    }
    api_scratch_free(&scratch);
}

static void measure_parse(const api_buffer *b, api_rates *rates)
{
    api_problem problem;
    api_problem_clear(&problem);
    double  start = now();
    json_t *read  = b->failed ? NULL : api_json_parse(b->data, b->length, 2, &problem);
    json_decref(read);
    if (read) rates->parse = less(rates->parse, (now() - start) / (double)b->length);
}

static void measure_text(api_rates *rates)
{
    for (int run = 0; run < RUNS; run++) {
        api_buffer b;
        measure_write(API_MEDIA_CBOR, &b, rates);
        measure_read(API_MEDIA_CBOR, &b, rates);
        api_buffer_free(&b);
        measure_write(API_MEDIA_JSON, &b, rates);
        measure_read(API_MEDIA_JSON, &b, rates);
        measure_parse(&b, rates);
        for (api_coding coding = API_CODING_ZSTD; !b.failed && coding < API_CODING_COUNT; coding++)
            measure_coding(&b, coding, rates);
        api_buffer_free(&b);
    }
}

/* A chain of links of unit mass about alternating axes. */
static dyn_model *chain(void)
{
    const dyn_pose  none = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link        links[BODIES];
    dyn_description description = {.gravity = {0, 0, -9.81}, .n_links = BODIES, .links = links};
    dyn_model      *model       = NULL;
    for (int i = 0; i < BODIES; i++) {
        links[i] = (dyn_link){.parent = i - 1, .joint = DYN_REVOLUTE, .before = none, .after = none, .ratio = 1};
        links[i].axis[i % 3] = 1;
        links[i].before.p[2] = 0.2;
        links[i].inertia     = (dyn_inertia){.mass = 1, .about_com = {0.1, 0, 0, 0.1, 0, 0.1}};
    }
    return dyn_model_build(&description, &model, NULL) == DYN_OK ? model : NULL;
}

static void measure_kernel(const dyn_kernels *kernels, api_rates *rates)
{
    dyn_model *model  = chain();
    size_t     states = (size_t)(BLOCKS * kernels->lanes), bytes = states * BODIES * sizeof(double);
    double    *q = aligned_alloc(DYN_ALIGN, bytes), *tau = aligned_alloc(DYN_ALIGN, bytes);
    size_t     workspace_bytes = model ? kernels->workspace_size(model) : 0;
    void      *workspace       = aligned_alloc(DYN_ALIGN, (workspace_bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN);
    if (model && q && tau && workspace) {
        dyn_scene            scene = {.model = model, .gravity = {0, 0, -9.81}, .terms = DYN_ALL_TERMS};
        dyn_inverse_dynamics io    = {.q = q, .qd = q, .qdd = q, .tau = tau};
        for (size_t i = 0; i < states * BODIES; i++)
            q[i] = 0.5;
        for (int run = 0; run < RUNS; run++) {
            double start = now();
            kernels->inverse_dynamics(&scene, workspace, &io, BLOCKS);
            rates->body = less(rates->body, (now() - start) / (double)(states * BODIES));
        }
    }
    free(workspace);
    free(tau);
    free(q);
    dyn_model_free(model);
}

api_rates api_rates_measure(const dyn_kernels *kernels)
{
    api_rates rates = {/* guesses that a measurement only lowers */
                       .parse = 100e-9,
                       .read  = {[API_MEDIA_JSON] = 100e-9, [API_MEDIA_CBOR] = 100e-9},
                       .write = {[API_MEDIA_JSON] = 200e-9, [API_MEDIA_CBOR] = 20e-9},
                       .code  = {[API_CODING_ZSTD] = 50e-9, [API_CODING_GZIP] = 100e-9},
                       .body  = 100e-9};
    measure_text(&rates);
    measure_kernel(kernels, &rates);
    return rates;
}

/* --- a request before it is read -------------------------------------------------------------------------------- */

enum { NUMBER_BYTES = 20 /* about, in JSON */ };
enum {
    STEP   = 24 /* of a simulation, in costs of inverse dynamics */,
    STAGES = 5 /* of it */,
    GUESS  = 100 /* steps for each sample */
};

/* Seconds of closing the loops of a state: some steps of Newton's method, each a factorization of what is open by the
 * passive coordinates, one number and one state at a time. */
static double closing_cost(const api_model *m)
{
    enum { STEPS = 8 };
    const double begun = 2e-6, product = 1.5e-9;
    if (!m->loops) return 0;
    double rows = (double)m->loops->rows, passive = (double)m->loops->n_passive;
    return STEPS * (begun + product * rows * passive * (rows + passive));
}

/* Seconds for one state of an operation; adds those that it takes once. */
static double state_cost(const api_call *call, const api_input *input, const api_operation *operation, double *once)
{
    const api_rates *rates   = &call->api->rates;
    const api_model *m       = call->model;
    bool             chosen  = api_mentions(input, api_field_names[API_OUTPUTS]);
    api_asked        asked   = {.operation  = operation,
                                .n_frames   = m->n_frames,
                                .n_axes     = API_FRAME_AXES,
                                .support    = 4,
                                .n_contacts = API_FEET,
                                .n_held     = API_FEET};
    double           numbers = 0;
    double bodies = operation->weight * (double)m->n_bodies + operation->square_weight * (double)(m->nv * m->nv);
    if (operation == &api_forward_dynamics && api_mentions(input, api_field_names[API_HELD_FIELD]))
        bodies += api_impact.weight * (double)m->n_bodies + api_impact.square_weight * (double)(m->nv * m->nv);
    for (size_t i = 0; api_has_output(operation, i); i++) {
        const api_output *output = &operation->outputs[i];
        bool              named  = chosen && !output->by_default && api_mentions(input, output->name);
        if ((named || operation->finish) && operation->once && *once == 0) *once = operation->once(m);
        if (named || output->by_default) numbers += (double)api_output_entries(m, &asked, i);
    }
    double write = rates->write[call->media];
    if (call->media == API_MEDIA_JSON) write += NUMBER_BYTES * rates->code[call->coding];
    return bodies * rates->body + numbers * write;
}

/* Entries of positions that the body has room for: one for every six bytes, eight in CBOR. */
static double entries_of(const api_call *call, const api_input *input)
{
    double bytes = call->content == API_MEDIA_CBOR ? 8 : 6;
    return (double)input->length / (bytes * (double)(call->model->nq + 1));
}

/* States are not counted before they are read: about one for every such entry. Motions have so many samples, and some
 * control points each. More than the limit are refused: nobody waits for them. */
static double states_of(const api_call *call, const api_input *input)
{
    double entries = entries_of(call, input), samples = 0;
    if (call->operation && call->operation->takes & API_BIT(API_SAMPLES))
        samples = api_glance(call, input, API_SAMPLES);
    return fmin(samples > 0 ? samples * (1 + entries / 16) : 1 + entries, (double)call->api->limits.rows);
}

/* Seconds that the steps of simulations take: some evaluations of forward dynamics each and what goes with them. Fixed
 * ones are of as many simulations side by side as there are lanes; how many keep a tolerance is anybody's guess. */
static double steps_cost(const api_call *call, const api_input *input)
{
    if (call->operation != &api_simulate) return 0;
    double step = api_glance(call, input, API_STEP), simulations = 1 + entries_of(call, input) / 16;
    double steps =
        step > 0 ? api_glance(call, input, API_DURATION) / step : GUESS * fmax(api_glance(call, input, API_SAMPLES), 1);
    double lanes = (double)call->api->kernels->lanes;
    simulations  = fmin(step > 0 ? ceil(simulations / lanes) * lanes : simulations, (double)call->api->limits.rows);
    double each  = STEP * (double)call->model->n_bodies * call->api->rates.body + STAGES * closing_cost(call->model);
    return simulations * fmin(steps, API_MOST_STEPS) * each;
}

static double operation_cost(const api_call *call, const api_input *input)
{
    double each = 0, all = 0, once = 0;
    if (call->operation) all = state_cost(call, input, call->operation, &once);
    for (size_t i = 0; !call->operation && api_operations[i]; i++) {
        if (api_operations[i]->alone) continue;
        double cost = state_cost(call, input, api_operations[i], &once);
        all += cost;
        if (api_mentions(input, api_operations[i]->name)) each += cost;
    }
    return once + steps_cost(call, input) +
           states_of(call, input) * (closing_cost(call->model) + (each > 0 ? each : all));
}

/* The place of the operation in the table; `evaluate` stands behind them all. */
static size_t kind_of(const api_call *call)
{
    size_t i = 0;
    while (api_operations[i] && api_operations[i] != call->operation)
        i++;
    return i < API_COST_OPERATIONS ? i : API_COST_OPERATIONS - 1;
}

double api_cost(api_call *call, const char *body, size_t length)
{
    const api_input  input   = {.body = body, .length = length};
    const api_rates *rates   = &call->api->rates;
    bool             model   = call->method == API_PUT; /* parsed, then looked at from all sides */
    double           seconds = 5e-6 + (double)length * (model ? 4 * rates->parse : rates->read[call->content]);
    if (call->wants_coding) return seconds + (double)call->reply.length * rates->code[call->coding];
    if (!call->wants_body || call->method != API_POST) return seconds;
    call->estimated = seconds + operation_cost(call, &input);
    double least    = call->operation ? call->operation->least_seconds : 0;
    double expected = api_correct(&call->api->corrections, kind_of(call), call->media, call->estimated);
    return expected > least ? expected : least;
}

void api_cost_learn(const api_call *call, uint64_t began)
{
    if (call->estimated <= 0 || call->reply.status != 200) return;
    double took = 1e-9 * (double)((int64_t)(api_now() - began) + call->helped);
    api_observe(&call->api->corrections, kind_of(call), call->media, call->estimated, took);
}
