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

/* Derivatives of efforts for a dof a and a dof b. row_q, row_qd: d tau_a / dq_b, d tau_a / dqd_b. q, qd, t: the
 * derivatives of tau_b with respect to q, qd and qdd of a, S_b . F(a). */
typedef struct entries {
    lane row_q, row_qd, q, qd, t;
} entries;

/* Returns the derivatives between joint a and a joint b of one coordinate, whose S is the ratio times e_z:
 *     d tau_a / dq_b = psi''_b . t + psi'_b . r + S_b . k,    d tau_a / dqd_b = 2 psi'_b . t + S_b . r,
 *     d tau_b / da   = S_b . F(a).
 * The z components of psi' are zero. For a prismatic joint the angular parts of psi' and psi'' are zero; r and k have
 * moments alone, so that their terms vanish. */
LANE_INLINE entries entries_of(const dyn_body *b, const spatial_state *B, const force_partials *F)
{
    const wrench t     = F->t;
    const twist  psi_d = psi_dot(b, B), psi_dd = B->psi_dd;
    const lane   Qt = dot(psi_dd.v, t.f), Pt = add_mul(psi_d.v.x * t.f.x, psi_d.v.y, t.f.y);
    if (b->joint.kind == DYN_PRISMATIC)
        return (entries){.row_q  = Qt,
                         .row_qd = Pt + Pt,
                         .q      = coordinate_effort(b, F->q.f.z),
                         .qd     = coordinate_effort(b, F->qd.f.z),
                         .t      = coordinate_effort(b, t.f.z)};
    const lane row_q = Qt + add_mul(add_mul(dot(psi_dd.w, t.n), psi_d.w.x, F->r.x), psi_d.w.y, F->r.y),
               along = add_mul(add_mul(Pt, psi_d.w.x, t.n.x), psi_d.w.y, t.n.y);
    return (entries){.row_q  = row_q + coordinate_effort(b, F->k.z),
                     .row_qd = along + along + coordinate_effort(b, F->r.z),
                     .q      = coordinate_effort(b, F->q.n.z),
                     .qd     = coordinate_effort(b, F->qd.n.z),
                     .t      = coordinate_effort(b, t.n.z)};
}

/* Stores the derivatives of tau_a with respect to q, qd and qdd of b in row a. Since I is symmetric, the last one is
 * S_a . I S_b = S_b . t. */
LANE_INLINE void put_row(const sensitivity_pass *p, size_t a, size_t b, const entries *e, const bool has_mimics)
{
    const results *out = p->out;
    const size_t   row = a * (size_t)p->m->nv + b;
    put_entry(out->dtau_dq + row, e->row_q, has_mimics);
    put_entry(out->dtau_dqd + row, e->row_qd, has_mimics);
    put_entry(out->dtau_dqdd + row, e->t, has_mimics);
}
/* Stores the derivatives of tau_b with respect to q, qd and qdd of a in row b. */
LANE_INLINE void put_column(const sensitivity_pass *p, size_t a, size_t b, const entries *e, const bool has_mimics)
{
    const results *out    = p->out;
    const size_t   column = b * (size_t)p->m->nv + a;
    put_entry(out->dtau_dq + column, e->q, has_mimics);
    put_entry(out->dtau_dqd + column, e->qd, has_mimics);
    put_entry(out->dtau_dqdd + column, e->t, has_mimics);
}

/* Stores the components of the wrench x along all axes of body b's joint, which has a quaternion, in row a of M, or in
 * column a. */
LANE_INLINE void put_axes(const dyn_model *m, lane *M, size_t a, const dyn_body *b, wrench x, const bool in_column)
{
    const int first = joint_first_axis(b);
    lane      entry[6];
    wrench_to_array(x, entry);
#pragma GCC unroll 6
    for (int n = 0; n < 6; n++) {
        const size_t v = (size_t)(b->joint.v + n - first);
        if (n >= first) put(m, M, in_column ? v : a, in_column ? a : v, entry[n]);
    }
}

/* Stores d tau_a / db for all axes b of a joint with a quaternion. With (u x S) . f = -S . (u x* f), psi' = v_p x S,
 * psi'' = a_p x S + v_p x psi', S' = v x S, the entries for b are the components, along the axes S of the joint, of
 *     q:  v_p x* (v_p x* t) - a_p x* t + (0; r x w_p + k),   qd:  -(v_p + v) x* t + (0; r),   qdd: t. */
