/* geared_joint.h - eliminates geared joints in forward dynamics: joints of several bodies with one coordinate
 * (NOTATION.md, "Expanded joints"). These are helical joints, and joints with a rotor on one of the two links that they
 * connect.
 *
 * In the pass of forward_dynamics.c that computes articulated inertias, bodies without a coordinate of their own are
 * locked: they add their articulated inertia I and wrench p unchanged to the parent. So a rotor is part of the link
 * that carries it. Its spin r sdd, with gear ratio r, about an axis a with inertia J, adds the moment r J a sdd to that
 * link. At the joint the spin adds the effort r (J a . wd + r J sdd + S_r^T p_r), where S_r and p_r are axis and wrench
 * of the rotor. The bodies of a helical joint with pitch h move together along S = [h e_z; e_z]. With c = [0; r J a]
 * and the motor on the parent,
 *
 *     U = I S + c,  D = S^T I S + r^2 J,  u = tau - S^T p - r S_r^T p_r.
 *
 * If the motor is on the body itself, whose wd includes S sdd, D has the additional term 2 S^T c. */
#pragma once
#include "articulated_pass.h"

/* True for a slide or rotor body that is part of a joint and has the joint's coordinate. Not for models that are
 * `dense`, in which mimics may be joints of their own. */
LANE_INLINE bool is_joint_part(const dyn_body *b)
{
    return b->joint.mimic;
}

LANE_INLINE bool is_geared_joint(const dyn_body *b)
{
    return b->joint.rotor >= 0 || b->joint.has_slide_body;
}

/* Returns the slide of a helical joint, a massless body that slides along the axis; it precedes the joint's own body
 * b. */
LANE_INLINE const dyn_body *slide_of(const dyn_body *b)
{
    return b - 1;
}

/* Returns the pitch h of a helical joint, in m per rad of the joint's rotation; 0 for other joints. */
LANE_INLINE double slide_ratio(const dyn_body *b)
{
    return b->joint.has_slide_body ? slide_of(b)->joint.ratio / b->joint.ratio : 0;
}

LANE_INLINE void axis_form(link_transform X, vec3 *a)
{
    *a = to_child(X, *a);
}

/* Returns r J a (top of the file), the moment on the motor's link per unit of joint acceleration, in the axes of body
 * i. If the motor is on another body, the vector is rotated from the axes of that body. */
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

/* Adds the terms of the rotor to the equation of motion of the joint of body i, with the symbols of the top of the
 * file: U += c,  D += r^2 J (+ 2 S^T c),  u -= r (S_r^T p_r + friction and spring of the motor). */
static inline void add_rotor(const articulated_pass *p, int i, joint_equation *e)
{
    const dyn_model *m = p->scene->model;
    const dyn_body  *b = &m->body[i], *rotor = &m->body[b->joint.rotor];
    const double     r = rotor->joint.ratio / b->joint.ratio;
    const vec3       n = spin_moment(m, p->ws->euler.XJ, i);
    e->D += r * r * rotor->joint.spin_inertia;
    if (rotor->tree.parent == i && b->joint.kind == DYN_REVOLUTE) e->D += n.z + n.z;
    e->U.n = add(e->U.n, n);
    e->u -=
        r * (p->ws->euler.required[b->joint.rotor].n.z + joint_passive(rotor, p->scene->terms, p->io->q, p->io->qd));
}

/* Returns the equation of motion of the joint of body i. The slide of a helical joint also carries the mass on the
 * joint axis that regrouping moved from body i to its parent (model.h). */
static inline joint_equation geared_joint_equation(const articulated_pass *p, int i, const articulated_body *body)
{
    const dyn_body *b     = &p->scene->model->body[i];
    const double    h     = slide_ratio(b);
    const bool      along = b->joint.kind == DYN_PRISMATIC;
    joint_equation  e     = {.U = articulated_along(&body->I, b->joint.kind),
                             .u = net_effort(p, b) - effort_along(b, body->p)};
    if (b->joint.has_slide_body) {
        const wrench slide = articulated_along(&body->I, DYN_PRISMATIC);
        e.U                = (wrench){add_scaled(e.U.f, slide.f, lane_of(h)), add_scaled(e.U.n, slide.n, lane_of(h))};
        e.u -= h * (body->p.f.z + p->ws->euler.required[i - 1].f.z);
    }
    e.D = (along ? e.U.f.z : e.U.n.z) + b->joint.rotor_inertia;
    if (b->joint.has_slide_body) e.D = add_mul(e.D, h, e.U.f.z);
    if (b->joint.rotor >= 0) add_rotor(p, i, &e);
    return e;
}

/* Eliminates the joint of body i from I^A and p^A of the body. Returns I^a and p^a, which the joint transmits to the
 * parent. */
LANE_NOINLINE articulated_body eliminate_geared_joint(const articulated_pass *p, int i, articulated_body body)
{
    const joint_equation  e = geared_joint_equation(p, i, &body);
    const joint_solution *s = solve_joint(p, i, &e);
    articulated_subtract(&body.I, &e.U, &s->G);
    body.p = articulated_add_effort(body.p, &e.U, s->g);
    return body;
}
