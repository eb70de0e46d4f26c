/* free_joint_forces.h - computes the efforts of the rotor, the damper and the spring of a joint with a quaternion, and
 * their derivatives.
 *
 * The rotor inertia J belongs to the rates of the position p, in the axes of the joint frame on the parent's side, and
 * to the components of the angular velocity w: T = J (p' . p' + w . w) / 2. MuJoCo has the same coordinates, in which
 * the rotor is J on the diagonal of M. With v = R^T p' in the axes of the moved frame, p'' = R (v' + w x v), and so
 *
 *     f = J (v' + w x v) + d v,   n = J w' + d w,
 *
 * where d is the damping. M has J on the diagonal in these axes too, since T = J (v . v + w . w) / 2. A spherical joint
 * has only n, and may have a spring (free_joint_spring.h); the position and orientation of a floating joint have no
 * effect on the efforts.
 *
 * The matrix C of the rotor with dM/dt = C + C^T and the symmetry of Christoffel symbols (Koszul's formula with the
 * brackets of the axes) has the blocks J [w] for f by v and J [w] / 2 for n by w. */
#pragma once
#include "free_joint_spring.h"

/* True if the joint has a quaternion and a rotor, damper or spring. */
LANE_INLINE bool has_free_forces(const dyn_body *b)
{
    return dyn_joint_has_quaternion(b->joint.kind) && (b->joint.rotor_inertia != 0 || b->joint.has_spring);
}

/* Returns the damping d of the joint; zero if the scene's terms do not include it. */
LANE_INLINE double free_damping(const dyn_body *b, unsigned terms)
{
    return terms & DYN_SPRINGS ? b->joint.spring.damping : 0;
}

/* Returns J a + d u, with the rotor inertia J, the damping d, the acceleration a and the rate u of the joint. */
LANE_INLINE wrench free_efforts(const dyn_body *b, unsigned terms, twist a, twist u)
{
    const double J = b->joint.rotor_inertia, d = free_damping(b, terms);
    return (wrench){.f = add(times(J, a.v), times(d, u.v)), .n = add(times(J, a.w), times(d, u.w))};
}

/* Returns the joint's part of qd as [linear; angular], or of qdd if that is passed as qd. NULL means zeros. */
LANE_INLINE twist free_rates(const dyn_body *b, const lane *qd)
{
    return (twist){joint_linear(b, qd), joint_angular(b, qd)};
}

/* A motion of a joint. NULL means zeros. */
typedef struct free_motion {
    const lane *q, *qd, *qdd; /* q is not NULL */
} free_motion;

/* Returns the force f and the moment n of rotor, damper and spring (first comment). */
LANE_INLINE wrench free_forces(const dyn_body *b, unsigned terms, const free_motion *x)
{
    const twist u = free_rates(b, x->qd);
    twist       a = free_rates(b, x->qdd);
    a.v           = cross_add(a.v, u.w, u.v);
    wrench sum    = free_efforts(b, terms, a, u);
    if (has_free_spring(b, terms)) sum.n = add(sum.n, free_spring(b, x->q));
    return sum;
}

/* Returns the rates, along a direction, of the force f and the moment n of free_forces. */
LANE_INLINE wrench free_force_rates(const dyn_body *b, unsigned terms, const lane *q, const lane *qd, direction along)
{
    const twist u = free_rates(b, qd), g = free_rates(b, along.qd);
    twist       j = free_rates(b, along.qdd);
    j.v           = cross_add(cross_add(j.v, g.w, u.v), u.w, g.v);
    wrench sum    = free_efforts(b, terms, j, g);
    if (has_free_spring(b, terms)) sum.n = add(sum.n, free_spring_rate(b, q, along.q));
    return sum;
}

/* Adds the components of a wrench to the entries of tau of the joint: all six, or the moment alone for a spherical
 * joint. */
LANE_INLINE void free_add_efforts(const dyn_body *b, wrench w, lane *tau)
{
    lane effort[6];
    store3(effort, w.f);
    store3(effort + 3, w.n);
    for (int k = joint_first_axis(b), v = b->joint.v; k < 6; k++, v++)
        tau[v] += effort[k];
}

