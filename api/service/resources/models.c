/* models.c - handlers of the models: the list, one model, its document; PUT and DELETE. */
#include "api/service/http/call.h"
#include "api/base/memory/shortage.h"
#include "api/robots/read_robot.h"
#include "api/robots/model/model_description.h"
#include "api/codec/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_MAX = 64 * 1024 * 1024 }; /* largest body that these handlers produce, bytes */

/* Emits the models that are not served, each with the code and the detail of the problem that requests on it have. */
static void emit_faults(const api_call *call, api_emit *e, const api_registry_entries *list)
{
    api_emit_key(e, "unserved");
    api_emit_array(e);
    for (size_t i = 0; i < list->n_faults; i++) {
        const api_model_fault *fault = &list->faults[i];
        if (!api_may_use_model(call, fault->name)) continue;
        api_emit_object(e);
        api_emit_key(e, "name");
        api_emit_string(e, fault->name);
        api_emit_key(e, "code");
        api_emit_string(e, api_problem_kind_of(fault->code)->code);
        api_emit_key(e, "detail");
        api_emit_string(e, fault->detail);
        api_emit_end(e);
    }
    api_emit_end(e);
}

bool api_list_models(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_registry_entries list;
    api_buffer           b;
    api_emit             e;
    if (!api_registry_list(call->api->models, &list))
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to list the models");
    api_emit_init(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    api_emit_object(&e);
    api_emit_key(&e, "models");
    api_emit_array(&e);
    for (size_t i = 0; i < list.n_models; i++) {
        if (!api_may_use_model(call, list.models[i]->name)) continue;
        api_emit_object(&e);
        api_model_emit_summary(&e, list.models[i]);
        api_emit_end(&e);
    }
    api_emit_end(&e);
    emit_faults(call, &e, &list);
    api_registry_entries_free(&list);
    api_emit_end(&e);
    return api_reply_emitted(call, 200, &e, problem);
}

static void reply_revision(api_call *call, const api_model *model)
{
    char tag[API_TAG_MAX];
    api_tag_write(model->revision, call->media, tag);
    api_reply_header(call, "ETag", tag);
    api_reply_header(call, "Model-Revision", model->revision);
}

/* Answers with one object about a model, whose members `emit` writes. */
static bool reply_model(api_call *call, unsigned status, const api_model *m,
                        void (*emit)(api_emit *, const api_model *), api_problem *problem)
{
    api_buffer b;
    api_emit   e;
    api_emit_init(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    api_emit_object(&e);
    emit(&e, m);
    api_emit_end(&e);
    reply_revision(call, m);
    return api_reply_emitted(call, status, &e, problem);
}

bool api_get_model(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    return reply_model(call, 200, call->model, api_model_emit_description, problem);
}

/* Emits the model's document, which is stored as JSON text. For CBOR the text is parsed; the memory of the parsed tree
 * is claimed from the budget while the tree exists. */
static bool emit_document(api_call *call, api_emit *e, api_problem *problem)
{
    const api_model *m = call->model;
    if (call->media == API_MEDIA_JSON) {
        api_buffer_put(e->buffer, m->document, m->document_length);
        return true;
    }
    size_t tree = api_json_estimate_memory(m->document, m->document_length);
    if (!api_claim(&call->share, tree, problem)) return false;
    json_t *document = api_json_parse(m->document, m->document_length, API_EMIT_DEPTH, problem);
    if (document) api_json_emit(e, document);
    json_decref(document);
    api_unclaim(&call->share, tree);
    return document != NULL;
}

bool api_get_document(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_emit   e;
    api_emit_init(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    if (!emit_document(call, &e, problem)) {
        api_buffer_free(&b);
        return false;
    }
    reply_revision(call, call->model);
    return api_reply_emitted(call, 200, &e, problem);
}

/* Decodes the body of a PUT and checks it. The memory of the parsed tree is claimed from the budget only while the
 * tree exists. */
static api_model *read_model(api_call *call, const api_input *input, api_problem *problem)
{
    const api_current_limits *limits = &call->api->limits;
    api_model_source          source = {.text      = input->body,
                                        .length    = input->length,
                                        .name      = call->route.capture[0],
                                        .query     = call->query,
                                        .nesting   = limits->nesting,
                                        .max_links = limits->links,
                                        .most      = limits->body,
                                        .share     = &call->share};
    size_t                    bytes  = call->format->estimate_memory(source.text, source.length);
    if (!api_claim(&call->share, bytes, problem)) return NULL;
    api_model *model = api_read_robot(call->format, &source, input->deadline, problem);
    api_unclaim(&call->share, bytes);
    if (!api_shortage_check(problem)) return model;
    api_model_release(model);
    return NULL;
}

/* Tells the number of the change, which the client sends with its next requests, to whichever server. */
static void reply_change(api_call *call)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)call->changed.number);
    if (call->changed.number > 0) api_reply_header(call, "Model-Change", number);
}

static bool reply_put(api_call *call, const api_model *m, bool created, api_problem *problem)
{
    char location[128];
    snprintf(location, sizeof location, "/v1/models/%s", m->name);
    if (created) api_reply_header(call, "Location", location);
    reply_change(call);
    return reply_model(call, created ? 201 : 200, m, api_model_emit_put_result, problem);
}

static bool fail_commit(const api_call *call, api_commit commit, api_problem *problem)
{
    switch (commit) {
    case API_NOT_STORED: return false;
    case API_MODEL_NOT_FOUND:
        return api_fail(problem, API_NO_SUCH_MODEL, NULL, "the model \"%s\" no longer exists", call->route.capture[0]);
    case API_REGISTRY_FULL:
        return api_fail(problem, API_STORE_FULL, NULL, "the limit of %zu models is reached", call->api->limits.models);
    case API_MODEL_UNSERVED: api_registry_check_fault(call->api->models, call->route.capture[0], problem); break;
    case API_CREATED:
    case API_REPLACED:
    case API_DELETED:
    case API_PRECONDITION_NOT_MET: break;
    }
    return api_fail(problem, API_PRECONDITION_FAILED, NULL, "the model was changed while this request was under way");
}

bool api_put_model(api_call *call, const api_input *input, api_problem *problem)
{
    api_model *model = read_model(call, input, problem);
    if (!model) return false;
    api_preconditions conditions = api_call_conditions(call);
    bool              done       = api_deadline_check(input->deadline, problem);
    if (done) {
        api_commit commit = api_registry_put(call->api->models, model, &conditions, &call->changed, problem);
        bool       kept   = commit == API_CREATED || commit == API_REPLACED;
        if (kept) memcpy(call->revision_after, model->revision, API_REVISION_SIZE);
        done = kept ? reply_put(call, model, commit == API_CREATED, problem) : fail_commit(call, commit, problem);
    }
    api_model_release(model);
    return done;
}

bool api_delete_model(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_preconditions conditions = api_call_conditions(call);
    api_commit        commit =
        api_registry_delete(call->api->models, call->route.capture[0], &conditions, &call->changed, problem);
    if (commit != API_DELETED) return fail_commit(call, commit, problem);
    api_reply_empty(call, 204);
    reply_change(call);
    return true;
}
