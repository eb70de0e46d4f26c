/* models.c - the models as resources: the list, one model, its document; PUT and DELETE. */
#include "call.h"
#include "json.h"
#include <stdlib.h>
#include <string.h>

enum { MODEL_MAX = 64 * 1024 * 1024 }; /* bytes of an answer of this file */

static const char *base_of(const api_model *model)
{
    return model->dyn->floating ? "floating" : "fixed";
}

bool api_list_models(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    size_t      n;
    api_model **list = api_registry_list(call->api->models, &n);
    if (!list) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to list the models");
    api_buffer b;
    api_buffer_init(&b, MODEL_MAX);
    api_buffer_text(&b, "{\"models\":[");
    for (size_t i = 0; i < n; i++) {
        const api_model *m = list[i];
        api_buffer_format(
            &b, "%s{\"name\":\"%s\",\"revision\":\"%s\",\"nq\":%zu,\"nv\":%zu,\"bodies\":%zu,\"base\":\"%s\"}",
            i > 0 ? "," : "", m->name, m->revision, m->nq, m->nv, m->n_bodies, base_of(m));
        api_model_release(list[i]);
    }
    free(list);
    api_buffer_text(&b, "]}");
    return api_reply_body(call, 200, api_media_type(call->media), &b, problem);
}

static void print_names(api_buffer *b, const char *key, const char *const *names, size_t n)
{
    api_buffer_format(b, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) api_buffer_text(b, ",");
        api_json_string(b, names[i]);
    }
    api_buffer_text(b, "]");
}

/* Every frame that can be named, links included, with the link it is fixed to. */
static void print_frames(api_buffer *b, const api_model *m)
{
    api_buffer_text(b, ",\"frames\":[");
    for (size_t i = 0; i < m->n_frames; i++) {
        const api_frame_name *frame = &m->frames[i];
        api_buffer_text(b, i > 0 ? ",{\"name\":" : "{\"name\":");
        api_json_string(b, frame->name);
        api_buffer_text(b, ",\"link\":");
        api_json_string(b, m->link_names[frame->link + 1]); /* DYN_WORLD is -1, the base link comes first */
        api_buffer_text(b, "}");
    }
    api_buffer_text(b, "]");
}

static void print_limits(api_buffer *b, const api_joint_name *joint)
{
    const char *comma = "";
    api_buffer_text(b, ",\"limits\":{");
    if (joint->has_position_limits) {
        api_buffer_text(b, "\"position\":[");
        api_json_real(b, joint->lower);
        api_buffer_text(b, ",");
        api_json_real(b, joint->upper);
        api_buffer_text(b, "]");
        comma = ",";
    }
    if (joint->has_velocity_limit) {
        api_buffer_format(b, "%s\"velocity\":", comma);
        api_json_real(b, joint->velocity);
        comma = ",";
    }
    if (joint->has_effort_limit) {
        api_buffer_format(b, "%s\"effort\":", comma);
        api_json_real(b, joint->effort);
    }
    api_buffer_text(b, "}");
}

static void print_mimic(api_buffer *b, const api_joint_name *joint)
{
    if (!joint->leader) return;
    api_buffer_text(b, ",\"mimic\":{\"joint\":");
    api_json_string(b, joint->leader);
    api_buffer_text(b, ",\"multiplier\":");
    api_json_real(b, joint->multiplier);
    api_buffer_text(b, ",\"offset\":");
    api_json_real(b, joint->offset);
    api_buffer_text(b, "}");
}

static void print_joints(api_buffer *b, const api_model *m)
{
    api_buffer_text(b, ",\"joints\":[");
    for (size_t i = 0; i < m->n_joints; i++) {
        const api_joint_name *joint = &m->joints[i];
        api_buffer_text(b, i > 0 ? ",{\"name\":" : "{\"name\":");
        api_json_string(b, joint->name);
        api_buffer_format(b, ",\"type\":\"%s\",\"parent\":", joint->type);
        api_json_string(b, joint->parent);
        api_buffer_text(b, ",\"link\":");
        api_json_string(b, joint->link);
        api_buffer_format(b, ",\"actuated\":%s", joint->actuated ? "true" : "false");
        print_limits(b, joint);
        print_mimic(b, joint);
        api_buffer_text(b, "}");
    }
    api_buffer_text(b, "]");
}

static void print_physics(api_buffer *b, const api_model *m)
{
    api_buffer_text(b, ",\"gravity\":[");
    for (int i = 0; i < 3; i++) {
        if (i > 0) api_buffer_text(b, ",");
        api_json_real(b, m->dyn->gravity[i]);
    }
    api_buffer_text(b, "],\"mass\":");
    api_json_real(b, m->dyn->mass);
}

