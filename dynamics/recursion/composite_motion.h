/* composite_motion.h - computes composites in motion: a body with its descendants, in the body's axes about its origin.
 * Each composite has an inertia, momentum l, moment of velocities C (spatial_algebra.h) and the force f that its motion
 * requires. A backward pass adds each composite to the composite of the parent. */
#pragma once
#include "rotate_matrix.h"
#include "spatial_algebra.h"

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

LANE_NOINLINE void composite_motion_accumulate(composite_motion *sum, const composite_motion *S)
{
    sum->c = composite_add(sum->c, S->c);
    sum->l = add(sum->l, S->l);
    sum->f = wrench_add(sum->f, S->f);
    for (int i = 0; i < 3; i++)
        store3(sum->C.m[i], add(load3(sum->C.m[i]), load3(S->C.m[i])));
}

/* Sets S to the composite of a body: the sum of the body's own quantities and of `children`, the sum over its children,
 * which may be S. The body's own quantities are, since v x* I v = B v with B of spatial_algebra.h,
 *     l = m v + w x h,   C = v h^T + [w] E,   f = I a + B v,   B v = (w x l;  tr(C) w - C w). */
LANE_INLINE void composite_motion_with_body(const composite_motion *children, const dyn_moments *own, twist v, twist a,
                                            composite_motion *S)
{
    const vec3   h = vec3_of(own->h), l = cross_add(times(own->mass, v.v), v.w, h);
    const sym3   E     = sym3_of(own->E);
    const mat3   C     = velocity_moment(v, h, E);
    const lane   trace = C.m[0][0] + C.m[1][1] + C.m[2][2];
    const wrench f     = wrench_add(children->f, inertia_mul(own->mass, h, E, a));
    S->c               = composite_add(children->c, (composite){E, h});
    S->l               = add(children->l, l);
    for (int i = 0; i < 3; i++)
        store3(S->C.m[i], add(load3(children->C.m[i]), load3(C.m[i])));
    S->f.f = cross_add(f.f, v.w, l);
    S->f.n = mat3_sub_mul(add_scaled(f.n, v.w, trace), &C, v.w);
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

/* Moves the reference point of the composite S by -r e_k; k is a constant of the inlined code. E and h are the second
 * and first moment, C the moment of the velocities, l the momentum, (f; n) the required force and moment. With primes
 * for quantities after the move and the vector r for r e_k: h' = h + m r,  E' = E + r h^T + h' r^T,  C' = C + l r^T, n'
 * = n + r x f. */
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

LANE_NOINLINE void composite_motion_to_parent_free(const dyn_body *b, const joint_transform *XJ, composite_motion *S,
                                                   double mass)
{
    const vec3 p = joint_pose_of(b, XJ)->p;
    composite_motion_turn(free_transform_of(b, XJ), S);
    composite_motion_shift(S, 0, p.x, mass);
    composite_motion_shift(S, 1, p.y, mass);
    composite_motion_shift(S, 2, p.z, mass);
}

/* Transforms the composite S through a joint of one coordinate to the parent's axes. The shift by p_pc is left to
 * composite_motion_shift_offsets. `mass` is the mass of the composite. */
LANE_INLINE void composite_motion_form(link_transform X, composite_motion *S, double mass)
{
    if (dyn_joint_has_quaternion(X.joint)) return; /* the caller uses composite_motion_to_parent_free instead */
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
LANE_INLINE void composite_motion_to_parent(const dyn_body *b, const joint_transform *XJ, composite_motion *S,
                                            double mass)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        composite_motion_to_parent_free(b, XJ, S, mass);
        return;
    }
    WITH_LINK_TRANSFORM(b, XJ, composite_motion_form, S, mass)
    composite_motion_shift_offsets(b, S, mass);
}
