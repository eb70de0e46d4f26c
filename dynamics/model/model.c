/* model.c - builds the canonical tree (model.h) from a description: merges fixed joints, orders bodies and coordinates.
 * description.c checks the description, canonical.c converts single joints and inertias, derived_data.c computes what
 * depends on the whole tree. */
#include "canonical.h"
#include "description.h"
#include "expand_joints.h"
#include "pose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    dyn_model      *m;
    dyn_body       *body;
    dyn_link_place *link;
    dyn_coupling   *coupling;
    dyn_drive      *drive;
    int            *row_body;
    dyn_run        *run;
} builder;

/* Adds the inertia of a link, whose frame has the pose X in the body frame, to a body; also the compensated `share` of
 * its weight. */
static void add_mass(dyn_body *b, const dyn_pose *X, const dyn_inertia *inertia, double share)
{
    dyn_compensation *c = &b->compensation;
    dyn_canonical_inertia(b, X, inertia);
    if (share != 0) dyn_canonical_compensation(b, X, inertia, share);
    if (inertia->mass == 0) return;
    c->mixed   = c->mixed || (c->weighed && c->share != share);
    c->share   = c->weighed ? c->share : share;
    c->weighed = true;
}

/* --- the tree --------------------------------------------------------------------------------------------- */

/* Gives body `index` a row in the outputs that have one row per body. */
static void add_row(builder *to, int index)
{
    to->body[index].tree.row      = (int)to->m->n_rows;
    to->row_body[to->m->n_rows++] = index;
}

static void add_base(builder *to, const dyn_description *d)
{
    dyn_model *m = to->m;
    m->base      = (dyn_link_place){DYN_WORLD, pose_identity()};
    if (!d->floating) return;
    m->base.body     = 0;
    const dyn_link l = {.joint         = DYN_FLOATING,
                        .before        = pose_identity(),
                        .after         = pose_identity(),
                        .ratio         = 1,
                        .rotor_inertia = d->base_rotor_inertia,
                        .spring        = {.damping = d->base_damping}};
    dyn_body      *b = &to->body[m->n_bodies++];
    *b = (dyn_body){.tree.parent = DYN_WORLD, .tree.link = DYN_WORLD, .joint.mover = -1, .joint.rotor = -1};
    dyn_canonical_joint(b, &l, &l.before);
    b->compensation.share = d->base_gravity_compensation;
    add_mass(b, &b->pose.X_bl, &d->base_inertia, d->base_gravity_compensation);
    add_row(to, 0);
    m->nq = dyn_joint_nq(DYN_FLOATING);
    m->nv = dyn_joint_nv(DYN_FLOATING);
}

static void take_coordinates(builder *to, dyn_body *b, dyn_joint_kind joint)
{
    b->joint.q = to->m->nq;
    b->joint.v = to->m->nv;
    to->m->nq += dyn_joint_nq(joint);
    to->m->nv += dyn_joint_nv(joint);
}

/* Adds a body for the joint of link l, number `index`, on the body at `place`; then sets `place` to the link frame's
 * pose in the new body. */
static dyn_body *add_body(builder *to, const dyn_link *l, int index, dyn_link_place *place)
{
    dyn_model *m     = to->m;
    dyn_body  *b     = &to->body[m->n_bodies];
    dyn_pose   joint = pose_mul(&place->X_bl, &l->before);
    *b               = (dyn_body){.tree.parent = place->body,
                                  .tree.link   = index,
                                  .joint.mimic = l->mimic,
                                  .tree.row    = -1,
                                  .joint.mover = -1,
                                  .joint.rotor = -1};
    if (!l->mimic) take_coordinates(to, b, l->joint);
    dyn_canonical_joint(b, l, &joint);
    *place = (dyn_link_place){(int)m->n_bodies++, b->pose.X_bl};
    return b;
}

/* Adds the bodies of link l, number `index`. The last body of an expanded joint is the link itself and has a row in the
 * outputs. */
