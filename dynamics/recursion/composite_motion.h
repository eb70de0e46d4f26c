/* composite_motion.h - computes composites in motion: a body with its descendants, in the body's axes about its origin.
 * Each composite has an inertia, momentum l, moment of velocities C (spatial_world.h) and the force f that its motion
 * requires. A backward pass adds each composite to that of the parent. */
#pragma once
#include "articulated_inertia.h"
#include "spatial_world.h"

typedef struct composite_motion {
    composite c;
    vec3      l;
    mat3      C;
    wrench    f;
} composite_motion;

static inline composite_motion composite_motion_zero(void)
{
    const vec3 o = vec3_zero();
    const lane z = o.x;
    return (composite_motion){{{z, z, z, z, z, z}, o}, o, {{{z, z, z}, {z, z, z}, {z, z, z}}}, {o, o}};
}

/* Returns the sum of a body's own quantities and those of its descendants, `children`. The body's own are
 *     l = m v + w x h,  C = v h^T + [w] E,  f = I a + (w x l; h x a + tr(C) w - C w).
 * `revolute`, a constant of the inlined code: m, h.z and E.zz are zero, as for regrouped revolute bodies. */
LANE_INLINE composite_motion composite_motion_with_body(const composite_motion *children, const dyn_moments *own,
                                                        twist v, twist a, const bool revolute)
{
    const double    *h = own->h, *E = own->E;
    const vec3       w = v.w, u = v.v, d = a.w;
    composite_motion S;
    vec3             l = {h[1] * w.z, h[0] * w.z, sub_mul(h[1] * w.x, h[0], w.y)}; /* w x h; x has the opposite sign */
    lane             C[3][3];
    C[0][0] = sub_mul(add_mul(h[0] * u.x, E[2], w.y), E[1], w.z);
    C[1][0] = sub_mul(add_mul(h[0] * u.y, E[0], w.z), E[2], w.x);
    C[2][0] = sub_mul(add_mul(h[0] * u.z, E[1], w.x), E[0], w.y);
    C[0][1] = sub_mul(add_mul(h[1] * u.x, E[4], w.y), E[3], w.z);
    C[1][1] = sub_mul(add_mul(h[1] * u.y, E[1], w.z), E[4], w.x);
    C[2][1] = sub_mul(add_mul(h[1] * u.z, E[3], w.x), E[1], w.y);
    C[0][2] = E[4] * w.z; /* stored with the opposite sign */
    C[1][2] = E[2] * w.z;
    C[2][2] = sub_mul(E[4] * w.x, E[2], w.y);
    vec3 n  = {sub_mul(sub_mul(add_mul(h[1] * a.v.z, E[3], d.x), E[1], d.y), E[2], d.z),
               sub_mul(sub_mul(sub_mul(E[0] * d.y, h[0], a.v.z), E[1], d.x), E[4], d.z),
               sub_mul(sub_mul(sub_mul(add_mul(h[0] * a.v.y, E[0] + E[3], d.z), h[1], a.v.x), E[2], d.x), E[4], d.y)};
    vec3 f  = {sub_mul(children->f.f.x, h[1], d.z), add_mul(children->f.f.y, h[0], d.z),
               sub_mul(add_mul(children->f.f.z, h[1], d.x), h[0], d.y)};
    S.c     = (composite){{children->c.E.xx + E[0], children->c.E.xy + E[1], children->c.E.xz + E[2],
                           children->c.E.yy + E[3], children->c.E.yz + E[4], children->c.E.zz},
                          {children->c.h.x + h[0], children->c.h.y + h[1], children->c.h.z}};
    if (!revolute) {
        const double m = own->mass;
        l              = (vec3){sub_mul(sub_mul(l.x, h[2], w.y), m, u.x), add_mul(sub_mul(l.y, h[2], w.x), m, u.y),
                                add_mul(l.z, m, u.z)};
        C[0][2]        = sub_mul(sub_mul(C[0][2], h[2], u.x), E[5], w.y);
        C[1][2]        = sub_mul(add_mul(C[1][2], h[2], u.y), E[5], w.x);
        C[2][2]        = add_mul(C[2][2], h[2], u.z);
        n = (vec3){sub_mul(add_mul(n.x, E[5], d.x), h[2], a.v.y), add_mul(add_mul(n.y, E[5], d.y), h[2], a.v.x), n.z};
        f = (vec3){add_mul(add_mul(f.x, m, a.v.x), h[2], d.y), sub_mul(add_mul(f.y, m, a.v.y), h[2], d.x),
                   add_mul(f.z, m, a.v.z)};
        S.c.E.zz += E[5];
        S.c.h.z += h[2];
    }
    n     = (vec3){add_mul(sub_mul(add_mul(n.x, C[1][1] + C[2][2], w.x), C[0][1], w.y), C[0][2], w.z),
                   sub_mul(sub_mul(add_mul(n.y, C[0][0] + C[2][2], w.y), C[1][0], w.x), C[1][2], w.z),
                   sub_mul(sub_mul(add_mul(n.z, C[0][0] + C[1][1], w.z), C[2][0], w.x), C[2][1], w.y)};
    S.f.n = add(children->f.n, n);
    S.f.f = (vec3){sub_mul(add_mul(f.x, w.y, l.z), w.z, l.y), sub_mul(sub_mul(f.y, w.z, l.x), w.x, l.z),
                   add_mul(add_mul(f.z, w.x, l.y), w.y, l.x)};
    S.l   = (vec3){children->l.x - l.x, children->l.y + l.y, children->l.z + l.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S.C.m[i][j] = i == 0 && j == 2 ? children->C.m[i][j] - C[i][j] : children->C.m[i][j] + C[i][j];
    return S;
}

/* --- to the parent ------------------------------------------------------------------------------------------- */

/* Rotates the composite S to the parent's axes; the reference point stays. */
LANE_INLINE void composite_motion_turn(link_transform X, composite_motion *S)
{
    S->c.E = sym3_to_parent(X, S->c.E);
    S->c.h = to_parent(X, S->c.h);
    S->l   = to_parent(X, S->l);
    S->C   = dyn_joint_has_quaternion(X.joint) ? mat3_rotate(&X.pose->R, &S->C) : mat3_to_parent(X, S->C, false);
    S->f.f = to_parent(X, S->f.f);
    S->f.n = to_parent(X, S->f.n);
}

/* Moves the reference point of the composite S by -r e_k; k is a constant of the inlined code. With h' = h + m r,
 * and r for the vector r e_k in the formulas,
 *     E' = E + r h^T + h' r^T,  C' = C + l r^T,  n' = n + r x f. */
LANE_INLINE void composite_motion_shift(composite_motion *S, const int k, lane r, double mass)
{
    const int   i = (k + 1) % 3, j = (k + 2) % 3;
    lane        h[3] = {S->c.h.x, S->c.h.y, S->c.h.z}, n[3] = {S->f.n.x, S->f.n.y, S->f.n.z};
    const lane  l[3] = {S->l.x, S->l.y, S->l.z}, f[3] = {S->f.f.x, S->f.f.y, S->f.f.z}, own = h[k];
    lane *const kk = sym3_at(&S->c.E, k, k), *const ki = sym3_at(&S->c.E, k, i), *const kj = sym3_at(&S->c.E, k, j);
    if (mass != 0) h[k] = add_mul(own, mass, r);
    *kk  = add_mul(*kk, r, own + h[k]);
    *ki  = add_mul(*ki, r, h[i]);
    *kj  = add_mul(*kj, r, h[j]);
    n[i] = sub_mul(n[i], r, f[j]);
    n[j] = add_mul(n[j], r, f[i]);
    for (int a = 0; a < 3; a++)
        S->C.m[a][k] = add_mul(S->C.m[a][k], r, l[a]);
    S->c.h = load3(h);
    S->f.n = load3(n);
}

LANE_NOINLINE void composite_motion_to_parent_free(const dyn_body *b, const joint_transform *XJ,
                                                   const composite_motion *from, double mass, composite_motion *to)
{
    const vec3       p = joint_pose_of(b, XJ)->p;
    composite_motion S = *from;
    composite_motion_turn(free_transform_of(b, XJ), &S);
    composite_motion_shift(&S, 0, p.x, mass);
    composite_motion_shift(&S, 1, p.y, mass);
    composite_motion_shift(&S, 2, p.z, mass);
    *to = S;
}

/* Transforms the composite S through a joint of one coordinate to the parent's axes. The shift by p_pc is left to
 * composite_motion_shift_offsets. `mass` is the mass of the composite. */
LANE_INLINE void composite_motion_form(link_transform X, composite_motion *S, double mass)
{
    if (dyn_joint_has_quaternion(X.joint)) return; /* see composite_motion_to_parent_free */
    if (X.joint == DYN_PRISMATIC) composite_motion_shift(S, 2, X.J.c, mass);
    composite_motion_turn(X, S);
}
LANE_INLINE void composite_motion_shift_offsets(const dyn_body *b, composite_motion *S, double mass)
{
    if (b->pose.offsets & DYN_ALONG_X) composite_motion_shift(S, 0, lane_of(b->pose.p_pc[0]), mass);
    if (b->pose.offsets & DYN_ALONG_Y) composite_motion_shift(S, 1, lane_of(b->pose.p_pc[1]), mass);
    if (b->pose.offsets & DYN_ALONG_Z) composite_motion_shift(S, 2, lane_of(b->pose.p_pc[2]), mass);
}

/* Transforms the composite S through any joint to the parent's axes and origin. */
LANE_INLINE composite_motion composite_motion_to_parent(const dyn_body *b, const joint_transform *XJ,
                                                        composite_motion S, double mass)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        composite_motion_to_parent_free(b, XJ, &S, mass, &S);
        return S;
    }
    WITH_LINK_TRANSFORM(b, XJ, composite_motion_form, &S, mass)
    composite_motion_shift_offsets(b, &S, mass);
    return S;
}

