/* spatial_body.h - computes velocity and acceleration of each body in its own axes about its own origin, and from them
 * the axes S of its joint with their rates. In these axes S and the body's inertia are constant.
 *
 * Singh, Russell, Wensing (2022), forward pass, in body frames; spatial_algebra.h has the equations. */
#pragma once
#include "spatial_algebra.h"

/* Motion of a body, in its axes about its origin. */
typedef struct spatial_state {
    twist v, a; /* velocity, and spatial acceleration minus gravity */
    union {
        twist psi_d; /* joint of one coordinate: psi'; not set for unit revolute joints (psi_dot) */
        twist v_p;   /* joint with a quaternion: v of the parent at the body's origin */
    };
    union {
        twist psi_dd; /* joint of one coordinate: psi'' */
        twist a_p;    /* joint with a quaternion: a of the parent at the body's origin */
    };
} spatial_state;

/* True for a revolute joint with ratio 1 and offset 0. */
LANE_INLINE bool is_unit_revolute(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.has_ratio;
}

/* --- degrees of freedom ---------------------------------------------------------------------------------------- */

LANE_INLINE vec3 unit(int k)
{
    return (vec3){lane_of(k == 0), lane_of(k == 1), lane_of(k == 2)};
}

/* Returns psi' = v_p x S of a joint of one coordinate. For a unit revolute joint it follows from the velocity v of the
 * body, since v_p x S = v x S. */
LANE_INLINE twist psi_dot(const dyn_body *b, const spatial_state *B)
{
    if (!is_unit_revolute(b)) return B->psi_d;
    return (twist){{B->v.v.y, -B->v.v.x, lane_of(0)}, {B->v.w.y, -B->v.w.x, lane_of(0)}};
}

/* Returns degree of freedom k of a body:  psi' = v_p x S,  psi'' = a_p x S + v_p x psi',  S' = v x S. A joint of one
 * coordinate has S = e_z times the ratio, and S' = psi'; the axes S of a joint with a quaternion are unit vectors of
 * six dimensions. */
static inline dof dof_of(const dyn_body *b, const spatial_state *B, size_t k)
{
    const vec3 o = vec3_zero();
    if (!dyn_joint_has_quaternion(b->joint.kind)) {
        const twist psi_d = psi_dot(b, B);
        const vec3  z     = times(b->joint.ratio, unit(2));
        const twist S     = b->joint.kind == DYN_PRISMATIC ? (twist){z, o} : (twist){o, z};
        return (dof){.S = S, .psi_d = psi_d, .psi_dd = B->psi_dd, .psi_d_plus_S_d = twist_add(psi_d, psi_d)};
    }
    const int  axis  = joint_first_axis(b) + (int)k;
    const vec3 e     = unit(axis % 3);
    dof        d     = {.S = axis < 3 ? (twist){e, o} : (twist){o, e}};
    d.psi_d          = twist_cross(B->v_p, d.S);
    d.psi_dd         = twist_add(twist_cross(B->a_p, d.S), twist_cross(B->v_p, d.psi_d));
    d.psi_d_plus_S_d = twist_add(d.psi_d, twist_cross(B->v, d.S));
    return d;
}

/* --- the forward pass, base to leaves -------------------------------------------------------------------------- */

LANE_INLINE void twists_to_child_form(link_transform X, twist *v, twist *a)
{
    twist_to_child_form(X, v);
    twist_to_child_form(X, a);
}

/* Computes the motion of a body whose joint has one coordinate, with rate sd and acceleration sdd. On entry v and a are
 * v_p and a_p, on return v = v_p + S qd and a = a_p + S qdd + psi' qd. Also sets psi' and psi''. With w, u the angular
 * and linear part of v_p, and S = e_z,
 *     revolute:   psi' = (u x e_z;  w x e_z),   psi'' = (a_p.v x e_z + w x (u x e_z) + u x (w x e_z);  zdd),
 *     prismatic:  psi' = (w x e_z;  0),         psi'' = (zdd;  0),     zdd = a_p.w x e_z + w x (w x e_z). */
LANE_INLINE void joint_motion(const dyn_body *b, lane sd, lane sdd, twist *v, twist *a, spatial_state *B)
{
    const vec3 w = v->w, u = v->v, o = vec3_zero();
    const vec3 zdd = {add_mul(a->w.y, w.z, w.x), add_mul(-a->w.x, w.z, w.y), neg_sub_mul(w.x * w.x, w.y, w.y)};
    if (b->joint.kind == DYN_PRISMATIC) {
        B->psi_d  = (twist){.v = {w.y, -w.x, o.z}, .w = o};
        B->psi_dd = (twist){.v = zdd, .w = o};
        a->v.x    = add_mul(a->v.x, w.y, sd);
        a->v.y    = sub_mul(a->v.y, w.x, sd);
        v->v.z += sd;
        a->v.z += sdd;
    } else {
        B->psi_dd = (twist){.v = {add_mul(add_mul(a->v.y, w.z, u.x), u.z, w.x),
                                  add_mul(add_mul(-a->v.x, w.z, u.y), u.z, w.y), -2.0 * add_mul(w.x * u.x, w.y, u.y)},
                            .w = zdd};
        if (b->joint.has_ratio) B->psi_d = (twist){.v = {u.y, -u.x, o.z}, .w = {w.y, -w.x, o.z}};
        a->v.x = add_mul(a->v.x, u.y, sd);
        a->v.y = sub_mul(a->v.y, u.x, sd);
        a->w.x = add_mul(a->w.x, w.y, sd);
        a->w.y = sub_mul(a->w.y, w.x, sd);
        v->w.z += sd;
        a->w.z += sdd;
    }
    if (!b->joint.has_ratio) return;
    B->psi_d  = twist_scale(B->psi_d, lane_of(b->joint.ratio));
    B->psi_dd = twist_scale(B->psi_dd, lane_of(b->joint.ratio));
}

/* Computes v = v_p + S qd and a = a_p + S qdd + v_p x S qd for a joint with a quaternion, from v_p and a_p. */
LANE_NOINLINE void free_joint_motion(const dyn_body *b, const lane *qd, const lane *qdd, spatial_state *B)
{
    const twist own   = {joint_linear(b, qd), joint_angular(b, qd)},
                own_a = {joint_linear(b, qdd), joint_angular(b, qdd)};
    B->v              = twist_add(B->v_p, own);
    B->a              = twist_add(twist_add(B->a_p, own_a), twist_cross(B->v_p, own));
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
        /* v_p and a_p: velocity and acceleration of the parent at the body's origin, in the body's axes */
#pragma GCC unroll 3
        for (unsigned axis = DYN_ALONG_X; axis <= DYN_ALONG_Z; axis <<= 1) {
            if (!(b->pose.offsets & axis)) continue;
            v = twist_at(v, b->pose.p_pc, axis);
            a = twist_at(a, b->pose.p_pc, axis);
        }
        WITH_LINK_TRANSFORM(b, &XJ[i], twists_to_child_form, &v, &a)
        if (dyn_joint_has_quaternion(b->joint.kind)) {
            B->v_p = v;
            B->a_p = a;
            free_joint_motion(b, qd, qdd, B);
            v = B->v;
            a = B->a;
        } else {
            joint_motion(b, joint_rate(b, qd), joint_rate(b, qdd), &v, &a, B);
            B->v = v;
            B->a = a;
        }
    }
}
