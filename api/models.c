/* models.c - the models as resources: the list, one model, its document; PUT and DELETE. */
#include "call.h"
#include "api/wire/json.h"
#include "api/model/loops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_MAX = 64 * 1024 * 1024 }; /* bytes of an answer of this file */

static const char *base_of(const api_model *model)
{
    return model->dyn->floating ? "floating" : "fixed";
}

/* What identifies a model, in every answer about one: members of the object that is open. */
static void emit_identity(api_emit *e, const api_model *m)
{
    api_emit_string_member(e, "name", m->name);
    api_emit_string_member(e, "revision", m->revision);
    api_emit_integer_member(e, "nq", (long long)m->nq);
    api_emit_integer_member(e, "nv", (long long)m->nv);
}

bool api_list_models(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    size_t      n;
    api_model **list = api_registry_list(call->api->models, &n);
    if (!list) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to list the models");
    api_buffer b;
    api_emit   e;
    api_emit_to(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    api_emit_object(&e);
    api_emit_key(&e, "models");
    api_emit_array(&e);
    for (size_t i = 0; i < n; i++) {
        api_emit_object(&e);
        emit_identity(&e, list[i]);
        api_emit_integer_member(&e, "bodies", (long long)list[i]->n_bodies);
        api_emit_string_member(&e, "base", base_of(list[i]));
        api_emit_end(&e);
        api_model_release(list[i]);
    }
    free(list);
    api_emit_end(&e);
    api_emit_end(&e);
    return api_reply_emitted(call, 200, &e, problem);
}

/* Every frame that can be named, links included, with the link it is fixed to. */
static void emit_frames(api_emit *e, const api_model *m)
{
    api_emit_key(e, "frames");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_frames; i++) {
        const api_frame_name *frame = &m->frames[i];
        api_emit_object(e);
        api_emit_string_member(e, "name", frame->name);
        api_emit_string_member(e, "link", m->link_names[frame->link + 1]); /* DYN_WORLD is -1; the base link is first */
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_limits(api_emit *e, const api_joint_name *joint)
{
    api_emit_key(e, "limits");
    api_emit_object(e);
    if (joint->has_position_limits) {
        api_emit_key(e, "position");
        api_emit_numbers(e, (double[]){joint->lower, joint->upper}, 1, (size_t[]){2});
    }
    if (joint->has_velocity_limit) api_emit_number_member(e, "velocity", joint->velocity);
    if (joint->has_effort_limit) api_emit_number_member(e, "effort", joint->effort);
    api_emit_end(e);
}

static void emit_mimic(api_emit *e, const api_joint_name *joint)
{
    if (!joint->leader) return;
    api_emit_key(e, "mimic");
    api_emit_object(e);
    api_emit_string_member(e, "joint", joint->leader);
    api_emit_number_member(e, "multiplier", joint->multiplier);
    api_emit_number_member(e, "offset", joint->offset);
    api_emit_end(e);
}

static void emit_elastic(api_emit *e, const api_joint_name *joint)
{
    if (!joint->elastic) return;
    api_emit_key(e, "elastic");
    api_emit_object(e);
    api_emit_number_member(e, "stiffness", joint->elasticity.stiffness);
    api_emit_number_member(e, "damping", joint->elasticity.damping);
    api_emit_number_member(e, "rest", joint->elasticity.rest);
    api_emit_end(e);
}

static void emit_joints(api_emit *e, const api_model *m)
{
    api_emit_key(e, "joints");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_joints; i++) {
        const api_joint_name *joint = &m->joints[i];
        api_emit_object(e);
        api_emit_string_member(e, "name", joint->name);
        api_emit_string_member(e, "type", joint->type);
        api_emit_string_member(e, "parent", joint->parent);
        api_emit_string_member(e, "link", joint->link);
        api_emit_key(e, "actuated");
        api_emit_boolean(e, joint->actuated);
        emit_limits(e, joint);
        if (strcmp(joint->type, "helical") == 0) api_emit_number_member(e, "pitch", joint->pitch);
        emit_elastic(e, joint);
        emit_mimic(e, joint);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void emit_loops(api_emit *e, const api_model *m)
{
    const api_loops *l = m->loops;
    if (!l) return;
    api_emit_key(e, "loops");
    api_emit_array(e);
    for (size_t i = 0; i < l->n; i++) {
        api_emit_object(e);
        api_emit_string_member(e, "name", l->loop[i].name);
        api_emit_string_member(e, "type", l->loop[i].type);
        api_emit_string_member(e, "frame_a", l->loop[i].frame_a);
        api_emit_string_member(e, "frame_b", l->loop[i].frame_b);
        api_emit_end(e);
    }
    api_emit_end(e);
    api_emit_names(e, "passive_names", l->passive_names, l->n_passive_q);
    api_emit_key(e, "tree");
    api_emit_object(e);
    api_emit_names(e, "position_names", l->position_names, l->nq);
    api_emit_names(e, "velocity_names", l->velocity_names, l->nv);
    api_emit_end(e);
}

static void emit_motors(api_emit *e, const api_model *m)
{
    api_emit_key(e, "motors");
    api_emit_array(e);
    for (size_t i = 0; i < m->n_motors; i++) {
        const api_motor_name *motor = &m->motors[i];
        api_emit_object(e);
        api_emit_string_member(e, "joint", motor->joint);
        api_emit_string_member(e, "link", motor->link);
        api_emit_key(e, "axis");
        api_emit_numbers(e, motor->motor.axis, 1, (size_t[]){3});
        api_emit_number_member(e, "gear_ratio", motor->motor.gear_ratio);
        api_emit_number_member(e, "spin_inertia", motor->motor.spin_inertia);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static void reply_revision(api_call *call, const api_model *model)
{
    char tag[API_TAG_MAX];
    api_tag_write(model->revision, call->media, tag);
    api_reply_header(call, "ETag", tag);
    api_reply_header(call, "Model-Revision", model->revision);
}

bool api_get_model(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const api_model *m = call->model;
    api_buffer       b;
    api_emit         e;
    api_emit_to(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    api_emit_object(&e);
    emit_identity(&e, m);
    api_emit_string_member(&e, "base", base_of(m));
    api_emit_names(&e, "position_names", m->position_names, m->nq);
    api_emit_names(&e, "velocity_names", m->velocity_names, m->nv);
    api_emit_names(&e, "links", m->link_names, m->n_links);
    api_emit_names(&e, "bodies", m->body_names, m->n_bodies);
    emit_frames(&e, m);
    emit_joints(&e, m);
    emit_loops(&e, m);
    emit_motors(&e, m);
    api_emit_key(&e, "gravity");
    api_emit_numbers(&e, m->dyn->gravity, 1, (size_t[]){3});
    api_emit_number_member(&e, "mass", m->dyn->mass);
    api_emit_key(&e, "report");
    api_json_emit(&e, m->report);
    api_emit_end(&e);
    reply_revision(call, m);
    return api_reply_emitted(call, 200, &e, problem);
}

/* Kept as JSON; another encoding is made of its tree, whose memory is claimed while it is there. */
static bool emit_document(api_call *call, api_emit *e, api_problem *problem)
{
    const api_model *m = call->model;
    if (call->media == API_MEDIA_JSON) {
        api_buffer_put(e->to, m->document, m->document_length);
        return true;
    }
    size_t tree = api_json_weight(m->document, m->document_length);
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
    api_emit_to(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    if (!emit_document(call, &e, problem)) {
        api_buffer_free(&b);
        return false;
    }
    reply_revision(call, call->model);
    return api_reply_emitted(call, 200, &e, problem);
}

/* Reads and checks what was put; the memory of its tree is claimed only while it is there. */
static api_model *read_model(api_call *call, const api_input *input, api_problem *problem)
{
    const api_limits *limits = &call->api->limits;
    const char       *text = input->body, *name = call->route.capture[0];
    size_t            length = input->length;
    size_t            tree   = call->is_urdf ? api_urdf_weight(text, length) : api_json_weight(text, length);
    if (!api_claim(&call->share, tree, problem)) return NULL;
    api_model *model =
        call->is_urdf ? api_model_from_urdf(text, length, name, &call->urdf, limits->nesting, limits->links, problem)
                      : api_model_from_text(text, length, name, limits->nesting, limits->links, problem);
    api_unclaim(&call->share, tree);
    return model;
}

static bool reply_put(api_call *call, const api_model *m, bool created, api_problem *problem)
{
    char       location[128];
    api_buffer b;
    api_emit   e;
    api_emit_to(&e, call->media, &b);
    api_buffer_init(&b, MODEL_MAX);
    api_emit_object(&e);
    emit_identity(&e, m);
    api_emit_key(&e, "report");
    api_json_emit(&e, m->report);
    api_emit_end(&e);
    reply_revision(call, m);
    snprintf(location, sizeof location, "/v1/models/%s", m->name);
    if (created) api_reply_header(call, "Location", location);
    return api_reply_emitted(call, created ? 201 : 200, &e, problem);
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
