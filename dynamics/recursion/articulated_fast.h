/* articulated_fast.h - fast path of forward_dynamics.c for plain runs: chains of ideal revolute joints.
 *
 * Condition: dyn_run.plain, a property of the model. Without this path forward dynamics takes 1.13 (one lane, 8 lanes)
 * to 1.17 times (4 lanes) as long on average over the benchmark robots; without the fast path of the last pass alone,
 * up to 1.08 times. I^A, p^A and, in the last pass, alpha stay in registers along the run. Without a rotor inertia the
 * row of I^a for the joint's axis is zero, and is neither computed nor rotated. newton_euler_fast.h computes the wrench
 * f0 of a body about the origin of the next body of the run; so f0 is added to the next body's p^a before the sum is
 * shifted to the body's origin. */
#pragma once
#include "articulated_pass.h"

/* Replaces I by I^a = I - U G^T, with U = I S and G = U / D. The row and column of the revolute joint's axis are
 * exactly zero and are not set. */
LANE_INLINE void articulated_project_plain(articulated *I, const wrench *U, const wrench *G)
{
    const lane f[3] = {U->f.x, U->f.y, U->f.z}, g[2] = {G->n.x, G->n.y};
    I->Q    = sym3_sub_product(I->Q, G->f, U->f);
    I->A.xx = sub_mul(I->A.xx, G->n.x, U->n.x);
    I->A.xy = sub_mul(I->A.xy, G->n.x, U->n.y);
    I->A.yy = sub_mul(I->A.yy, G->n.y, U->n.y);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            I->H.m[i][j] = sub_mul(I->H.m[i][j], g[i], f[j]);
}

/* Eliminates the joint of body i from I^A and p^A in `body`: U = I^A S, D = S^T U, u = tau - S^T p^A, I^a = I^A - U U^T
 * / D, p^a = p^A + U u / D. */
LANE_INLINE void eliminate_plain_joint(const articulated_pass *p, int i, articulated_body *body)
{
    const dyn_body       *b = &p->scene->model->body[i];
    const lane            u = p->tau[b->joint.v] - body->p.n.z;
    const wrench          U = articulated_along(&body->I, DYN_REVOLUTE);
    const joint_solution *s = solve_joint(p, i, &(joint_equation){U, U.n.z, u});
    if (b->tree.parent == DYN_WORLD) return;
    articulated_project_plain(&body->I, &U, &s->G);
    body->p = articulated_add_effort(body->p, &U, s->g);
}

/* Rotates I and p of `body` to the parent's axes, and adds `own` to p: the parent's wrench f0 about the origin of
 * `body` (see the top of the file). */
LANE_INLINE void articulated_to_previous_form(link_transform X, const wrench *own, articulated_body *body,
                                              bool axis_row_is_zero)
{
    articulated_rotate(X, &body->I, axis_row_is_zero);
    body->p = (wrench){to_parent_add(X, own->f, body->p.f), to_parent_add(X, own->n, body->p.n)};
}

/* Replaces I^a and p^a of body i, which its joint transmits to the parent, by I^A and p^A of the parent, the previous
 * body. `axis_row_is_zero`: S^T I^a = 0. */
LANE_INLINE void articulated_to_previous_body(const articulated_pass *p, int i, articulated_body *body,
                                              bool axis_row_is_zero)
{
    const dyn_body        *b   = &p->scene->model->body[i];
    const joint_transform *XJ  = &p->ws->euler.XJ[i];
    const wrench          *own = &p->ws->euler.required[i - 1];
    if (axis_row_is_zero) {
        WITH_REVOLUTE_TRANSFORM(b, XJ, articulated_to_previous_form, own, body, true)
    } else {
        WITH_REVOLUTE_TRANSFORM(b, XJ, articulated_to_previous_form, own, body, false)
    }
    articulated_to_parent_origin(b, body);
    body->I = articulated_with_rigid(body->I, b - 1);
}

/* Computes I^A and p^A of the bodies of a plain run, tip to base: I_p^A += X^T I^a X, p_p^A += X^T p^a. `driven`, a
 * constant of the inlined code: some coordinates are locked. */
LANE_INLINE void articulated_plain_run(const articulated_pass *p, dyn_run run, const bool driven)
{
    const dyn_body  *bodies = p->scene->model->body, *first = &bodies[run.first];
    int              i    = run.end - 1;
    articulated_body body = articulated_body_of(p, i);
    bool             locked;
    for (;; i--) {
        assume_plain_body(&bodies[i], true);
        locked = driven && is_driven(p, bodies[i].joint.v);
        if (!locked) eliminate_plain_joint(p, i, &body);
        if (i == run.first) break;
        articulated_to_previous_body(p, i, &body, !locked);
    }
    if (first->tree.parent == DYN_WORLD) return;
    assume_plain_body(first, true);
    articulated_to_parent(first, &p->ws->euler.XJ[run.first], &body, !locked);
    add_to_parent(p, first, &body);
}

/* Stores qdd = sdd, or the prescribed qdd if the joint is driven. If it is not driven, adds S sdd to the acceleration
 * alpha of the body. */
LANE_INLINE void plain_acceleration_out(const articulated_pass *p, const dyn_body *b, lane sdd, twist *alpha,
                                        const bool driven)
{
    const bool locked = driven && is_driven(p, b->joint.v);
    alpha->w.z += locked ? lane_of(0) : sdd;
    p->qdd[b->joint.v] = locked ? p->io->qdd[b->joint.v] : sdd;
}

/* Computes qdd and the accelerations alpha along a plain run, base to tip. The world's alpha is zero and needs no
 * transform. */
LANE_INLINE void acceleration_plain_run(const articulated_pass *p, dyn_run run, const bool driven)
{
    const dyn_body   *body  = p->scene->model->body;
    articulated_link *link  = p->ws->link;
    int               i     = run.first;
    twist             alpha = {vec3_zero(), vec3_zero()};
    if (body[i].tree.parent == DYN_WORLD) {
        plain_acceleration_out(p, &body[i], link[i].joint.g, &alpha, driven);
        i++;
    } else {
        alpha = link[body[i].tree.parent].alpha;
    }
    for (; i < run.end; i++) {
        const dyn_body *b = &body[i];
        assume_plain_body(b, true);
        alpha = twist_at(alpha, b->pose.p_pc, b->pose.offsets);
        WITH_REVOLUTE_TRANSFORM(b, &p->ws->euler.XJ[i], twist_to_child_form, &alpha)
        plain_acceleration_out(p, b, joint_acceleration(&link[i].joint, alpha), &alpha, driven);
    }
    if (body[run.end - 1].tree.carries_run) link[run.end - 1].alpha = alpha;
}

/* The two functions of a plain run with driven coordinates, which are rare: the functions are not inlined. */
LANE_NOINLINE void articulated_driven_plain_run(const articulated_pass *p, dyn_run run)
{
    articulated_plain_run(p, run, true);
}
LANE_NOINLINE void acceleration_driven_plain_run(const articulated_pass *p, dyn_run run)
{
    acceleration_plain_run(p, run, true);
}