LANE_NOINLINE void put_free_row(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_body      *b   = &p->m->body[j];
    const spatial_state *B   = &p->ws->body[j];
    const twist          v_p = B->v_p, a_p = B->a_p, v_sum = twist_add(B->v, v_p);
    const wrench         t = F->t, vvt = twist_cross_wrench(v_p, twist_cross_wrench(v_p, t));
    const vec3           n = cross_add(cross_add(cross_add(F->k, t.f, a_p.v), t.n, a_p.w), F->r, v_p.w);
    put_axes(p->m, p->out->dtau_dq, a, b, wrench_add((wrench){cross(t.f, a_p.w), n}, vvt), false);
    put_axes(p->m, p->out->dtau_dqd, a, b,
             (wrench){cross(t.f, v_sum.w), cross_add(cross_add(F->r, t.n, v_sum.w), t.f, v_sum.v)}, false);
    put_axes(p->m, p->out->dtau_dqdd, a, b, t, false);
}

/* Stores d tau_b / da = S_b . F(a) for all axes b of a joint with a quaternion. */
LANE_NOINLINE void put_free_column(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F)
{
    const dyn_body *b = &p->m->body[j];
    put_axes(p->m, p->out->dtau_dq, a, b, F->q, true);
    put_axes(p->m, p->out->dtau_dqd, a, b, F->qd, true);
    put_axes(p->m, p->out->dtau_dqdd, a, b, F->t, true);
}

/* --- one dof, one body ------------------------------------------------------------------------------------------ */

/* Stores the entries of dof a, which has the partials F in the frame of body j, with the joint of j. `own`: a is a dof
 * of that joint, so that rows and columns are the same entries. */
LANE_INLINE void put_pairs(const sensitivity_pass *p, size_t a, size_t j, const force_partials *F, const bool own)
{
    const dyn_model *m = p->m;
    const dyn_body  *b = &m->body[j];
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        put_free_row(p, a, j, F);
        if (!own) put_free_column(p, a, j, F);
        return;
    }
    const entries e = entries_of(b, &p->ws->body[j], F);
    put_row(p, a, (size_t)b->joint.v, &e, m->has_mimics);
    if (!own) put_column(p, a, (size_t)b->joint.v, &e, m->has_mimics);
}

/* Stores the entries of dof a of body i, which has the partials F, with all dofs of ancestors. Changes F. */
typedef void put_ancestors(const sensitivity_pass *p, size_t i, size_t a, force_partials *F);

static void put_ancestors_general(const sensitivity_pass *p, size_t i, size_t a, force_partials *F)
{
    for (const dyn_body *b = &p->m->body[i]; b->tree.parent != DYN_WORLD; b = &p->m->body[i]) {
        force_partials_to_parent(b, &p->ws->XJ[i], F, p->world_fixed);
        i = (size_t)b->tree.parent;
        put_pairs(p, a, i, F, false);
    }
}

/* Computes the composite of body i, stores the entries of its dofs, and adds the composite to that of the parent. */
LANE_NOINLINE void pairs_of_body(const sensitivity_pass *p, size_t i, put_ancestors *with_ancestors)
{
    const dyn_body             *b       = &p->m->body[i];
    const workspace            *ws      = p->ws;
    const spatial_state        *B       = &ws->body[i];
    const world_fixed_wrenches *K       = p->world_fixed ? &ws->world_fixed[i] : NULL;
    const double                mass    = b->derived.regrouped_mass;
    composite_motion *const     subtree = &ws->children[NEXT_BODY];
    composite_motion_with_body(child_composite(p, i), &b->derived.regrouped, B->v, B->a, subtree);
    if (p->wrenches) subtree->f = wrench_sub(subtree->f, ws->ext.sum[i]);
    for (size_t k = 0; k < dofs_of(b); k++) {
        const size_t   a = coordinate_of_dof(p->m, i, k);
        const dof      d = dof_of(b, B, k);
        force_partials F = force_partials_of(mass, subtree, K, &d);
        put_gravity(p, i, a, &F.t);
        put_pairs(p, a, i, &F, true);
        with_ancestors(p, i, a, &F);
    }
    if (b->tree.parent == DYN_WORLD) return;
    composite_motion_to_parent(b, &ws->XJ[i], subtree, mass);
    if (b->tree.parent != (int)i - 1) composite_motion_add_to_parent(p, i, subtree);
    if (K) world_fixed_to_parent(b, &ws->XJ[i], K, &ws->world_fixed[b->tree.parent]);
}
