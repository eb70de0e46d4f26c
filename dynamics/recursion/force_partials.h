/* force_partials.h - computes the derivatives of the force on a body and its descendants with respect to one degree of
 * freedom (sensitivity.c has the equations). */
#pragma once
#include "spatial_body.h"

/* Sums the external wrenches with constant components in world axes, for each body. */
static inline void world_fixed_gather(const dyn_scene *scene, const external_wrenches *ext, const lane *values,
                                      world_fixed_wrenches *k)
{
    const vec3                 o    = vec3_zero();
    const world_fixed_wrenches none = {.F = o, .T = o, .X = {{{o.x, o.x, o.x}, {o.x, o.x, o.x}, {o.x, o.x, o.x}}}};
    for (size_t i = 0; i < scene->model->n_bodies; i++)
        k[i] = none;
    for (size_t n = 0; n < scene->n_wrenches; n++) {
        const dyn_wrench_site *site = &scene->wrench[n];
        const lane            *x    = values + 9 * n;
        if (site->body == DYN_WORLD || !site->world_axes) continue;
        const attitude *att = &ext->attitude[site->body];
        vec3 F = external_in_body_axes(site, att, load3(x)), T = external_in_body_axes(site, att, load3(x + 3));
        vec3 r                   = add(vec3_of(site->X_bl.p), rotate_const(site->X_bl.R, load3(x + 6)));
        world_fixed_wrenches one = {.F = F, .T = T};
        store3(one.X.m[0], scale(r, F.x));
        store3(one.X.m[1], scale(r, F.y));
        store3(one.X.m[2], scale(r, F.z));
        world_fixed_accumulate(&one, &k[site->body]);
    }
}

typedef struct force_partials { /* derivatives for one degree of freedom (sensitivity.c), in the axes of the current
                                   body, about its origin */
    wrench q, qd, t;
    vec3   r, k; /* moments of r = 2 B^T S and k = K^T S, whose linear parts are zero */
} force_partials;

/* Copies entry by entry: a copy of the whole struct would go through memory. */
LANE_INLINE void force_partials_copy(force_partials *to, const force_partials *from)
{
    const wrench *q = &from->q, *qd = &from->qd, *t = &from->t;

    to->q  = (wrench){{q->f.x, q->f.y, q->f.z}, {q->n.x, q->n.y, q->n.z}};
    to->qd = (wrench){{qd->f.x, qd->f.y, qd->f.z}, {qd->n.x, qd->n.y, qd->n.z}};
    to->t  = (wrench){{t->f.x, t->f.y, t->f.z}, {t->n.x, t->n.y, t->n.z}};
    to->r  = (vec3){from->r.x, from->r.y, from->r.z};
    to->k  = (vec3){from->k.x, from->k.y, from->k.z};
}

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

/* Computes the partials, as force_partials_of does, for a unit revolute joint with axis z, without the zeros of S and
 * psi'. With u, w the linear and angular part of the body's velocity,
 *     psi' = (u.y, -u.x, 0; w.y, -w.x, 0),   F_qd / 2 = B S + I psi',   F_q = z x* f + I psi'' + 2 B psi'. */
LANE_INLINE force_partials force_partials_about_z(double mass, const composite_motion *S, const spatial_state *B)
{
    const vec3  h = S->c.h, l = S->l, u = B->v.v, w = B->v.w, Q = B->Q.v, R = B->Q.w;
    const sym3 *E     = &S->c.E;
    const lane(*C)[3] = S->C.m;
    const wrench f    = S->f;
    const lane   Ixx = E->yy + E->zz, Iyy = E->xx + E->zz, Izz = E->xx + E->yy, z = C[0][0] + C[1][1];
    const lane   lz = l.z + l.z, bf = add_mul(w.y * l.y, w.x, l.x);
    const vec3 bn = {add_mul((C[1][1] + C[2][2]) * w.y, C[0][1], w.x), add_mul((C[0][0] + C[2][2]) * w.x, C[1][0], w.y),
                     sub_mul(C[2][1] * w.x, C[2][0], w.y)};
    force_partials c;
    c.t    = (wrench){{-h.y, h.x, lane_of(0)}, {-E->xz, -E->yz, Izz}};
    c.r    = (vec3){-2.0 * C[2][0], -2.0 * C[2][1], z + z};
    c.k    = vec3_zero();
    c.qd.f = (vec3){sub_mul(-l.y, h.z, w.x), sub_mul(l.x, h.z, w.y), add_mul(h.y * w.y, h.x, w.x)};
    c.qd.n = (vec3){add_mul(add_mul(add_mul(-C[0][2], h.z, u.x), Ixx, w.y), E->xy, w.x),
                    sub_mul(sub_mul(add_mul(-C[1][2], h.z, u.y), Iyy, w.x), E->xy, w.y),
                    add_mul(sub_mul(sub_mul(sub_mul(z, h.x, u.x), h.y, u.y), E->xz, w.y), E->yz, w.x)};
    c.q.f  = (vec3){sub_mul(sub_mul(add_mul(-f.f.y, R.y, h.z), R.z, h.y), lz, w.x),
                    sub_mul(sub_mul(add_mul(f.f.x, R.z, h.x), R.x, h.z), lz, w.y),
                    add_mul(sub_mul(R.x * h.y, R.y, h.x), 2.0, bf)};
    c.q.n  = cross_add((vec3){sub_mul(sub_mul(add_mul(-f.n.y, Ixx, R.x), E->xy, R.y), E->xz, R.z),
                              sub_mul(sub_mul(add_mul(f.n.x, Iyy, R.y), E->xy, R.x), E->yz, R.z),
                              sub_mul(sub_mul(Izz * R.z, E->xz, R.x), E->yz, R.y)},
                       h, Q);
    c.q.n  = (vec3){add_mul(c.q.n.x, 2.0, bn.x), sub_mul(c.q.n.y, 2.0, bn.y), add_mul(c.q.n.z, 2.0, bn.z)};
    if (mass != 0) { /* mass is zero if all bodies of the composite are revolute */
        c.qd.f.x = add_mul(c.qd.f.x, mass, u.y);
        c.qd.f.y = sub_mul(c.qd.f.y, mass, u.x);
        c.q.f    = add_scaled(c.q.f, Q, lane_of(mass));
    }
    c.qd = wrench_add(c.qd, c.qd);
    return c;
}

/* --- to the parent ------------------------------------------------------------------------------------------- */

LANE_NOINLINE force_partials force_partials_to_parent_free(const joint_pose *pose, force_partials c)
{
    wrench *const all[3] = {&c.q, &c.qd, &c.t};
    for (int i = 0; i < 3; i++) {
        all[i]->f = mat3_mul(&pose->R, all[i]->f);
        all[i]->n = cross_add(mat3_mul(&pose->R, all[i]->n), pose->p, all[i]->f);
    }
    c.r = mat3_mul(&pose->R, c.r);
    c.k = mat3_mul(&pose->R, c.k);
    return c;
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
        *c = force_partials_to_parent_free(X.pose, *c);
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
