/* sensitivity_pairs.h - the backward pass of sensitivity.c for any joint: composites, tips to base, and the entries of
 * dtau/dq, dtau/dqd and dtau/dqdd for pairs of dofs (degrees of freedom).
 *
 * Singh, Russell, Wensing (2022), eqs. as in sensitivity.c. Let a be a dof of body i. The derivatives F(a) of the force
 * on the composite of i, and the rows t = I S_a, r = 2 B^T S_a, k = K^T S_a, are transformed from body to body towards
 * the base. At each body they give the entries with the dofs b of its joint. sensitivity_fast.h only makes it faster.
 */
#pragma once
#include "sensitivity_pass.h"

/* --- entries of a dof a with the joint b of the same body or of an ancestor ------------------------------------- */

/* S . f for a joint of one coordinate, whose axis S is the ratio times e_z. */
LANE_INLINE lane along_axis(const dyn_body *b, wrench f)
{
    return coordinate_effort(b, b->joint.kind == DYN_PRISMATIC ? f.f.z : f.n.z);
}

/* A joint of one coordinate:
 *     d tau_a / dq_b = psi''_b . t + psi'_b . r + S_b . k,    d tau_a / dqd_b = (psi'_b + S'_b) . t + S_b . r. */
LANE_INLINE void put_row(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_model *m = p->m;
    const dyn_body  *b = &m->body[j];
    const dof        d = dof_of(b, &p->ws->body[j], 0);
    const wrench     r = {vec3_zero(), F->r}, k = {vec3_zero(), F->k};
    const size_t     v = (size_t)b->joint.v;
    put(m, p->out->dq, a, v, power(d.Q, F->t) + dot(d.P.w, F->r) + along_axis(b, k));
    put(m, p->out->dqd, a, v, power(d.D, F->t) + along_axis(b, r));
    put(m, p->out->dqdd, a, v, along_axis(b, F->t));
}

/* A joint of one coordinate: d tau_b / da = S_b . F(a). */
LANE_INLINE void put_column(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_body *b = &p->m->body[j];
    const size_t    v = (size_t)b->joint.v;
    put(p->m, p->out->dq, v, a, along_axis(b, F->q));
    put(p->m, p->out->dqd, v, a, along_axis(b, F->qd));
    put(p->m, p->out->dqdd, v, a, along_axis(b, F->t));
}

/* A joint with a quaternion: the rows for all its axes S at once. For motions u, S and a force f, (u x S) . f = -S . (u
 * x* f). So with psi' = v_p x S, psi'' = a_p x S + v_p x psi', S' = v x S, the entries are the components of
 *     q:  v_p x* (v_p x* t) - a_p x* t + (0; r x w_p + k),   qd:  -(v_p + v) x* t + (0; r),   qdd: t. */
LANE_INLINE void put_free_row(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_model     *m = p->m;
    const dyn_body      *b = &m->body[j];
    const spatial_state *B = &p->ws->body[j];
    const wrench         t = F->t, u = twist_cross_wrench(twist_add(B->v, B->v_p), t);
    wrench               q = twist_cross_wrench(B->v_p, twist_cross_wrench(B->v_p, t));
    lane                 dq[6], dqd[6], dqdd[6];
    q   = wrench_sub(q, twist_cross_wrench(B->a_p, t));
    q.n = add(cross_add(q.n, F->r, B->v_p.w), F->k);
    wrench_to_array(q, dq);
    wrench_to_array((wrench){scale(u.f, lane_of(-1)), sub(F->r, u.n)}, dqd);
    wrench_to_array(t, dqdd);
    for (int n = joint_first_axis(b), v = b->joint.v; n < 6; n++, v++) {
        put(m, p->out->dq, a, (size_t)v, dq[n]);
        put(m, p->out->dqd, a, (size_t)v, dqd[n]);
        put(m, p->out->dqdd, a, (size_t)v, dqdd[n]);
    }
}

/* A joint with a quaternion: the columns d tau_b / da for all its axes. */
LANE_INLINE void put_free_column(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_body *b = &p->m->body[j];
    lane            q[6], qd[6], t[6];
    wrench_to_array(F->q, q);
    wrench_to_array(F->qd, qd);
    wrench_to_array(F->t, t);
    for (int n = joint_first_axis(b), v = b->joint.v; n < 6; n++, v++) {
        put(p->m, p->out->dq, (size_t)v, a, q[n]);
        put(p->m, p->out->dqd, (size_t)v, a, qd[n]);
        put(p->m, p->out->dqdd, (size_t)v, a, t[n]);
    }
}

LANE_NOINLINE void put_rows(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    if (dyn_joint_has_quaternion(p->m->body[j].joint.kind))
        put_free_row(p, a, j, F);
    else
        put_row(p, a, j, F);
}
LANE_NOINLINE void put_columns(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    if (dyn_joint_has_quaternion(p->m->body[j].joint.kind))
        put_free_column(p, a, j, F);
    else
        put_column(p, a, j, F);
}

/* --- one dof, one body ------------------------------------------------------------------------------------------ */

/* Stores the entries of dof k of body i with all dofs of the body and of its ancestors. S is the composite of i, and K
 * that of the wrenches in world axes, or NULL. */
static void pairs_of_dof(const sensitivity_pass *p, size_t i, size_t k, const composite_motion *S,
                         const world_fixed_wrenches *K)
{
    const dyn_body *body = p->m->body;
    const size_t    a    = coordinate(p->m, i, k);
    const dof       d    = dof_of(&body[i], &p->ws->body[i], k);
    force_partials  F    = force_partials_of(body[i].derived.regrouped_mass, S, K, &d);
    put_gravity(p, i, a, &F.t);
    put_rows(p, a, i, &F);
    while (body[i].tree.parent != DYN_WORLD) {
        force_partials_to_parent(&body[i], &p->ws->XJ[i], &F);
        i = (size_t)body[i].tree.parent;
        put_rows(p, a, i, &F);
        put_columns(p, a, i, &F);
    }
}

/* Computes the composite of body i, stores the entries of its dofs, and adds the composite to that of the parent. */
LANE_NOINLINE void pairs_of_body(const sensitivity_pass *p, size_t i)
{
    const dyn_body             *b  = &p->m->body[i];
    const workspace            *ws = p->ws;
    const spatial_state        *B  = &ws->body[i];
    const world_fixed_wrenches *K  = p->world_fixed ? &ws->world_fixed[i] : NULL;
    composite_motion S = composite_motion_with_body(child_composite(p, i), &b->derived.regrouped, B->v, B->a);
    if (p->wrenches) S.f = wrench_sub(S.f, ws->ext.sum[i]);
    for (size_t k = 0; k < dofs_of(b); k++)
        pairs_of_dof(p, i, k, &S, K);
    if (b->tree.parent == DYN_WORLD) return;
    hand_on(p, i, composite_motion_to_parent(b, &ws->XJ[i], S, b->derived.regrouped_mass));
    if (K) world_fixed_to_parent(b, &ws->XJ[i], K, &ws->world_fixed[b->tree.parent]);
}