static void add_link(builder *to, const dyn_link *l, int index)
{
    dyn_link_place *place = &to->link[index];
    *place                = l->parent == DYN_WORLD ? to->m->base : to->link[l->parent];
    if (l->joint == DYN_FIXED) {
        dyn_pose joint = pose_mul(&place->X_bl, &l->before);
        place->X_bl    = pose_mul(&joint, &l->after);
    } else {
        dyn_link part[DYN_MAX_PARTS];
        size_t   last = dyn_expand_joint(l, part) - 1;
        for (size_t k = 0; k < last; k++)
            add_body(to, &part[k], index, place);
        dyn_body *b           = add_body(to, &part[last], index, place);
        b->joint.mover        = (int)to->m->n_movers++;
        b->joint.is_multi_dof = dyn_joint_nv(l->joint) > 1;
        b->compensation.share = l->gravity_compensation;
        if (l->elastic) b->joint.rotor_inertia = 0; /* it belongs to the motor coordinate of an elastic joint */
        add_row(to, place->body);
    }
    if (place->body != DYN_WORLD) add_mass(&to->body[place->body], &place->X_bl, &l->inertia, l->gravity_compensation);
}

/* Adds the motor coordinate of an elastic joint and its coupling to the joint's coordinate. */
static void add_elasticity(builder *to, const dyn_link *l, dyn_body *rotor)
{
    const dyn_body *b = &to->body[to->link[rotor->tree.link].body];
    take_coordinates(to, rotor, DYN_REVOLUTE);
    rotor->joint.mover = (int)to->m->n_movers++;
    to->coupling[to->m->n_couplings++] =
        (dyn_coupling){b->joint.q, rotor->joint.q, b->joint.v, rotor->joint.v, l->elasticity};
}

/* Adds a rotor. Rotors are added after all other bodies, so that motor coordinates follow all joint coordinates. */
static void add_rotor(builder *to, const dyn_link *l, int index)
{
    const dyn_link_place  world = {DYN_WORLD, pose_identity()};
    const dyn_link_place *place = !l->motor.present            ? &world
                                  : l->motor.link == DYN_WORLD ? &to->m->base
                                                               : &to->link[l->motor.link];
    dyn_body             *rotor = &to->body[to->m->n_bodies++];
    *rotor                      = (dyn_body){.tree.link   = index,
                                             .tree.row    = -1,
                                             .joint.mover = to->body[to->link[index].body].joint.mover,
                                             .joint.mimic = !l->elastic,
                                             .joint.rotor = -1};
    dyn_make_rotor_body(rotor, place->body == DYN_WORLD ? NULL : &to->body[place->body], place, l);
    if (l->elastic) add_elasticity(to, l, rotor);
}

/* True if body i slides along the axis of the joint of `carried`, the body that it carries, as forward dynamics assumes
 * (geared_joint.h). */
static bool slides_along_axis(const dyn_body *body, int i, const dyn_body *carried)
{
    return body[i].joint.kind == DYN_PRISMATIC && carried->tree.parent == i && carried->pose.turn == DYN_TURN_NONE;
}

/* Tries to make body i, which has no coordinate, a part of the joint of `joint_body`: its slide, or a rotor on one of
 * the two links that the joint connects. Returns false if body i slides in another direction, or is a rotor on another
 * link. */
static bool join_as_part(builder *to, int i, int joint_body)
{
    const dyn_body *b   = &to->body[i];
    dyn_body       *own = &to->body[joint_body];
    if (!b->joint.is_rotor) {
        if (!slides_along_axis(to->body, i, own)) return false;
        own->joint.has_slide_body = true;
    } else {
        if (b->tree.parent != joint_body &&
            b->tree.parent != to->body[joint_body - own->joint.has_slide_body].tree.parent)
            return false;
        own->joint.rotor = i;
    }
    return true;
}

