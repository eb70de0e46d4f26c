/* configurations.c - see configurations.h. */
#include "configurations.h"
#include "api/codec/names.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* All coordinates of the tree, including those of passive joints and motors. */
typedef struct positions {
    size_t       n;
    const char **names;
    double      *q;
} positions;

static const char *position_name(const void *list, size_t i)
{
    return ((const positions *)list)->names[i];
}

static bool fail_at(api_reader *reader, size_t index, api_code code, const char *text)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/configurations/%zu/q", index);
    return api_fail(reader->problem, code, pointer, "%s", text);
}

static bool set_position(const positions *all, size_t index, const char *name, double value, api_reader *reader)
{
    char            list[API_NAMES_TEXT], text[API_NAMES_TEXT + 200];
    const api_names known = {all->n, position_name, all};
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->names[i], name) == 0) {
            all->q[i] = value;
            return true;
        }
    api_names_write(&known, name, list);
    snprintf(text, sizeof text, "\"%.*s\" is no coordinate%s", api_text_shown(name), name, list);
    return fail_at(reader, index, API_UNKNOWN_NAME, text);
}

/* Checks angles, and sets quaternions of the tree to norm 1. */
static bool check_positions(const api_model *model, const positions *all, size_t index, api_reader *reader)
{
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body *b    = &model->dyn->body[i];
        double         *q    = all->q + b->joint.q, norm;
        const bool      free = dyn_joint_has_quaternion(b->joint.kind);
        if (b->joint.mimic) continue;
        if (free && !dyn_quaternion_normalise(q + dyn_joint_nq(b->joint.kind) - 4, 1, &norm))
            return fail_at(reader, index, API_BAD_QUATERNION,
                           "the entries qx, qy, qz and qw of a quaternion have norm 1");
        if (!free && dyn_body_has_angle(b) && !(fabs(*q) <= DYN_MAX_ANGLE))
            return fail_at(reader, index, API_ANGLE_TOO_LARGE, "an angle is beyond the limit for angles of states");
    }
    return true;
}

/* Sets all coordinates to zero, and quaternions to no rotation. */
static void set_zero(const api_model *model, const positions *all)
{
    memset(all->q, 0, all->n * sizeof *all->q);
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body *b = &model->dyn->body[i];
        if (dyn_joint_has_quaternion(b->joint.kind)) all->q[b->joint.q + dyn_joint_nq(b->joint.kind) - 1] = 1;
    }
}

/* True if the position of a locked joint in the configuration is the one at which it is locked. `link`: the link of the
 * joint. */
static bool agrees(const json_t *listed, const api_document_link *link)
{
    size_t n        = 0;
    double same     = 0,
           opposite = 0; /* largest differences to the quaternion and to its opposite, which is the same rotation */
    while (link->lost[n])
        n++;
    for (size_t k = 0; k < n; k++) {
        const bool turns = n >= 4 && k + 4 >= n;
        char       name[512];
        snprintf(name, sizeof name, "%s%s", link->joint, link->lost[k]);
        const json_t *value = json_object_get(listed, name);
        const double  q     = value ? json_number_value(value) : turns && k + 1 == n;
        same                = fmax(same, fabs(q - link->held[k]));
        opposite            = fmax(opposite, fabs(turns ? q + link->held[k] : q - link->held[k]));
    }
    return (n >= 4 ? fmin(same, opposite) : same) <= 1e-9;
}

/* Reports joints that are locked at another position than the configuration gives them. */
static bool report_locked(const api_document *document, size_t index, api_reader *reader)
{
    const api_document_configuration *c = &document->configurations[index];
    char                              pointer[64];
    snprintf(pointer, sizeof pointer, "/configurations/%zu/q", index);
    for (size_t i = 0; i < document->n_links; i++) {
        const api_document_link *link = &document->links[i];
        if (!link->held || agrees(c->positions, link)) continue;
        if (!api_reader_report(reader, pointer, "info", "dropped",
                               "the configuration \"%.*s\" has \"%.*s\" elsewhere than where this joint is locked",
                               api_text_shown(c->name), c->name, api_text_shown(link->joint), link->joint))
            return false;
    }
    return true;
}

static bool set_positions(api_model *model, const api_document *document, const positions *all, size_t index,
                          api_reader *reader)
{
    const char   *name;
    const json_t *value;
    set_zero(model, all);
    json_object_foreach ((json_t *)(uintptr_t)document->configurations[index].positions, name, value)
        if (!api_document_has_lost(document, name) && !set_position(all, index, name, json_number_value(value), reader))
            return false;
    if (!check_positions(model, all, index, reader) || !report_locked(document, index, reader)) return false;
    api_named_configuration *to = &model->configurations[index];
    to->name                    = api_arena_text(&model->arena, document->configurations[index].name);
    to->q                       = api_arena_take(&model->arena, model->nq, sizeof *to->q);
    if (!to->name || !to->q) return api_reader_no_memory(reader);
    for (size_t i = 0; i < model->nq; i++)
        to->q[i] = all->q[model->loops ? (size_t)model->loops->active_q[i] : i];
    return true;
}

bool api_configurations_build(api_model *model, const api_document *document, api_reader *reader)
{
    const size_t n   = document->n_configurations;
    positions    all = {.n     = model->loops ? model->loops->nq : model->nq,
                        .names = model->loops ? model->loops->position_names : model->position_names};
    if (n == 0) return true;
    all.q                 = api_arena_take(reader->arena, all.n, sizeof *all.q);
    model->configurations = api_arena_take(&model->arena, n, sizeof *model->configurations);
    if (!all.q || !model->configurations) return api_reader_no_memory(reader);
    for (size_t i = 0; i < n; i++)
        if (!set_positions(model, document, &all, i, reader)) return false;
    model->n_configurations = n;
    return true;
}