/* Returns the acceleration that the Coriolis matrix C assigns to the rotor: at the reference rates qd_r and qdd_r, the
 * wrench (f; n) without the damper is J times this. */
LANE_INLINE twist free_reference(const dyn_body *b, const lane *qd, const lane *qd_r, const lane *qdd_r)
{
    const vec3  w   = joint_angular(b, qd);
    const twist u_r = free_rates(b, qd_r), a = free_rates(b, qdd_r);
    return (twist){cross_add(a.v, w, u_r.v), cross_add(a.w, times(0.5, w), u_r.w)};
}

/* --- matrices, nv x nv ------------------------------------------------------------------------------------------ */

/* Pointer to the first entry of a block of three rows and three columns of a matrix. */
LANE_INLINE lane *matrix_block(lane *matrix, size_t nv, int row, int column)
{
    return &matrix[(size_t)row * nv + (size_t)column];
}

/* Adds the matrix [x] to a block of three rows and columns. */
LANE_INLINE void free_add_cross(lane *block, size_t nv, vec3 x)
{
    block[1] -= x.z;
    block[2] += x.y;
    block[nv] += x.z;
    block[nv + 2] -= x.x;
    block[2 * nv] -= x.y;
    block[2 * nv + 1] += x.x;
}

/* Adds x to the diagonal entries of the joint in a matrix nv x nv. */
LANE_INLINE void free_add_diagonal(const dyn_body *b, size_t nv, double x, lane *matrix)
{
    for (int v = b->joint.v; v < b->joint.v + dyn_joint_nv(b->joint.kind); v++)
        matrix[(size_t)v * (nv + 1)] += x;
}

/* Adds the derivatives of J w x v: J [w] with respect to v, and -J [v] with respect to w. */
LANE_INLINE void free_add_turning(const dyn_body *b, size_t nv, const lane *qd, lane *matrix)
{
    const int    v = b->joint.v;
    const double J = b->joint.rotor_inertia;
    if (b->joint.kind != DYN_FLOATING || J == 0) return;
    free_add_cross(matrix_block(matrix, nv, v, v), nv, times(J, joint_angular(b, qd)));
    free_add_cross(matrix_block(matrix, nv, v, v + 3), nv, times(-J, joint_linear(b, qd)));
}

/* Adds the matrix C of the rotor (first comment). */
LANE_INLINE void free_add_coriolis(const dyn_body *b, size_t nv, const lane *qd, lane *matrix)
{
    const int    v      = b->joint.v;
    const double J      = b->joint.rotor_inertia;
    const bool   floats = b->joint.kind == DYN_FLOATING;
    const vec3   w      = joint_angular(b, qd);
    if (floats) free_add_cross(matrix_block(matrix, nv, v, v), nv, times(J, w));
    free_add_cross(matrix_block(matrix, nv, floats ? v + 3 : v, floats ? v + 3 : v), nv, times(0.5 * J, w));
}

/* Adds the second derivatives of u . J (w x v) with respect to v and w, where u is the linear part of the multipliers:
 * e_v . (u x e_w) J for each pair of axes. */
LANE_INLINE void free_add_curvature(const dyn_body *b, size_t nv, const lane *multipliers, lane *qd_qd)
{
    const int    v = b->joint.v;
    const double J = b->joint.rotor_inertia;
    if (b->joint.kind != DYN_FLOATING || J == 0) return;
    const vec3 u = joint_linear(b, multipliers);
    free_add_cross(matrix_block(qd_qd, nv, v, v + 3), nv, times(J, u));
    free_add_cross(matrix_block(qd_qd, nv, v + 3, v), nv, times(-J, u));
}

/* Adds the second derivatives of the rotors and springs of joints with a quaternion; q_q, qd_qd NULL: not requested. */
static inline void free_add_curvatures(const dyn_scene *scene, const lane *q, const lane *multipliers, lane *q_q,
                                       lane *qd_qd)
{
    const dyn_model *m  = scene->model;
    const size_t     nv = (size_t)m->nv;
    for (size_t i = 0; m->n_quaternions > 0 && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (has_free_forces(b) && qd_qd) free_add_curvature(b, nv, multipliers, qd_qd);
        if (has_free_spring(b, scene->terms) && q_q) free_add_spring_curvature(b, nv, q, multipliers, q_q);
    }
}
