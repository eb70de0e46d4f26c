/* geared_joint.h - eliminates geared joints in forward dynamics: joints of several bodies with one coordinate
 * (NOTATION.md, "Expanded joints"). These are helical joints, and joints with a rotor on one of the two links that they
 * connect.
 *
 * In the pass of forward_dynamics.c that computes articulated inertias, bodies without a coordinate of their own are
 * locked: they pass on their articulated inertia I and wrench p unchanged. So a rotor is part of the link that carries
 * it. Its spin r sdd, about an axis a with inertia J, adds the moment r J a sdd to that link. At the joint the spin
 * adds the effort r (J a . wd + r J sdd + S_r^T p_r), where S_r and p_r are axis and wrench of the rotor. The bodies of
 * a helical joint with pitch h move together along S = [h e_z; e_z]. With c = [0; r J a] and the motor on the parent,
 *
 *     U = I S + c,  D = S^T I S + r^2 J,  u = tau - S^T p - r S_r^T p_r.
 *
 * With the motor on the body itself, whose w includes S sd, D has 2 S^T c in addition. */
#pragma once
#include "articulated_inertia.h"
#include "newton_euler_forward.h"
#include "dynamics/joint/joint_forces.h"

typedef struct geared_joint {
    wrench U;
    lane   pivot, u; /* pivot D, and the part u of tau that accelerates it */
} geared_joint;

/* True for a slide or rotor body that is part of a joint and follows its coordinate. The model must not be `dense`:
 * there, mimics may be joints of their own. */
LANE_INLINE bool is_joint_part(const dyn_body *b)
{
    return b->joint.mimic;
}

LANE_INLINE bool is_geared_joint(const dyn_body *b)
{
    return b->joint.rotor >= 0 || b->joint.has_slide_body;
}

/* Pitch h of a helical joint per unit of the joint's rotation; 0 for other joints. */
LANE_INLINE double slide_ratio(const dyn_body *b)
{
    return b->joint.has_slide_body ? b[-1].joint.ratio / b->joint.ratio : 0;
}

LANE_INLINE void axis_form(link_transform X, vec3 *a)
{
    *a = to_child(X, *a);
}

/* r J a, the moment on the link per unit of joint acceleration, in the axes of body i. */
static inline vec3 spin_moment(const dyn_model *m, const joint_transform *XJ, int i)
{
    const dyn_body *b = &m->body[i], *rotor = &m->body[b->joint.rotor];
    double          a[3];
    axis_in_parent(rotor, a);
    vec3 c = times(rotor->joint.spin_inertia * rotor->joint.ratio / b->joint.ratio, vec3_of(a));
    for (int k = i - b->joint.has_slide_body; rotor->tree.parent != i && k <= i; k++)
        WITH_LINK_TRANSFORM(&m->body[k], &XJ[k], axis_form, &c)
    return c;
}

/* Adds the terms of the rotor of body i to the geared joint c of the body. */
static inline void add_rotor(const dyn_scene *scene, const newton_euler_workspace *ws, const newton_euler_io *io, int i,
                             geared_joint *c)
{
    const dyn_body *b = &scene->model->body[i], *rotor = &scene->model->body[b->joint.rotor];
    double          r = rotor->joint.ratio / b->joint.ratio;
    vec3            n = spin_moment(scene->model, ws->XJ, i);
    c->pivot += r * r * rotor->joint.spin_inertia;
    if (rotor->tree.parent == i && b->joint.kind == DYN_REVOLUTE) c->pivot += n.z + n.z;
    c->U.n = add(c->U.n, n);
    c->u -= r * (ws->required[b->joint.rotor].n.z + joint_passive(rotor, scene->terms, io->q, io->qd));
}

/* Computes U, D and u of the geared joint of body i (see the top of the file). `effort` is tau minus friction and
 * spring of the joint. The slide of a helical joint also carries the mass that body i moved to its parent (model.h). */
static inline geared_joint geared_joint_of(const dyn_scene *scene, const newton_euler_workspace *ws,
                                           const newton_euler_io *io, int i, lane effort, const articulated *I,
                                           const wrench *p)
{
    const dyn_body *b     = &scene->model->body[i];
    const double    h     = slide_ratio(b);
    const bool      along = b->joint.kind == DYN_PRISMATIC;
    geared_joint    c     = {.U = articulated_along(I, b->joint.kind), .u = effort - (along ? p->f.z : p->n.z)};
    if (b->joint.has_slide_body) {
        wrench slide = articulated_along(I, DYN_PRISMATIC);
        c.U          = (wrench){add_scaled(c.U.f, slide.f, lane_of(h)), add_scaled(c.U.n, slide.n, lane_of(h))};
        c.u -= h * (p->f.z + ws->required[i - 1].f.z);
    }
    c.pivot = (along ? c.U.f.z : c.U.n.z) + b->joint.rotor_inertia;
    if (b->joint.has_slide_body) c.pivot = add_mul(c.pivot, h, c.U.f.z);
    if (b->joint.rotor >= 0) add_rotor(scene, ws, io, i, &c);
    return c;
}
