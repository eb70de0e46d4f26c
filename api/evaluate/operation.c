/* operation.c - what outputs are made of, and a request for an operation from its bytes to its reply. */
#include "operation.h"
#include "api/model/base_parameters.h"
#include "api/wire/nodes/node_read.h"
#include "failed_rows.h"
#include "api/request/fields.h"
#include "loop_state.h"
#include <string.h>

size_t api_extent(const api_model *model, const api_asked *asked, int extent)
{
    switch (extent) {
    case API_NV: return model->nv;
    case API_NQ: return model->nq;
    case API_BODIES: return model->n_bodies;
    case API_FRAMES_ASKED: return asked->n_frames;
    case API_WRENCHES_GIVEN: return asked->n_wrenches;
    case API_BODY_PARAMETERS: return 10 * model->n_bodies;
    case API_JOINT_PARAMETERS: return 3 * model->n_movers;
    case API_AXES_ASKED: return asked->n_axes;
    case API_SUPPORT: return asked->support;
    case API_CONTACTS: return asked->n_contacts;
    case API_HELD: return asked->n_held;
    case API_FULL: return api_full_entries(model);
    case API_BASE_PARAMETERS: return asked->base ? asked->base->n : 0;
    case API_STRUCTURED: return 0;
    default: return (size_t)extent;
    }
}

size_t api_output_entries(const api_model *model, const api_asked *asked, size_t output)
{
    const int *extent = asked->operation->outputs[output].extent;
    size_t     n      = 1;
    for (size_t axis = 0; axis < API_MAX_RANK && extent[axis] != 0; axis++)
        n *= api_extent(model, asked, extent[axis]);
    return n;
}

double *api_result_block(const api_evaluation *e, const api_asked *asked, size_t output, size_t block)
{
    if (!asked->result[output]) return NULL;
    return api_block(e, asked->result[output], api_output_entries(e->model, asked, output), block);
}

size_t api_missing_entries(const api_model *model, const api_asked *asked, size_t first, size_t last)
{
    size_t entries = 0;
    for (size_t output = first; output <= last; output++)
        if (!asked->result[output]) entries += api_output_entries(model, asked, output);
    return entries;
}

double *api_result_or_spare(const api_evaluation *e, const api_asked *asked, size_t output, size_t block, double **next)
{
    double *result = api_result_block(e, asked, output, block);
    if (result) return result;
    result = *next;
    *next += api_output_entries(e->model, asked, output) * e->lanes;
    return result;
}

static const char *operation_name(const void *operations, size_t i)
{
    const api_operation *operation = ((const api_operation *const *)operations)[i];
    return operation ? operation->name : "evaluate";
}

api_names api_operation_names(void)
{
    size_t n = 0;
    while (api_operations[n])
        n++;
    return (api_names){n + 1, operation_name, api_operations};
}

bool api_operation_exists(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const char *name = call->route.capture[1];
    call->operation  = api_operation_named(name);
    if (call->operation || strcmp(name, "evaluate") == 0) return true;
    char      list[API_NAMES_TEXT];
    api_names known = api_operation_names();
    api_names_write(&known, name, list);
    return api_fail(problem, API_NO_SUCH_OPERATION, NULL, "there is no operation \"%.64s\"%s", name, list);
}

bool api_post_operation(api_call *call, const api_input *input, api_problem *problem)
{
    api_pool       pool = {&call->share, &input->worker->scratch, problem, 0, 0};
    api_evaluation e    = {
           .call       = call,
           .input      = input,
           .problem    = problem,
           .pool       = &pool,
           .model      = call->model,
           .scene      = {.model = call->model->dyn},
           .rows       = 1,
           .combined   = !call->operation,
           .evaluating = -1,
    };
    api_reading how = {&pool, call->api->limits.nesting, api_field_names, API_STATE_FIELDS}; /* states: batch.c */
    api_node    request;
    bool        read = api_read_request(&how, call->content, input->body, input->length, &request);
    if (!read && problem->has_pointer) problem->row = api_pointer_row(problem->pointer);
    bool done = read && api_evaluate(&e, &request);
    api_failures_close(e.failures);
    dyn_model_free(e.loaded);
    api_pool_end(&pool);
    return done;
}
