/* force_partials.h - computes force partials: the derivatives of the force on a body and its descendants with respect
 * to one degree of freedom (sensitivity.c has the equations). */
#pragma once
#include "composite_motion.h"
#include "spatial_body.h"
#include "world_fixed_body.h"

typedef struct force_partials { /* derivatives with respect to q, qd, qdd of a degree of freedom, in the axes of a
                                   body, about its origin */
    wrench q, qd, t;
    vec3   r, k; /* moments of r = 2 B^T S and k = K^T S, whose linear parts are zero */
} force_partials;

/* Returns the partials for degree of freedom d of a body with the composite `subtree`. `subtree` may also be the
 * composite of a descendant of that body; d is then in the descendant's frame. `mass` is the mass of the composite.
 *     t = I S,  r = 2 B^T S,  F_qd = 2 B S + I (psi' + S'),  F_q = 2 B psi' + I psi'' + S x* f + K S,  k = K^T S. */
LANE_INLINE force_partials force_partials_of(double mass, const composite_motion *subtree,
                                             const world_fixed_wrenches *world_fixed, const dof *d)
{
    const vec3     h = subtree->c.h, o = vec3_zero();
    const sym3     E = subtree->c.E;
    force_partials F = {
        .t = inertia_mul(mass, h, E, d->S), .r = twice_coriolis_mul_transposed(subtree->l, &subtree->C, d->S), .k = o};
    F.qd = wrench_add(twice_coriolis_mul(subtree->l, &subtree->C, d->S.w), inertia_mul(mass, h, E, d->psi_d_plus_S_d));
    F.q  = wrench_add(twice_coriolis_mul(subtree->l, &subtree->C, d->psi_d.w), inertia_mul(mass, h, E, d->psi_dd));
    F.q  = wrench_add(F.q, twist_cross_wrench(d->S, subtree->f));
    if (!world_fixed) return F;
    F.q = wrench_add(F.q, world_fixed_mul(world_fixed, d->S.w));
    F.k = world_fixed_mul_transposed(world_fixed, d->S);
    return F;
}

/* Copies the partials entry by entry; compilers keep such a copy in registers. */
LANE_INLINE void force_partials_copy(force_partials *to, const force_partials *from)
{
    const wrench *q = &from->q, *qd = &from->qd, *t = &from->t;

    to->q  = (wrench){{q->f.x, q->f.y, q->f.z}, {q->n.x, q->n.y, q->n.z}};
    to->qd = (wrench){{qd->f.x, qd->f.y, qd->f.z}, {qd->n.x, qd->n.y, qd->n.z}};
    to->t  = (wrench){{t->f.x, t->f.y, t->f.z}, {t->n.x, t->n.y, t->n.z}};
    to->r  = (vec3){from->r.x, from->r.y, from->r.z};
    to->k  = (vec3){from->k.x, from->k.y, from->k.z};
}

/* --- to the parent ------------------------------------------------------------------------------------------- */

LANE_NOINLINE void force_partials_to_parent_free(const joint_pose *pose, force_partials *F)
{
    wrench *const all[3] = {&F->q, &F->qd, &F->t};
    for (int i = 0; i < 3; i++) {
        all[i]->f = mat3_mul(&pose->R, all[i]->f);
        all[i]->n = cross_add(mat3_mul(&pose->R, all[i]->n), pose->p, all[i]->f);
    }
    F->r = mat3_mul(&pose->R, F->r);
    F->k = mat3_mul(&pose->R, F->k);
}

/* Returns s + (d z) x f, with z the unit vector e_z. */
LANE_INLINE vec3 add_z_cross(vec3 s, lane d, vec3 f)
{
    return (vec3){sub_mul(s.x, d, f.y), add_mul(s.y, d, f.x), s.z};
}

/* Rotates the partials to the parent's axes. Afterwards their reference point is the joint's origin at position 0 or,
 * for a joint with a quaternion, the parent's origin. `world_fixed`: k may be nonzero. */
LANE_INLINE void force_partials_turn_form(link_transform X, force_partials *F, bool world_fixed)
{
    if (dyn_joint_has_quaternion(X.joint)) {
        force_partials moved; /* a copy, so that *F stays in registers for other joints */
        force_partials_copy(&moved, F);
        force_partials_to_parent_free(X.pose, &moved);
        force_partials_copy(F, &moved);
        return;
    }
    if (X.joint == DYN_PRISMATIC) {
        F->q.n  = add_z_cross(F->q.n, X.J.c, F->q.f);
        F->qd.n = add_z_cross(F->qd.n, X.J.c, F->qd.f);
        F->t.n  = add_z_cross(F->t.n, X.J.c, F->t.f);
    }
    F->q.f  = to_parent(X, F->q.f);
    F->q.n  = to_parent(X, F->q.n);
    F->qd.f = to_parent(X, F->qd.f);
    F->qd.n = to_parent(X, F->qd.n);
    F->t.f  = to_parent(X, F->t.f);
    F->t.n  = to_parent(X, F->t.n);
    F->r    = to_parent(X, F->r);
    if (world_fixed) F->k = to_parent(X, F->k);
}

/* Moves the reference point of the partials from the origin of the joint to the parent's origin. */
LANE_INLINE void force_partials_shift_offsets(const dyn_body *b, force_partials *F)
{
#pragma GCC unroll 3
    for (unsigned axis = DYN_ALONG_X; axis <= DYN_ALONG_Z; axis <<= 1) {
        if (!(b->pose.offsets & axis)) continue;
        F->q.n  = offset_cross_add(F->q.n, b->pose.p_pc, axis, F->q.f);
        F->qd.n = offset_cross_add(F->qd.n, b->pose.p_pc, axis, F->qd.f);
        F->t.n  = offset_cross_add(F->t.n, b->pose.p_pc, axis, F->t.f);
    }
}

/* Transforms the partials to the parent's axes and origin. `world_fixed`: k may be nonzero. */
LANE_INLINE void force_partials_to_parent(const dyn_body *b, const joint_transform *XJ, force_partials *F,
                                          bool world_fixed)
{
    WITH_LINK_TRANSFORM(b, XJ, force_partials_turn_form, F, world_fixed)
    force_partials_shift_offsets(b, F);
}
