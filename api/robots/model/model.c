/* model.c - see model.h: read a document (document.h), build its tree in dynamics/, and print its canonical form. */
#include "dynamics/identification/base_parameters.h"
#include "configurations.h"
#include "model.h"
#include "api/robots/document/document.h"
#include "dynamics/math/geometry.h"
#include "api/codec/number.h"
#include "api/codec/utf8.h"
#include "dynamics/loops/loops.h"
#include "loops_build.h"
#include "model_names.h"
#include "api/robots/report_order.h"
#include "transmissions.h"
#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of a printed document. It is never reached: a document is about as long as the request that brought it. */
enum { DOCUMENT_MAX_BYTES = 1 << 30 };

static bool no_memory(api_problem *problem)
{
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to hold the model");
}

/* --- the model in dynamics/ --------------------------------------------------------------------------------------- */

/* JSON pointer to the link with index `link` in dynamics/. */
static const char *link_pointer(const api_document *document, int link, char text[64])
{
    if (link == DYN_WORLD) return "/base";
    snprintf(text, 64, document->from_screws ? "/screws/S/%d" : "/links/%d", document->order[link]);
    return text;
}

static bool fail_to_build(const api_document *document, dyn_status status, int where, api_problem *problem)
{
    char text[64];
    if (status == DYN_NO_MEMORY) return no_memory(problem);
    if (status == DYN_TOO_MANY_DOF)
        return api_fail(problem, API_MODEL_TOO_LARGE, "", "the model has more than %d degrees of freedom", DYN_MAX_DOF);
    return api_fail(problem, API_NON_FINITE, link_pointer(document, where, text),
                    "the values of this link are too large or too small to compute with");
}

/* Checks combined values: numbers that are finite one by one may overflow when dynamics/ combines them. */
static bool check_figures(const api_model *model, const api_document *document, api_problem *problem)
{
    const dyn_model *dyn = model->dyn;
    char             text[64];
    for (size_t i = 0; i < dyn->n_bodies; i++) {
        const dyn_body *body = &dyn->body[i];
        double          sum  = fabs(body->compensation.mass) + body->derived.subtree_mass + body->moments.mass +
                     fabs(body->joint.ratio) + fabs(body->joint.friction.viscous) +
                     fabs(body->joint.friction.positive) + fabs(body->joint.friction.negative) +
                     body->joint.friction.breakaway_positive + body->joint.friction.breakaway_negative +
                     body->joint.friction.load;
        for (int k = 0; k < 3; k++)
            sum += fabs(body->pose.p_pc[k]) + fabs(body->pose.before.p[k]) + fabs(body->moments.h[k]) +
                   fabs(body->moments.E[k]) + fabs(body->moments.E[3 + k]) + fabs(body->compensation.h[k]);
        if (!isfinite(sum))
            return api_fail(problem, API_NON_FINITE, link_pointer(document, body->tree.link, text),
                            "the values of this body are so large that they overflow");
    }
    for (size_t i = 0; i < dyn->n_links; i++) {
        const double *p = dyn->link[i].X_bl.p;
        if (!isfinite(fabs(p[0]) + fabs(p[1]) + fabs(p[2])))
            return api_fail(problem, API_NON_FINITE, link_pointer(document, (int)i, text),
                            "this link is so far from its body's origin that its position overflows");
    }
    return true;
}

static bool has_load(const dyn_description *d)
{
    bool loaded = false;
    for (size_t k = 0; k < d->n_links; k++)
        loaded |= d->links[k].friction.load > 0 || d->links[k].motor.friction.load > 0;
    return loaded;
}

/* Copies the bodies with friction, and sets the load coefficients of the links to zero: in a model with loops the load
 * of a joint is not the effort in the tree. */
static bool separate_loads(api_model *model, const dyn_description *d, dyn_link *links, api_problem *problem)
{
    dyn_model *tree = NULL;
    if (!has_load(d)) return true;
    if (dyn_model_build(d, &tree, NULL) != DYN_OK) return true; /* reported when the model itself is built */
    model->loaded = api_arena_take(&model->arena, tree->n_bodies, sizeof *model->loaded);
    for (size_t i = 0; model->loaded && i < tree->n_bodies; i++)
        if (tree->body[i].joint.has_friction) model->loaded[model->n_loaded++] = tree->body[i];
    dyn_model_free(tree);
    for (size_t k = 0; k < d->n_links; k++)
        links[k].friction.load = links[k].motor.friction.load = 0;
    return model->loaded || no_memory(problem);
}

