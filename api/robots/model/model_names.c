/* model_names.c - see model_names.h: name links, frames, joints, motors and coordinates. */
#include "model_names.h"
#include "transmissions.h"
#include <stdio.h>
#include <string.h>

static bool take_arrays(api_model *model, const api_document *document)
{
    api_arena *arena       = &model->arena;
    model->n_links         = document->n_links + 1;
    model->n_frames        = model->n_links + document->n_frames;
    model->n_joints        = model->n_bodies - (document->floating ? 1 : 0);
    model->n_movers        = model->dyn->n_movers;
    model->position_names  = api_arena_take(arena, model->nq, sizeof *model->position_names);
    model->velocity_names  = api_arena_take(arena, model->nv, sizeof *model->velocity_names);
    model->body_names      = api_arena_take(arena, model->n_bodies, sizeof *model->body_names);
    model->link_names      = api_arena_take(arena, model->n_links, sizeof *model->link_names);
    model->attached        = api_arena_take(arena, model->n_links, sizeof *model->attached);
    model->frames          = api_arena_take(arena, model->n_frames, sizeof *model->frames);
    model->joints          = api_arena_take(arena, model->n_joints, sizeof *model->joints);
    model->mover_names     = api_arena_take(arena, model->n_movers, sizeof *model->mover_names);
    model->n_motors        = document->n_motors;
    model->motors          = api_arena_take(arena, model->n_motors, sizeof *model->motors);
    model->n_transmissions = document->n_transmissions;
    model->transmissions   = api_arena_take(arena, model->n_transmissions, sizeof *model->transmissions);
    model->coupled_motors  = api_arena_take(arena, model->dyn->n_drives, sizeof *model->coupled_motors);
    return model->position_names && model->velocity_names && model->body_names && model->link_names &&
           model->attached && model->frames && model->joints && model->mover_names && model->motors &&
           model->transmissions && model->coupled_motors;
}

/* Body and pose, in dynamics/, of a link of the document. */
static const dyn_link_place *place_of(const api_model *model, const api_document *document, int link)
{
    return link == DYN_WORLD ? &model->dyn->base : &model->dyn->link[document->links[link].core_index];
}

static bool name_frame(api_model *model, const api_document *document, size_t i, const char *name, int link,
                       const dyn_pose *X_lf)
{
    const dyn_link_place *place = place_of(model, document, link);
    api_frame_name       *frame = &model->frames[i];
    frame->name                 = api_arena_text(&model->arena, name);
    frame->link       = X_lf ? model->link_names[link + 1] : frame->name; /* DYN_WORLD is -1; the base link is first */
    frame->frame.body = place->body;
    frame->frame.X_bf = X_lf ? dyn_pose_compose(&place->X_bl, X_lf) : place->X_bl;
    return frame->name != NULL;
}

static bool name_frames(api_model *model, const api_document *document)
{
    bool ok = name_frame(model, document, 0, document->base, DYN_WORLD, NULL);
    for (size_t i = 0; ok && i < document->n_links; i++)
        ok = name_frame(model, document, i + 1, document->links[i].name, (int)i, NULL);
    for (size_t i = 0; ok && i < model->n_links; i++)
        model->link_names[i] = model->frames[i].name;
    for (size_t i = 0; ok && i < document->n_frames; i++) {
        const api_document_frame *frame = &document->frames[i];
        ok = name_frame(model, document, model->n_links + i, frame->name, frame->link, &frame->X_lf);
    }
    return ok;
}

static bool name_entries(api_model *model, const api_document_link *link, const char *const *ending, int n,
                         const char **names)
{
    for (int k = 0; k < n; k++) {
        char name[API_COORDINATE_NAME];
        snprintf(name, sizeof name, "%s%s", link->joint, ending[k]);
        names[k] = api_arena_text(&model->arena, name);
        if (!names[k]) return false;
    }
    return true;
}

/* Names a joint's coordinates. They are consecutive in dynamics/, those of the joint's last body last. */
static bool name_coordinates(api_model *model, const api_document_link *link, const dyn_body *last)
{
    int nq = dyn_joint_nq(link->dyn.joint), nv = dyn_joint_nv(link->dyn.joint);
    int q = last->joint.q + dyn_joint_nq(last->joint.kind) - nq,
        v = last->joint.v + dyn_joint_nv(last->joint.kind) - nv;
    return name_entries(model, link, api_joint_coordinate_suffixes(link, false), nq, &model->position_names[q]) &&
           name_entries(model, link, api_joint_coordinate_suffixes(link, true), nv, &model->velocity_names[v]);
}

static bool name_joint(api_model *model, const api_document *document, api_joint_name *joint, size_t row)
{
    int                      body  = model->dyn->row_body[row];
    const dyn_body          *dyn   = &model->dyn->body[body];
    int                      index = document->order[dyn->tree.link];
    const api_document_link *link  = &document->links[index];
    *joint                         = (api_joint_name){
                                .name                = api_arena_text(&model->arena, link->joint),
                                .type                = link->type, /* a string literal */
                                .kind                = link->dyn.joint,
                                .link                = model->link_names[index + 1],
                                .parent              = model->link_names[link->parent_index + 1],
                                .actuated            = link->actuated,
                                .has_position_limits = link->has_position_limits,
                                .lower               = link->lower,
                                .upper               = link->upper,
                                .limits              = link->limits,
                                .has_pitch           = dyn_joint_types[link->dyn.joint].has_pitch,
                                .pitch               = link->dyn.pitch,
                                .elastic             = link->dyn.elastic,
                                .motor_lost          = link->motor_lost,
                                .elasticity          = link->dyn.elasticity,
                                .body                = body,
    };
    model->body_names[row]               = joint->link;
    model->mover_names[dyn->joint.mover] = joint->name;
    if (!dyn->joint.mimic) return joint->name && name_coordinates(model, link, dyn);
    joint->leader     = api_arena_text(&model->arena, document->links[link->leader].joint);
    joint->multiplier = dyn->joint.ratio;
    joint->offset     = dyn->joint.offset;
    return joint->name && joint->leader;
}

