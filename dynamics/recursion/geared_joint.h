/* geared_joint.h - forward dynamics of joints that are made of several bodies with one coordinate (NOTATION.md, "What
 * is expanded"): with a rotor on one of the two links that the joint connects, and helical ones.
 *
 * Bodies without a coordinate of their own are locked in what the coordinates leave (forward_dynamics.c), and hand on
 * their I and p whole: a rotor is then part of the link that carries it. That it spins at r sdd beside, a being its
 * axis and J its inertia, takes a moment r J a sdd of that link, and at the joint the effort r (J a . wd + r J sdd +
 * S_r^T p_r). A helical joint's bodies move along S = [h e_z; e_z] together, h the pitch. With c = [0; r J a] and the
 * motor on the parent,
 *
 *     U = I S + c,  D = S^T I S + r^2 J,  u = tau - S^T p - r S_r^T p_r;
 *
 * on the body itself, whose w has S sd in it, D has 2 S^T c more. */
#pragma once
#include "articulated_inertia.h"
#include "newton_euler_forward.h"
#include "dynamics/joint/joint_forces.h"

typedef struct geared_joint {
    wrench U;
    lane   pivot, u; /* D, what is left of tau */
} geared_joint;

/* Of a joint's bodies that have no coordinate, in models that are not `dense`. */
LANE_INLINE bool is_joint_part(const dyn_body *b)
{
    return b->mimic;
}

LANE_INLINE bool is_geared_joint(const dyn_body *b)
{
    return b->rotor >= 0 || b->has_slide_body;
}

/* h of a helical joint per position of what turns; 0 of others. */
LANE_INLINE double slide_ratio(const dyn_body *b)
{
    return b->has_slide_body ? b[-1].ratio / b->ratio : 0;
}

LANE_INLINE void axis_form(const dyn_body *b, joint_transform XJ, vec3 *a, dyn_joint_kind joint, dyn_turn turn)
{
    *a = to_child(b, XJ, *a, joint, turn);
}

/* r J a in the axes of body i. */
static inline vec3 spin_moment(const dyn_model *m, const joint_transform *XJ, int i)
{
    const dyn_body *b = &m->body[i], *rotor = &m->body[b->rotor];
    double          a[3];
    axis_in_parent(rotor, a);
    vec3 c = times(rotor->spin_inertia * rotor->ratio / b->ratio, vec3_of(a));
    for (int k = i - b->has_slide_body; rotor->parent != i && k <= i; k++)
        BODY_FORMS(&m->body[k], axis_form, &m->body[k], XJ[k], &c)
    return c;
}

/* What the rotor of body i adds. */
static inline void add_rotor(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io, int i,
                             geared_joint *c)
{
    const dyn_body *b = &scene->model->body[i], *rotor = &scene->model->body[b->rotor];
    double          r = rotor->ratio / b->ratio;
    vec3            n = spin_moment(scene->model, ws->XJ, i);
    c->pivot += r * r * rotor->spin_inertia;
    if (rotor->parent == i && b->joint == DYN_REVOLUTE) c->pivot += n.z + n.z;
    c->U.n = add(c->U.n, n);
    c->u -= r * (ws->required[b->rotor].n.z + joint_passive(rotor, scene->terms, io->q, io->qd));
}

/* Body i of a compound joint, whose effort is tau without what acts in the joint. What a body has given away (model.h)
 * its slide has, which moves along with it. */
static inline geared_joint geared_joint_of(const dyn_scene *scene, const newton_euler_workspace *ws,
                                           const newton_euler_io *io, int i, lane effort, const articulated *I,
                                           const wrench *p)
{
    const dyn_body *b     = &scene->model->body[i];
    const double    h     = slide_ratio(b);
    const bool      along = b->joint == DYN_PRISMATIC;
    geared_joint    c     = {.U = articulated_along(I, b->joint), .u = effort - (along ? p->f.z : p->n.z)};
    if (b->has_slide_body) {
        wrench slide = articulated_along(I, DYN_PRISMATIC);
        c.U          = (wrench){add_scaled(c.U.f, slide.f, lane_of(h)), add_scaled(c.U.n, slide.n, lane_of(h))};
        c.u -= h * (p->f.z + ws->required[i - 1].f.z);
    }
    c.pivot = (along ? c.U.f.z : c.U.n.z) + b->rotor_inertia;
    if (b->has_slide_body) c.pivot = add_mul(c.pivot, h, c.U.f.z);
    if (b->rotor >= 0) add_rotor(scene, ws, io, i, &c);
    return c;
}