static bool build(api_model *model, const api_document *document, api_reader *reader)
{
    size_t    n     = document->n_links;
    dyn_link *links = api_arena_take(reader->arena, n, sizeof *links);
    if (!links) return no_memory(reader->problem);
    for (size_t k = 0; k < n; k++) {
        const api_document_link *link = &document->links[document->order[k]];
        links[k]                      = link->dyn;
        links[k].parent = link->parent_index == DYN_WORLD ? DYN_WORLD : document->links[link->parent_index].core_index;
        if (link->dyn.mimic) links[k].leader = document->links[link->leader].core_index;
        if (links[k].motor.present && links[k].motor.link != DYN_WORLD)
            links[k].motor.link = document->links[links[k].motor.link].core_index;
    }
    dyn_description description = {.floating                  = document->floating,
                                   .base_inertia              = document->base_inertia,
                                   .base_rotor_inertia        = document->base_rotor_inertia,
                                   .base_gravity_compensation = document->base_gravity_compensation,
                                   .base_damping              = document->base_damping,
                                   .n_links                   = n,
                                   .links                     = links};
    if (!api_transmissions_list_drives(document, reader->arena, &description)) return no_memory(reader->problem);
    memcpy(description.gravity, document->gravity, sizeof description.gravity);

    if (document->n_loops > 0 && !separate_loads(model, &description, links, reader->problem)) return false;
    int        where  = DYN_WORLD;
    dyn_status status = dyn_model_build(&description, &model->dyn, &where);
    if (status != DYN_OK) return fail_to_build(document, status, where, reader->problem);
    model->nq       = (size_t)model->dyn->nq;
    model->nv       = (size_t)model->dyn->nv;
    model->n_bodies = model->dyn->n_rows;
    return check_figures(model, document, reader->problem) &&
           api_transmissions_check_drives(model->dyn, reader->problem);
}

/* --- angles ------------------------------------------------------------------------------------------------------- */

/* True for the motor body of an elastic joint that rotates: its coordinate is an angle too, though no kernel takes
 * its sine. */
static bool has_motor_angle(const dyn_model *dyn, const dyn_body *body)
{
    if (!body->joint.is_rotor || body->joint.mimic) return false;
    for (size_t c = 0; c < dyn->n_couplings; c++)
        for (size_t i = 0; dyn->coupling[c].theta == body->joint.q && i < dyn->n_bodies; i++)
            if (dyn->body[i].joint.q == dyn->coupling[c].q && dyn_body_has_angle(&dyn->body[i])) return true;
    return false;
}

/* Lists the angles: positions of rotating joints, s = ratio q + offset, and of their motors. */
static bool list_angles(api_model *model)
{
    const dyn_model *dyn = model->dyn;
    model->angles        = api_arena_take(&model->arena, dyn->n_bodies, sizeof *model->angles);
    for (size_t i = 0; model->angles && i < dyn->n_bodies; i++) {
        const dyn_body *body  = &dyn->body[i];
        int             place = api_first_position(model, body);
        bool            motor = has_motor_angle(dyn, body);
        if (place < 0 || (!motor && !dyn_body_has_angle(body))) continue;
        model->angles[model->n_angles++] = (dyn_bound){.entry  = (size_t)place,
                                                       .ratio  = motor ? 1 : body->joint.ratio,
                                                       .offset = motor ? 0 : body->joint.offset,
                                                       .most   = DYN_MAX_ANGLE};
    }
    return model->angles != NULL;
}

const dyn_bound *api_find_angle_beyond_limit(const api_model *model, const double *q, size_t stride)
{
    for (const dyn_bound *a = model->angles; a < model->angles + model->n_angles; a++)
        if (!(fabs(a->ratio * q[a->entry * stride] + a->offset) <= a->most)) return a;
    return NULL;
}

void api_angle_write(const dyn_bound *beyond, double value, char text[API_ANGLE_TEXT])
{
    const double angle = beyond->ratio * value + beyond->offset;
    const int    n     = snprintf(text, API_ANGLE_TEXT, "%s", API_NUMBER_TEXT(value));
    if (angle != value && n > 0)
        snprintf(text + n, (size_t)(API_ANGLE_TEXT - n), ", which turns a joint by %s", API_NUMBER_TEXT(angle));
}

/* --- document and revision ---------------------------------------------------------------------------------------- */

/* Writes the first 128 bits of SHA-256 in hex. */
static void hash(const char *text, size_t length, char revision[API_REVISION_SIZE])
{
    struct sha256_ctx sha;
    uint8_t           digest[16];
    sha256_init(&sha);
    sha256_update(&sha, length, (const uint8_t *)text);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(revision + 2 * i, 3, "%02x", digest[i]);
}

/* Shrinks the memory of a text to its length. */
static char *shrink(char *text, size_t length)
{
    char *exact = text ? realloc(text, length + 1) : NULL;
    return exact ? exact : text;
}