LANE_NOINLINE void composite_motion_accumulate(composite_motion *sum, const composite_motion *S)
{
    sum->c = composite_add(sum->c, S->c);
    sum->l = add(sum->l, S->l);
    sum->f = wrench_add(sum->f, S->f);
    for (int i = 0; i < 3; i++)
        store3(sum->C.m[i], add(load3(sum->C.m[i]), load3(S->C.m[i])));
}

/* --- wrenches with constant components in world axes, see spatial_world.h -------------------------------------- */

/* Adds F r^T to X, because the reference point moves by -r. F must be in the parent's axes already. */
LANE_INLINE void world_fixed_shift(mat3 *X, vec3 F, vec3 r)
{
    store3(X->m[0], add_scaled(load3(X->m[0]), r, F.x));
    store3(X->m[1], add_scaled(load3(X->m[1]), r, F.y));
    store3(X->m[2], add_scaled(load3(X->m[2]), r, F.z));
}

LANE_INLINE void world_fixed_form(link_transform X, world_fixed_wrenches *k)
{
    k->F = to_parent(X, k->F);
    k->T = to_parent(X, k->T);
    k->X = dyn_joint_has_quaternion(X.joint) ? mat3_rotate(&X.pose->R, &k->X) : mat3_to_parent(X, k->X, false);
    world_fixed_shift(&k->X, k->F, origin_in_parent(X));
}

static inline void world_fixed_to_parent(const dyn_body *b, const joint_transform *XJ, const world_fixed_wrenches *k,
                                         world_fixed_wrenches *parent)
{
    world_fixed_wrenches x = *k;
    WITH_LINK_TRANSFORM(b, XJ, world_fixed_form, &x)
    world_fixed_accumulate(&x, parent);
}