static void reply_revision(api_call *call, const api_model *model)
{
    api_reply_header(call, "ETag", "\"%s\"", model->revision);
    api_reply_header(call, "Model-Revision", "%s", model->revision);
}

bool api_get_model(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const api_model *m = call->model;
    api_buffer       b;
    api_buffer_init(&b, MODEL_MAX);
    api_buffer_format(&b, "{\"name\":\"%s\",\"revision\":\"%s\",\"nq\":%zu,\"nv\":%zu,\"base\":\"%s\"", m->name,
                      m->revision, m->nq, m->nv, base_of(m));
    print_names(&b, "position_names", m->position_names, m->nq);
    print_names(&b, "velocity_names", m->velocity_names, m->nv);
    print_names(&b, "links", m->link_names, m->n_links);
    print_names(&b, "bodies", m->body_names, m->n_bodies);
    print_frames(&b, m);
    print_joints(&b, m);
    print_physics(&b, m);
    api_buffer_text(&b, ",\"report\":");
    api_json_print(&b, m->report);
    api_buffer_text(&b, "}");
    reply_revision(call, m);
    return api_reply_body(call, 200, api_media_type(call->media), &b, problem);
}

bool api_get_document(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_buffer_init(&b, call->model->document_length);
    api_buffer_put(&b, call->model->document, call->model->document_length);
    reply_revision(call, call->model);
    return api_reply_body(call, 200, api_media_type(call->media), &b, problem);
}

static api_model *read_document(const api_call *call, const api_input *input, api_problem *problem)
{
    const api_limits *limits   = &call->api->limits;
    json_t           *document = api_json_parse(input->body, input->length, limits->nesting, problem);
    api_model        *model    = NULL;
    if (document) model = api_model_from_document(document, call->route.capture[0], limits->links, problem);
    json_decref(document);
    return model;
}

static api_model *read_urdf(const api_call *call, const api_input *input, api_problem *problem)
{
    const api_limits *limits = &call->api->limits;
    return api_model_from_urdf(input->body, input->length, call->route.capture[0], &call->urdf, limits->nesting,
                               limits->links, problem);
}

/* Reads and checks the document; the memory of its tree is claimed only while it is there. */
static api_model *read_model(api_call *call, const api_input *input, api_problem *problem)
{
    size_t tree =
        call->is_urdf ? api_urdf_weight(input->body, input->length) : api_json_weight(input->body, input->length);
    if (!api_claim(call, tree, problem)) return NULL;
    api_model *model = call->is_urdf ? read_urdf(call, input, problem) : read_document(call, input, problem);
    api_unclaim(call, tree);
    return model;
}

static bool reply_put(api_call *call, const api_model *m, bool created, api_problem *problem)
{
    api_buffer b;
    api_buffer_init(&b, MODEL_MAX);
    api_buffer_format(&b, "{\"name\":\"%s\",\"revision\":\"%s\",\"nq\":%zu,\"nv\":%zu,\"report\":", m->name,
                      m->revision, m->nq, m->nv);
    api_json_print(&b, m->report);
    api_buffer_text(&b, "}");
    reply_revision(call, m);
    if (created) api_reply_header(call, "Location", "/v1/models/%s", m->name);
    return api_reply_body(call, created ? 201 : 200, api_media_type(call->media), &b, problem);
}

static bool fail_commit(const api_call *call, api_commit commit, api_problem *problem)
{
    switch (commit) {
    case API_NOT_STORED: return false;
    case API_NOT_THERE:
        return api_fail(problem, API_NO_SUCH_MODEL, NULL, "no model \"%s\" is held any more", call->route.capture[0]);
    case API_REGISTRY_FULL:
        return api_fail(problem, API_STORE_FULL, NULL, "%zu models are held, which is the limit",
                        call->api->limits.models);
    default:
        return api_fail(problem, API_PRECONDITION_FAILED, NULL,
                        "the model was changed while this request was under way");
    }
}

bool api_put_model(api_call *call, const api_input *input, api_problem *problem)
{
    api_model *model = read_model(call, input, problem);
    if (!model) return false;
    api_preconditions conditions = api_call_conditions(call);
    bool              done       = api_watch_check(input->watch, problem);
    if (done) {
        api_commit commit = api_registry_put(call->api->models, model, &conditions, problem);
        done = commit == API_CREATED || commit == API_REPLACED ? reply_put(call, model, commit == API_CREATED, problem)
                                                               : fail_commit(call, commit, problem);
    }
    api_model_release(model);
    return done;
}

bool api_delete_model(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_preconditions conditions = api_call_conditions(call);
    api_commit        commit     = api_registry_delete(call->api->models, call->route.capture[0], &conditions, problem);
    if (commit != API_DELETED) return fail_commit(call, commit, problem);
    api_reply_empty(call, 204);
    return true;
}