static bool print_document(api_model *model, json_t *canonical)
{
    api_buffer text, nameless;
    api_buffer_init(&text, DOCUMENT_MAX_BYTES);
    api_buffer_init(&nameless, DOCUMENT_MAX_BYTES);
    api_json_print(&text, canonical);
    json_object_del(canonical, "name");
    api_json_print(&nameless, canonical);
    if (!nameless.failed) hash(nameless.data, nameless.length, model->revision);
    bool ok = !nameless.failed;
    api_buffer_free(&nameless);
    model->document_length = text.length;
    model->document        = shrink(api_buffer_take(&text), model->document_length);
    return ok && model->document;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* Copies the model's name, and its description up to the last whole character within API_DESCRIPTION_MAX bytes. */
static bool copy_texts(api_model *model, const api_document *document, const char *name)
{
    model->name = api_arena_text(&model->arena, name);
    if (!document->description) return model->name != NULL;
    size_t length      = strnlen(document->description, API_DESCRIPTION_MAX);
    length             = api_utf8_prefix(document->description, length);
    char *description  = api_arena_take(&model->arena, length + 1, 1);
    model->description = description;
    if (description) memcpy(description, document->description, length);
    return model->name && description;
}

/* Checks the sums of bodies that are fixed to each other, also of those that never move. */
static bool check_attached_bodies(const api_model *model, api_problem *problem)
{
    for (size_t i = 0; i < model->n_links; i++) {
        const dyn_inertia *sum   = &model->attached[i].inertia;
        double             total = sum->mass;
        for (int k = 0; k < 3; k++)
            total += sum->com[k];
        for (int k = 0; k < 6; k++)
            total += sum->about_com[k];
        char text[64];
        if (isfinite(total)) continue;
        snprintf(text, sizeof text, i == 0 ? "/base" : "/links/%zu", i - 1);
        return api_fail(problem, API_NON_FINITE, text,
                        "the inertias of this link and of those fixed to it are too large to add");
    }
    return true;
}

static bool assemble(api_model *model, const json_t *in, const char *name, size_t max_links, api_reader *reader,
                     api_document *document)
{
    if (!api_document_read(document, reader, in, name, max_links) || !build(model, document, reader)) return false;
    if (!copy_texts(model, document, name) || !api_model_copy_names(model, document, reader->arena))
        return no_memory(reader->problem);
    if (!check_attached_bodies(model, reader->problem)) return false;
    if (!api_loops_build(model, document, reader) || !api_configurations_build(model, document, reader)) return false;
    if (!list_angles(model) || !print_document(model, document->canonical)) return no_memory(reader->problem);
    return api_report_order(model->report) || no_memory(reader->problem);
}

api_model *api_model_from_document(const json_t *document, const char *name, size_t max_links, api_problem *problem)
{
    api_model *model = calloc(1, sizeof *model);
    if (!model || !(model->report = json_array())) {
        free(model);
        no_memory(problem);
        return NULL;
    }
    atomic_init(&model->references, 1);
    api_arena    scratch = {0};
    api_reader   reader  = {.arena = &scratch, .problem = problem, .report = model->report};
    api_document read    = {0};
    bool         ok      = assemble(model, document, name, max_links, &reader, &read);
    json_decref(read.canonical);
    api_arena_free(&scratch);
    if (ok) return model;
    api_model_release(model);
    return NULL;
}

api_model *api_model_from_text(const char *text, size_t length, const char *name, unsigned nesting, size_t max_links,
                               api_problem *problem)
{
    json_t *document = api_json_parse(text, length, nesting, problem);
    api_json_drop_nulls(document);
    api_model *model = document ? api_model_from_document(document, name, max_links, problem) : NULL;
    json_decref(document);
    return model;
}

/* The report is left out: it has a few short texts. Slack of the allocator is left out, too: equal models have equal
 * sizes. */
size_t api_model_bytes(const api_model *model)
{
    return sizeof *model + model->dyn->bytes + model->document_length + 1 + model->arena.bytes;
}

api_model *api_model_share(api_model *model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
    return model;
}

void api_model_release(api_model *model)
{
    if (!model || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1) return;
    dyn_model_free(model->dyn);
    json_decref(model->report);
    for (size_t with = 0; with < sizeof model->base / sizeof *model->base; with++)
        dyn_base_free(atomic_load(&model->base[with]));
    free(model->document);
    api_arena_free(&model->arena);
    free(model);
}

int api_model_frame(const api_model *model, const char *name, size_t length)
{
    for (size_t i = 0; i < model->n_frames; i++)
        if (strlen(model->frames[i].name) == length && memcmp(model->frames[i].name, name, length) == 0) return (int)i;
    return -1;
}

static const char *frame_name(const void *model, size_t i)
{
    return ((const api_model *)model)->frames[i].name;
}

api_names api_model_frames(const api_model *model)
{
    return (api_names){model->n_frames, frame_name, model};
}

dyn_mechanism api_model_mechanism(const api_model *model)
{
    return (dyn_mechanism){
        .tree = model->dyn, .loops = model->loops, .nq = model->nq, .nv = model->nv, .n_movers = model->n_movers};
}

int api_first_position(const api_model *model, const dyn_body *body)
{
    const dyn_mechanism mechanism = api_model_mechanism(model);
    return dyn_first_position(&mechanism, body);
}

int api_first_velocity(const api_model *model, const dyn_body *body)
{
    const dyn_mechanism mechanism = api_model_mechanism(model);
    return dyn_first_velocity(&mechanism, body);
}

int api_model_coordinate(const api_model *model, int v)
{
    const dyn_mechanism mechanism = api_model_mechanism(model);
    return dyn_mechanism_velocity(&mechanism, v);
}
