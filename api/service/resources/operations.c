/* operations.c - serve POST /v1/models/{model}/{operation}: from the bytes of the request to the reply. */
#include "api/large_block.h"
#include "api/requests/evaluate/evaluate.h"
#include "api/requests/scene/locked_joints.h"
#include "api/requests/operations/operation_list.h"
#include "api/requests/fields/rows.h"
#include "api/codec/nodes/node_read.h"
#include <string.h>

const char *api_operation_name_at(size_t index)
{
    size_t n = 0;
    while (api_operations[n])
        n++;
    return index < n ? api_operations[index]->name : index == n ? "evaluate" : NULL;
}

/* Returns the first operation with an output of that name, where hyphens count as underscores; NULL: there is none. */
static const char *operation_with_output(const char *name)
{
    for (size_t i = 0; api_operations[i]; i++)
        for (size_t k = 0; api_has_output(api_operations[i], k); k++) {
            const char *output = api_operations[i]->outputs[k].name;
            size_t      n      = 0;
            while (output[n] && (name[n] == output[n] || (name[n] == '-' && output[n] == '_')))
                n++;
            if (!output[n] && !name[n]) return api_operations[i]->name;
        }
    return NULL;
}

bool api_operation_exists(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const char *name = call->route.capture[1];
    call->operation  = api_operation_named(api_operations, name);
    if (call->operation || strcmp(name, "evaluate") == 0) {
        call->operation_number = api_operation_number(api_operations, call->operation);
        return true;
    }
    const char *owner = operation_with_output(name);
    if (owner)
        return api_fail(problem, API_NO_SUCH_OPERATION, NULL, "there is no operation \"%.64s\"; it is an output of %s",
                        name, owner);
    char      list[API_NAMES_TEXT];
    api_names known = api_operation_names(api_operations);
    api_names_write(&known, name, list);
    return api_fail(problem, API_NO_SUCH_OPERATION, NULL, "there is no operation \"%.64s\"%s", name, list);
}

enum { WORTH_FITTING = 4096 /* bytes; less unused memory is not returned */ };

/* Moves the body into the reply. `bound` bytes of the memory budget are claimed for the body; bytes that the answer did
 * not need are returned, if they are many. */
static bool reply(api_call *call, api_buffer *body, size_t bound, api_problem *problem)
{
    api_reply_header(call, "Model-Revision", call->model->revision);
    if (!api_reply_body(call, 200, api_media_type(call->media, &call->accepted), body, problem)) return false;
    if (bound - call->reply.length < WORTH_FITTING) return true;
    char *fitted = api_fit_block(call->reply.body, call->reply.length + 1);
    if (!fitted) return true;
    call->reply.body = fitted;
    api_unclaim(&call->share, bound - call->reply.length);
    return true;
}

bool api_post_operation(api_call *call, const api_input *input, api_problem *problem)
{
    api_pool   pool = {&call->share, &input->worker->scratch, problem, 0, 0};
    api_buffer body = {0};
    api_query  q    = {
            .call       = call,
            .input      = input,
            .problem    = problem,
            .pool       = &pool,
            .model      = call->model,
            .operations = api_operations,
            .scene      = {.model = call->model->dyn, .deadline = api_deadline_for_dynamics(input->deadline)},
            .rows       = 1,
            .combined   = !call->operation,
    };
    /* The reader does not check that the numbers of API_STATE_FIELDS are finite (api_read_options); api/requests/lanes
     * checks them. */
    api_media        form = API_MEDIA_CBOR;
    api_read_options how  = {&pool,          call->api->limits.nesting, api_field_names, API_STATE_FIELDS, &form,
                             input->deadline};
    api_node         request;
    size_t           bound = 0;
    bool             read  = api_read_request(&how, call->content, input->body, input->length, &request);
    call->media            = api_accepted_media(call->accepted, form);
    if (!read && problem->has_pointer) problem->row = api_row_of_pointer(problem->pointer);
    bool done = read && api_lock_joints(&q, &request) && api_evaluate(&q, &request, &body, &bound) &&
                reply(call, &body, bound, problem);
    api_buffer_free(&body);
    dyn_model_free(q.loaded);
    api_model_release(q.reduced);
    api_model_release(q.controller_model);
    api_pool_end(&pool);
    return done;
}