static void resolve_mimics(builder *to, const dyn_description *d)
{
    for (size_t i = 0; i < to->m->n_bodies; i++) {
        dyn_body *b = &to->body[i];
        if (!b->joint.mimic) continue;
        const dyn_link *l           = &d->links[b->tree.link];
        int             leader_body = to->link[l->mimic ? l->leader : b->tree.link].body;
        const dyn_body *leader      = &to->body[leader_body];
        if (l->mimic || !join_as_part(to, (int)i, leader_body)) to->m->dense = true;
        b->joint.q        = leader->joint.q;
        b->joint.v        = leader->joint.v;
        to->m->has_mimics = true;
    }
}

/* True if all joints of a drive are on one path from a tip to the base. */
static bool is_on_chain(const dyn_body *body, const dyn_drive *d)
{
    int last = d->joint[0];
    for (size_t j = 1; j < d->n; j++)
        if (d->joint[j] > last) last = d->joint[j];
    size_t met = 0;
    for (int i = last; i != DYN_WORLD; i = body[i].tree.parent)
        for (size_t j = 0; j < d->n; j++)
            met += d->joint[j] == i;
    return met == d->n;
}

/* Adds the motors of coupled transmissions. drive->joint becomes the entries of the joints in qd instead of their
 * links. */
static void add_drives(builder *to, const dyn_description *d)
{
    dyn_model *m = to->m;
    for (size_t k = 0; k < d->n_drives; k++) {
        dyn_drive *drive = &to->drive[k];
        *drive           = d->drives[k];
        for (size_t j = 0; j < drive->n; j++)
            drive->joint[j] = to->link[drive->joint[j]].body;
        if (!is_on_chain(to->body, drive)) m->dense = true;
        for (size_t j = 0; j < drive->n; j++)
            drive->joint[j] = to->body[drive->joint[j]].joint.v;
    }
    m->n_drives = d->n_drives;
    m->n_movers += d->n_drives;
}

/* Numbers the degrees of freedom of all joints, including those of mimics, and the quaternions. */
static void number_dofs(dyn_model *m, dyn_body *body)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        body[i].joint.dof        = (int)m->n_dofs;
        body[i].joint.quaternion = (int)m->n_quaternions;
        m->n_dofs += (size_t)dyn_joint_nv(body[i].joint.kind);
        m->n_quaternions += dyn_joint_has_quaternion(body[i].joint.kind);
    }
}

/* True if a link of some body has gravity compensation, even if the link has no mass now. */
static bool has_compensation(const dyn_model *m)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_compensation *c = &m->body[i].compensation;
        if (c->share != 0 || c->mixed) return true;
    }
    return false;
}

static bool has_load(const dyn_model *m)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        if (m->body[i].joint.friction.load > 0) return true;
    return false;
}

/* Numbers of the elements of a model's arrays. */
typedef struct model_size {
    size_t n_bodies, n_links, n_couplings, n_drives;
} model_size;

/* Allocates the model with all its arrays as one block: bodies, links, couplings, drives, rows, runs. */
static dyn_model *allocate(const model_size *n, builder *to)
{
    size_t bytes = sizeof(dyn_model) + n->n_bodies * (sizeof(dyn_body) + sizeof(int) + sizeof(dyn_run)) +
                   n->n_links * sizeof(dyn_link_place) + n->n_couplings * sizeof(dyn_coupling) +
                   n->n_drives * sizeof(dyn_drive);
    dyn_model *m = calloc(1, bytes);
    if (!m) return NULL;
    to->m        = m;
    to->body     = (dyn_body *)(m + 1);
    to->link     = (dyn_link_place *)(to->body + n->n_bodies);
    to->coupling = (dyn_coupling *)(to->link + n->n_links);
    to->drive    = (dyn_drive *)(to->coupling + n->n_couplings);
    to->row_body = (int *)(to->drive + n->n_drives);
    to->run      = (dyn_run *)(to->row_body + n->n_bodies);
    m->body      = to->body;
    m->link      = to->link;
    m->coupling  = to->coupling;
    m->drive     = to->drive;
    m->row_body  = to->row_body;
    m->run       = to->run;
    m->bytes     = bytes;
    return m;
}

