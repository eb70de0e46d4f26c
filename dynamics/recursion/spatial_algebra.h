/* spatial_algebra.h - computes products of spatial motions, forces and inertias, from which the derivatives of the
 * dynamics are computed: in world axes (spatial_world.h) or in the axes of each body (spatial_body.h).
 *
 * 6-vectors are [linear; angular]. For motions u, s and a force F = [f; n],
 *
 *     u x s = (wu x vs + vu x ws;  wu x ws),    u x* F = (wu x f;  wu x n + vu x f).
 *
 * With p marking quantities of the parent, a degree of freedom with axis S, a body and its force f obey
 *
 *     psi' = v_p x S,   psi'' = a_p x S + v_p x psi',   S' = v x S,   v = v_p + S qd,   a = a_p + S qdd + S' qd,
 *     f = I a + v x* I v - external,
 *
 * where a is the spatial acceleration minus gravity (Singh, Russell, Wensing 2022). Their matrix B has
 *
 *     2 B u = v x* I u - I (v x u) + u x* I v.
 *
 * It is evaluated here as for point masses m at r with velocities v(r). 2 B u is the Coriolis force of masses that move
 * with v in a frame that rotates with w_u, the angular part of u. h and E are first and second moment of the body:
 *
 *     2 B u = 2 (w_u x l;  tr(C) w_u - C w_u),   l = sum m v(r),   C = sum m v(r) r^T = v h^T + [w] E. */
#pragma once
#include "composite_inertia.h"

typedef struct dof {
    twist S;              /* joint axis times the joint's ratio */
    twist psi_d;          /* psi' = v_p x S */
    twist psi_dd;         /* psi'' = a_p x S + v_p x psi' */
    twist psi_d_plus_S_d; /* psi' + S', where S' = v x S */
} dof;

/* Returns the number of degrees of freedom of a body's joint. */
static inline size_t dofs_of(const dyn_body *b)
{
    return (size_t)dyn_joint_nv(b->joint.kind);
}

LANE_INLINE twist twist_add(twist a, twist b)
{
    return (twist){add(a.v, b.v), add(a.w, b.w)};
}
LANE_INLINE twist twist_sub(twist a, twist b)
{
    return (twist){sub(a.v, b.v), sub(a.w, b.w)};
}
LANE_INLINE twist twist_scale(twist a, lane k)
{
    return (twist){scale(a.v, k), scale(a.w, k)};
}
/* Returns u + k s for two twists. */
LANE_INLINE twist twist_add_scaled(twist u, twist s, lane k)
{
    return (twist){add_scaled(u.v, s.v, k), add_scaled(u.w, s.w, k)};
}
LANE_INLINE twist twist_cross(twist u, twist s)
{
    return (twist){.v = cross_add(cross(u.w, s.v), u.v, s.w), .w = cross(u.w, s.w)};
}
/* Returns u x* f: the rate of a wrench that moves with the motion u. */
LANE_INLINE wrench twist_cross_wrench(twist u, wrench f)
{
    return (wrench){.f = cross(u.w, f.f), .n = cross_add(cross(u.w, f.n), u.v, f.f)};
}
/* Returns u . F, the power of the wrench F along the motion u. */
LANE_INLINE lane power(twist u, wrench f)
{
    return add_mul(add_mul(add_mul(dot(u.v, f.f), u.w.x, f.n.x), u.w.y, f.n.y), u.w.z, f.n.z);
}

/* Returns (trace(E) 1 - E) w: the inertia tensor of the second moment E times w. */
LANE_INLINE vec3 tensor_mul(sym3 E, vec3 w)
{
    lane xx = E.yy + E.zz, yy = E.xx + E.zz, zz = E.xx + E.yy;
    return (vec3){sub_mul(sub_mul(xx * w.x, E.xy, w.y), E.xz, w.z), sub_mul(sub_mul(yy * w.y, E.xy, w.x), E.yz, w.z),
                  sub_mul(sub_mul(zz * w.z, E.xz, w.x), E.yz, w.y)};
}
/* Returns I u for the spatial inertia I with mass m, first moment h and second moment E. */
LANE_INLINE wrench inertia_mul(double m, vec3 h, sym3 E, twist u)
{
    return (wrench){.f = cross_add(times(m, u.v), u.w, h), .n = cross_add(tensor_mul(E, u.w), h, u.v)};
}
/* Returns 2 B u for the matrix B of the top of this file. w is the angular part of u; the linear part has no effect. */
LANE_INLINE wrench twice_coriolis_mul(vec3 l, const mat3 *C, vec3 w)
{
    lane trace = C->m[0][0] + C->m[1][1] + C->m[2][2];
    vec3 f = cross(w, l), n = mat3_sub_mul(scale(w, trace), C, w);
    return (wrench){.f = add(f, f), .n = add(n, n)};
}
/* Returns the angular part of 2 B^T s for the matrix B of the top of this file; the linear part is zero. */
LANE_INLINE vec3 twice_coriolis_mul_transposed(vec3 l, const mat3 *C, twist s)
{
    lane trace = C->m[0][0] + C->m[1][1] + C->m[2][2];
    vec3 n     = mat3_sub_mul_transposed(cross_add(scale(s.w, trace), l, s.v), C, s.w);
    return add(n, n);
}

/* Returns C = v h^T + [w] E, the moment of the velocities of a body's mass points, for its twist v = (v; w). */
LANE_INLINE mat3 velocity_moment(twist v, vec3 h, sym3 E)
{
    vec3 c0 = cross_add(scale(v.v, h.x), v.w, (vec3){E.xx, E.xy, E.xz});
    vec3 c1 = cross_add(scale(v.v, h.y), v.w, (vec3){E.xy, E.yy, E.yz});
    vec3 c2 = cross_add(scale(v.v, h.z), v.w, (vec3){E.xz, E.yz, E.zz});
    return (mat3){{{c0.x, c1.x, c2.x}, {c0.y, c1.y, c2.y}, {c0.z, c1.z, c2.z}}};
}
