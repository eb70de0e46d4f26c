/* spatial_body.h - computes velocity and acceleration of each body in its own axes about its own origin, and from them
 * the axes of its joint with their rates. In these axes S and the body's inertia are constant.
 *
 * Singh, Russell, Wensing (2022), forward pass, in body frames; spatial_algebra.h has the equations. The step of a unit
 * revolute joint is in spatial_body_fast.h. */
#pragma once
#include "spatial_body_fast.h"

/* --- degrees of freedom ---------------------------------------------------------------------------------------- */

LANE_INLINE vec3 unit(int k)
{
    return (vec3){lane_of(k == 0), lane_of(k == 1), lane_of(k == 2)};
}

/* S of axis k of a joint: the ratio times e_z, linear or angular; with a quaternion, a unit vector of six dimensions.
 */
LANE_INLINE twist joint_axis(const dyn_body *b, size_t k)
{
    const vec3 o    = vec3_zero();
    const bool free = dyn_joint_has_quaternion(b->joint.kind);
    const int  axis = free ? joint_first_axis(b) + (int)k : b->joint.kind == DYN_PRISMATIC ? 2 : 5;
    const vec3 e    = free ? unit(axis % 3) : times(b->joint.ratio, unit(2));
    return axis < 3 ? (twist){e, o} : (twist){o, e};
}

/* Degree of freedom k of a body:  psi' = v_p x S,  psi'' = a_p x S + v_p x psi',  D = psi' + v x S. */
static inline dof dof_of(const dyn_body *b, const spatial_state *B, size_t k)
{
    dof d = {.S = joint_axis(b, k)};
    if (is_unit_revolute(b)) {
        d.P = unit_revolute_psi_dot(B);
        d.Q = B->Q;
        d.D = twist_add(d.P, d.P);
        return d;
    }
    d.P = twist_cross(B->v_p, d.S);
    d.Q = twist_add(twist_cross(B->a_p, d.S), twist_cross(B->v_p, d.P));
    d.D = twist_add(d.P, twist_cross(B->v, d.S));
    return d;
}

/* --- the forward pass, base to leaves -------------------------------------------------------------------------- */

LANE_INLINE void twists_to_child_form(link_transform X, twist *v, twist *a)
{
    twist_to_child_form(X, v);
    twist_to_child_form(X, a);
}

/* S qd, the joint's own velocity, or with qdd in place of qd its own acceleration; NULL means zeros. */
LANE_INLINE twist joint_twist(const dyn_body *b, const lane *qd)
{
    const vec3 o = vec3_zero();
    if (dyn_joint_has_quaternion(b->joint.kind)) return (twist){joint_linear(b, qd), joint_angular(b, qd)};
    const vec3 z = {o.x, o.x, joint_rate(b, qd)};
    return b->joint.kind == DYN_PRISMATIC ? (twist){z, o} : (twist){o, z};
}

/* v = v_p + S qd,  a = a_p + S qdd + v_p x S qd,  from v_p and a_p. */
LANE_NOINLINE void joint_motion(const dyn_body *b, const lane *qd, const lane *qdd, spatial_state *B)
{
    const twist own = joint_twist(b, qd);
    B->v            = twist_add(B->v_p, own);
    B->a            = twist_add(twist_add(B->a_p, joint_twist(b, qdd)), twist_cross(B->v_p, own));
}

/* Computes the motion of all bodies. */
static inline void spatial_states(const dyn_scene *scene, const joint_transform *XJ, const lane *qd, const lane *qdd,
                                  spatial_state *body)
{
    const dyn_model *m = scene->model;
    const double    *g = scene->gravity;
    const twist rest = {vec3_zero(), vec3_zero()}, fall = {{lane_of(-g[0]), lane_of(-g[1]), lane_of(-g[2])}, rest.w};
    twist       v = rest, a = fall;
    for (int i = 0; i < (int)m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        spatial_state  *B = &body[i];
        const int       p = b->tree.parent;
        if (p != i - 1) {
            v = p == DYN_WORLD ? rest : body[p].v;
            a = p == DYN_WORLD ? fall : body[p].a;
        }
        /* v_p and a_p at the body's origin, in its axes */
#pragma GCC unroll 3
        for (unsigned axis = DYN_ALONG_X; axis <= DYN_ALONG_Z; axis <<= 1) {
            if (!(b->pose.offsets & axis)) continue;
            v = twist_at(v, b->pose.p_pc, axis);
            a = twist_at(a, b->pose.p_pc, axis);
        }
        WITH_LINK_TRANSFORM(b, &XJ[i], twists_to_child_form, &v, &a)
        /* v and a of the body */
        if (is_unit_revolute(b)) {
            unit_revolute_motion(joint_rate(b, qd), joint_rate(b, qdd), &v, &a, &B->Q);
            B->v = v;
            B->a = a;
        } else {
            B->v_p = v;
            B->a_p = a;
            joint_motion(b, qd, qdd, B);
            v = B->v;
            a = B->a;
        }
    }
}