dyn_status dyn_model_build(const dyn_description *d, dyn_model **model, int *where)
{
    int        ignored;
    dyn_status status = dyn_description_check(d, where ? where : &ignored);
    if (status != DYN_OK) return status;
    model_size n = {.n_bodies = d->floating, .n_links = d->n_links, .n_drives = d->n_drives};
    for (size_t i = 0; i < d->n_links; i++) {
        n.n_bodies += dyn_count_parts(&d->links[i]) + dyn_link_has_rotor_body(&d->links[i]);
        n.n_couplings += d->links[i].elastic;
    }
    builder    to;
    dyn_model *m = allocate(&n, &to);
    if (!m) return DYN_NO_MEMORY;
    m->n_links  = d->n_links;
    m->floating = d->floating;
    memcpy(m->gravity, d->gravity, sizeof m->gravity);
    add_base(&to, d);
    for (size_t i = 0; i < d->n_links; i++)
        add_link(&to, &d->links[i], (int)i);
    for (size_t i = 0; i < d->n_links; i++)
        if (dyn_link_has_rotor_body(&d->links[i])) add_rotor(&to, &d->links[i], (int)i);
    resolve_mimics(&to, d);
    add_drives(&to, d);
    number_dofs(m, to.body);
    m->has_load    = has_load(m);
    m->compensated = has_compensation(m);
    dyn_canonical_align(m, to.body, to.link);
    dyn_derive_data(m, to.body, to.run);
    *model = m;
    return DYN_OK;
}

static void add_payload(dyn_model *m, dyn_body *body, const dyn_payload *payload)
{
    dyn_canonical_inertia(body, &payload->X_bf, &payload->inertia);
    if (payload->gravity_compensation == 0) return;
    dyn_canonical_compensation(body, &payload->X_bf, &payload->inertia, payload->gravity_compensation);
    m->compensated = true;
}

dyn_status dyn_model_with_payload(const dyn_model *model, size_t n, const dyn_payload *payload, dyn_model **loaded)
{
    builder          to;
    const model_size size = {model->n_bodies, model->n_links, model->n_couplings, model->n_drives};
    dyn_model       *m    = allocate(&size, &to);
    if (!m) return DYN_NO_MEMORY;
    *m          = *model;
    m->body     = to.body;
    m->link     = to.link;
    m->coupling = to.coupling;
    m->drive    = to.drive;
    m->row_body = to.row_body;
    m->run      = to.run;
    memcpy(to.body, model->body, model->n_bodies * sizeof *to.body);
    memcpy(to.link, model->link, model->n_links * sizeof *to.link);
    memcpy(to.coupling, model->coupling, model->n_couplings * sizeof *to.coupling);
    memcpy(to.drive, model->drive, model->n_drives * sizeof *to.drive);
    memcpy(to.row_body, model->row_body, model->n_rows * sizeof *to.row_body);
    for (size_t i = 0; i < n; i++) {
        int body = payload[i].body;
        if (body < DYN_WORLD || body >= (int)model->n_bodies || !dyn_inertia_is_finite(&payload[i].inertia) ||
            !isfinite(payload[i].gravity_compensation)) {
            free(m);
            return DYN_BAD_NUMBER;
        }
        if (body != DYN_WORLD) add_payload(m, &to.body[body], &payload[i]);
    }
    dyn_derive_data(m, to.body, to.run);
    *loaded = m;
    return DYN_OK;
}

void dyn_model_free(dyn_model *model)
{
    free(model);
}

/* Returns the length of a vector, without overflow or underflow of the squares of its components. */
static double length(const double v[3])
{
    double scale = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (scale == 0 || (scale > 1e-140 && scale < 1e140)) return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double x = v[0] / scale, y = v[1] / scale, z = v[2] / scale;
    return scale * sqrt(x * x + y * y + z * z);
}

double dyn_point_reach(const dyn_model *model, int body, const double p[3])
{
    double sum = length(p);
    for (int i = body; i != DYN_WORLD; i = model->body[i].tree.parent)
        sum += length(model->body[i].pose.p_pc);
    return sum > 0 ? sum : 1;
}
