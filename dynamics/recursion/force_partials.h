/* force_partials.h - computes the derivatives of the force on a body and its descendants with respect to one degree of
 * freedom (sensitivity.c has the equations). */
#pragma once
#include "composite_motion.h"
#include "spatial_body.h"
#include "world_fixed_body.h"

typedef struct force_partials { /* derivatives for one degree of freedom (sensitivity.c), in the axes of the current
                                   body, about its origin */
    wrench q, qd, t;
    vec3   r, k; /* moments of r = 2 B^T S and k = K^T S, whose linear parts are zero */
} force_partials;

/* Computes the partials for the degree of freedom d. S is the composite of its body, or of a descendant in whose frame
 * d is given. `mass` is the mass of the composite. */
LANE_INLINE force_partials force_partials_of(double mass, const composite_motion *S,
                                             const world_fixed_wrenches *world_fixed, const dof *d)
{
    const vec3     h = S->c.h, o = vec3_zero();
    const sym3     E = S->c.E;
    force_partials c = {.t = inertia_mul(mass, h, E, d->S), .r = coriolis_mul_transposed(S->l, &S->C, d->S), .k = o};
    c.qd             = wrench_add(coriolis_mul(S->l, &S->C, d->S.w), inertia_mul(mass, h, E, d->D));
    c.q              = wrench_add(coriolis_mul(S->l, &S->C, d->P.w), inertia_mul(mass, h, E, d->Q));
    c.q              = wrench_add(c.q, twist_cross_wrench(d->S, S->f));
    if (!world_fixed) return c;
    c.q = wrench_add(c.q, world_fixed_mul(world_fixed, d->S.w));
    c.k = world_fixed_mul_transposed(world_fixed, d->S);
    return c;
}

/* Copies entry by entry, so that the copy stays in registers. */
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

LANE_NOINLINE void force_partials_to_parent_free(const joint_pose *pose, force_partials *c)
{
    wrench *const all[3] = {&c->q, &c->qd, &c->t};
    for (int i = 0; i < 3; i++) {
        all[i]->f = mat3_mul(&pose->R, all[i]->f);
        all[i]->n = cross_add(mat3_mul(&pose->R, all[i]->n), pose->p, all[i]->f);
    }
    c->r = mat3_mul(&pose->R, c->r);
    c->k = mat3_mul(&pose->R, c->k);
}

/* s + (d z) x f */
LANE_INLINE vec3 add_z_cross(vec3 s, lane d, vec3 f)
{
    return (vec3){sub_mul(s.x, d, f.y), add_mul(s.y, d, f.x), s.z};
}

/* Rotates the partials to the parent's axes. They are then about the origin of the joint at position 0; for a joint
 * with a quaternion, about the parent's origin. `world_fixed`: k is not zero. */
LANE_INLINE void force_partials_turn_form(link_transform X, force_partials *c, bool world_fixed)
{
    if (dyn_joint_has_quaternion(X.joint)) {
        force_partials moved; /* a copy, so that *c stays in registers for other joints */
        force_partials_copy(&moved, c);
        force_partials_to_parent_free(X.pose, &moved);
        force_partials_copy(c, &moved);
        return;
    }
    if (X.joint == DYN_PRISMATIC) {
        c->q.n  = add_z_cross(c->q.n, X.J.c, c->q.f);
        c->qd.n = add_z_cross(c->qd.n, X.J.c, c->qd.f);
        c->t.n  = add_z_cross(c->t.n, X.J.c, c->t.f);
    }
    c->q.f  = to_parent(X, c->q.f);
    c->q.n  = to_parent(X, c->q.n);
    c->qd.f = to_parent(X, c->qd.f);
    c->qd.n = to_parent(X, c->qd.n);
    c->t.f  = to_parent(X, c->t.f);
    c->t.n  = to_parent(X, c->t.n);
    c->r    = to_parent(X, c->r);
    if (world_fixed) c->k = to_parent(X, c->k);
}

/* Moves the reference point of the partials from the origin of the joint to the parent's origin. */
LANE_INLINE void force_partials_shift_offsets(const dyn_body *b, force_partials *c)
{
#pragma GCC unroll 3
    for (unsigned axis = DYN_ALONG_X; axis <= DYN_ALONG_Z; axis <<= 1) {
        if (!(b->pose.offsets & axis)) continue;
        c->q.n  = offset_cross_add(c->q.n, b->pose.p_pc, axis, c->q.f);
        c->qd.n = offset_cross_add(c->qd.n, b->pose.p_pc, axis, c->qd.f);
        c->t.n  = offset_cross_add(c->t.n, b->pose.p_pc, axis, c->t.f);
    }
}

/* Transforms the partials to the parent's axes and origin. `world_fixed`: k is not zero. */
LANE_INLINE void force_partials_to_parent(const dyn_body *b, const joint_transform *XJ, force_partials *c,
                                          bool world_fixed)
{
    WITH_LINK_TRANSFORM(b, XJ, force_partials_turn_form, c, world_fixed)
    force_partials_shift_offsets(b, c);
}