/* Names the motor coordinates of elastic joints. */
static bool name_rotors(api_model *model, const api_document *document)
{
    const dyn_model *dyn = model->dyn;
    for (size_t i = 0; i < dyn->n_bodies; i++) {
        const dyn_body *b = &dyn->body[i];
        char            name[API_COORDINATE_NAME];
        if (!b->joint.is_rotor || b->joint.mimic) continue;
        snprintf(name, sizeof name, "%s.motor", document->links[document->order[b->tree.link]].joint);
        const char *kept = api_arena_text(&model->arena, name);
        if (!kept) return false;
        model->position_names[b->joint.q] = model->velocity_names[b->joint.v] = model->mover_names[b->joint.mover] =
            kept;
    }
    return true;
}

static bool name_joints(api_model *model, const api_document *document)
{
    size_t first = document->floating ? 1 : 0;
    if (document->floating) {
        model->body_names[0] = model->link_names[0];
        memcpy(model->position_names, api_base_position_names, sizeof api_base_position_names);
        memcpy(model->velocity_names, api_base_velocity_names, sizeof api_base_velocity_names);
    }
    for (size_t row = first; row < model->n_bodies; row++)
        if (!name_joint(model, document, &model->joints[row - first], row)) return false;
    return name_rotors(model, document) && api_transmissions_name(model, document);
}

static bool name_motors(api_model *model, const api_document *document)
{
    for (size_t i = 0; i < document->n_motors; i++) {
        const api_document_motor *from = &document->motors[i];
        api_motor_name           *to   = &model->motors[i];
        *to                            = (api_motor_name){.joint = api_arena_text(&model->arena, from->joint),
                                                          .link =
                                                              model->link_names[from->dyn.link + 1], /* DYN_WORLD is -1; the base link is first */
                                                          .motor = from->dyn};
        if (!to->joint) return false;
    }
    return true;
}

/* Row of the body that a link's joint moves, in the order of dyn_model.row_body; -1: the joint is fixed. */
static int row_of_name(const api_model *model, const api_document *document, size_t link)
{
    for (size_t row = document->floating ? 1 : 0; row < model->n_bodies; row++)
        if (document->order[model->dyn->body[model->dyn->row_body[row]].tree.link] == (int)link) return (int)row;
    return -1;
}

/* Describes the joint and the attached body of each link. `sum` has n_links + 1 entries, those of
 * api_document_sum_bodies. */
static bool attach_bodies(api_model *model, const api_document *document, const dyn_inertia *sum)
{
    model->attached[0] = (api_attached_body){.parent = -1, .row = document->floating ? 0 : -1, .inertia = sum[0]};
    for (size_t i = 0; i < document->n_links; i++) {
        const api_document_link *link = &document->links[i];
        api_attached_body       *to   = &model->attached[i + 1];
        *to                           = (api_attached_body){.joint     = api_arena_text(&model->arena, link->joint),
                                                            .parent    = link->parent_index + 1, /* the base is first */
                                                            .fixed     = link->dyn.joint == DYN_FIXED,
                                                            .row       = row_of_name(model, document, i),
                                                            .at_parent = link->dyn.moment_at_parent_frame,
                                                            .inertia   = sum[i + 1]};
        memcpy(to->point, link->dyn.before.p, sizeof to->point);
        if (!to->joint) return false;
    }
    return true;
}

/* Sums the compensated masses of links that fixed joints connect, from the tips on. */
static void attach_compensations(api_model *model, const api_document *document)
{
    for (size_t i = 0; i <= document->n_links; i++) {
        const dyn_inertia *inertia = i == 0 ? &document->base_inertia : &document->links[i - 1].dyn.inertia;
        dyn_compensation  *to      = &model->attached[i].compensation;
        const double       share =
            i == 0 ? document->base_gravity_compensation : document->links[i - 1].dyn.gravity_compensation;
        to->share = share;
        to->mass  = share * inertia->mass;
        for (int k = 0; k < 3; k++)
            to->h[k] = to->mass * inertia->com[k];
    }
    for (size_t k = document->n_links; k-- > 0;) {
        const int               i    = document->order[k];
        const dyn_link         *link = &document->links[i].dyn;
        const dyn_pose          X    = dyn_pose_compose(&link->before, &link->after);
        const dyn_compensation *part = &model->attached[i + 1].compensation;
        dyn_compensation       *sum  = &model->attached[document->links[i].parent_index + 1].compensation;
        if (link->joint != DYN_FIXED) continue;
        sum->mass += part->mass;
        for (int row = 0; row < 3; row++)
            sum->h[row] += part->mass * X.p[row] + dyn_dot(X.R[row], part->h);
    }
}

static bool name_attached(api_model *model, const api_document *document, api_arena *scratch)
{
    dyn_inertia *sum = api_arena_take(scratch, document->n_links + 1, sizeof *sum);
    if (!sum) return false;
    api_document_sum_bodies(document, sum);
    if (!attach_bodies(model, document, sum)) return false;
    attach_compensations(model, document);
    return true;
}

bool api_model_copy_names(api_model *model, const api_document *document, api_arena *scratch)
{
    return take_arrays(model, document) && name_frames(model, document) && name_joints(model, document) &&
           name_motors(model, document) && name_attached(model, document, scratch);
}
