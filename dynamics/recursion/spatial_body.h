/* spatial_body.h - computes the quantities of spatial_world.h in each body's own axes about its own origin. There a
 * joint's axis is e_z, and the body's inertia is constant. Composites are in composite_motion.h.
 *
 * For a revolute joint the angular part of psi' is (w.y, -w.x, 0) and the linear part (v.y, -v.x, 0). w and v may be
 * those of the parent or of the body, since the joint changes w.z only. psi'' = a_p x S + v_p x psi'. For a prismatic
 * joint the linear parts of psi' and psi'' have the formulas of the angular parts above, and the angular parts are
 * zero. The axes of a joint with a quaternion are unit vectors of six dimensions, so sums over its axes are read from
 * whole vectors. */
#pragma once
#include "composite_motion.h"

typedef struct spatial_state {
    twist v, a; /* velocity, and acceleration minus gravity */
    twist P, Q; /* psi' and psi'' of the joint, times its ratio. For a unit revolute joint P is not set (see psi_dot).
                   For a joint with a quaternion P and Q are the parent's v and a */
} spatial_state;

/* True for a revolute joint with ratio 1 and offset 0. */
LANE_INLINE bool is_unit_revolute(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.has_ratio;
}
LANE_INLINE twist psi_dot(const dyn_body *b, const spatial_state *B)
{
    if (!is_unit_revolute(b)) return B->P;
    return (twist){{B->v.v.y, -B->v.v.x, lane_of(0)}, {B->v.w.y, -B->v.w.x, lane_of(0)}};
}

/* --- motions, base to leaves --------------------------------------------------------------------------------- */

LANE_INLINE void to_child_form(link_transform X, twist *u)
{
    if (dyn_joint_has_quaternion(X.joint)) u->v = cross_add(u->v, u->w, X.pose->p);
    u->w = to_child(X, u->w);
    u->v = to_child(X, u->v);
    if (X.joint == DYN_PRISMATIC) { /* adds w x s z */
        u->v.x = add_mul(u->v.x, u->w.y, X.J.c);
        u->v.y = sub_mul(u->v.y, u->w.x, X.J.c);
    }
}

/* Moves the reference point of the motion u to the point p of the body: v + w x p. Only components of p in `along` are
 * used. */
LANE_INLINE twist twist_at(twist u, const double p[3], unsigned along)
{
    if (along & DYN_ALONG_X) u.v = (vec3){u.v.x, add_mul(u.v.y, p[0], u.w.z), sub_mul(u.v.z, p[0], u.w.y)};
    if (along & DYN_ALONG_Y) u.v = (vec3){sub_mul(u.v.x, p[1], u.w.z), u.v.y, add_mul(u.v.z, p[1], u.w.x)};
    if (along & DYN_ALONG_Z) u.v = (vec3){add_mul(u.v.x, p[2], u.w.y), sub_mul(u.v.y, p[2], u.w.x), u.v.z};
    return u;
}

LANE_INLINE void twists_to_child_form(link_transform X, twist *v, twist *a)
{
    to_child_form(X, v);
    to_child_form(X, a);
}

/* Replaces the parent's v and a, given in the child's axes at its origin, by those of the child: v += S qd, a += S qdd
 * + psi' qd. Sets P and Q of the child. */
LANE_INLINE void joint_motion(const dyn_body *b, lane sd, lane sdd, twist *v, twist *a, spatial_state *B)
{
    const vec3 w = v->w, u = v->v, o = vec3_zero();
    const vec3 q = {add_mul(a->w.y, w.z, w.x), add_mul(-a->w.x, w.z, w.y), neg_sub_mul(w.x * w.x, w.y, w.y)};
    if (b->joint.kind == DYN_PRISMATIC) {
        B->P   = (twist){.v = {w.y, -w.x, lane_of(0)}, .w = o};
        B->Q   = (twist){.v = q, .w = o};
        a->v.x = add_mul(a->v.x, w.y, sd);
        a->v.y = sub_mul(a->v.y, w.x, sd);
        v->v.z += sd;
        a->v.z += sdd;
    } else {
        lane across = add_mul(w.x * u.x, w.y, u.y);
        B->Q        = (twist){.v = {add_mul(add_mul(a->v.y, w.z, u.x), u.z, w.x),
                                    add_mul(add_mul(-a->v.x, w.z, u.y), u.z, w.y), -2.0 * across},
                              .w = q};
        if (b->joint.has_ratio) B->P = (twist){.v = {u.y, -u.x, lane_of(0)}, .w = {w.y, -w.x, lane_of(0)}};
        a->v.x = add_mul(a->v.x, u.y, sd);
        a->v.y = sub_mul(a->v.y, u.x, sd);
        a->w.x = add_mul(a->w.x, w.y, sd);
        a->w.y = sub_mul(a->w.y, w.x, sd);
        v->w.z += sd;
        a->w.z += sdd;
    }
    if (!b->joint.has_ratio) return;
    B->P = twist_scale(B->P, lane_of(b->joint.ratio));
    B->Q = twist_scale(B->Q, lane_of(b->joint.ratio));
}

/* Computes the motion of a body with a unit revolute joint on the world, where v_p = 0 and a_p is linear. */
LANE_INLINE void grounded_motion_form(link_transform X, vec3 *a)
{
    *a = to_child(X, *a);
}
LANE_INLINE void grounded_spatial_motion(const dyn_body *b, const joint_transform *XJ, lane sd, lane sdd, twist *v,
                                         twist *a, spatial_state *B)
{
    const vec3 o = vec3_zero();
    WITH_LINK_TRANSFORM(b, XJ, grounded_motion_form, &a->v)
    *v   = (twist){o, {o.x, o.x, sd}};
    a->w = (vec3){o.x, o.x, sdd};
    B->Q = (twist){{a->v.y, -a->v.x, o.x}, o};
}

/* Computes the motion of a body whose joint has a quaternion: v += S qd, a += S qdd + v_p x S qd. P and Q receive v_p
 * and a_p. */
LANE_INLINE void free_joint_motion(const dyn_body *b, const lane *qd, const lane *qdd, twist *v, twist *a, twist *P,
                                   twist *Q)
{
    const twist own   = {joint_linear(b, qd), joint_angular(b, qd)},
                own_a = {joint_linear(b, qdd), joint_angular(b, qdd)};
    *P                = *v;
    *Q                = *a;
    *a                = twist_add(twist_add(*a, own_a), twist_cross(*v, own));
    *v                = twist_add(*v, own);
}

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
        if (b->tree.parent != i - 1) {
            v = b->tree.parent == DYN_WORLD ? rest : body[b->tree.parent].v;
            a = b->tree.parent == DYN_WORLD ? fall : body[b->tree.parent].a;
        }
        if (b->tree.parent == DYN_WORLD && is_unit_revolute(b)) {
            grounded_spatial_motion(b, &XJ[i], joint_rate(b, qd), joint_rate(b, qdd), &v, &a, B);
        } else {
#pragma GCC unroll 3
            for (unsigned axis = DYN_ALONG_X; axis <= DYN_ALONG_Z; axis <<= 1) {
                if (!(b->pose.offsets & axis)) continue;
                v = twist_at(v, b->pose.p_pc, axis);
                a = twist_at(a, b->pose.p_pc, axis);
            }
            WITH_LINK_TRANSFORM(b, &XJ[i], twists_to_child_form, &v, &a)
            if (dyn_joint_has_quaternion(b->joint.kind))
                free_joint_motion(b, qd, qdd, &v, &a, &B->P, &B->Q);
            else
                joint_motion(b, joint_rate(b, qd), joint_rate(b, qdd), &v, &a, B);
        }
        B->v = v;
        B->a = a;
    }
}

/* --- pose of a body relative to an ancestor -------------------------------------------------------------------- */

typedef struct relative_pose {
    mat3 R;
    vec3 p;
} relative_pose;

static inline relative_pose relative_pose_identity(void)
{
    lane one = lane_of(1), zero = lane_of(0);
    return (relative_pose){.R = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}}, .p = vec3_zero()};
}

/* Transforms a motion u of the ancestor to the axes and origin of the body whose pose in the ancestor is s. */
LANE_INLINE twist twist_in_descendant(const relative_pose *s, twist u)
{
    return (twist){mat3_mul_transposed(&s->R, cross_add(u.v, u.w, s->p)), mat3_mul_transposed(&s->R, u.w)};
}

LANE_INLINE dof dof_in_descendant(const relative_pose *s, dof d)
{
    return (dof){twist_in_descendant(s, d.S), twist_in_descendant(s, d.P), twist_in_descendant(s, d.Q),
                 twist_in_descendant(s, d.D)};
}

LANE_INLINE void relative_pose_form(link_transform X, relative_pose *s)
{
    for (int k = 0; k < 3; k++) {
        vec3 e       = to_parent(X, mat3_column(&s->R, k));
        s->R.m[0][k] = e.x;
        s->R.m[1][k] = e.y;
        s->R.m[2][k] = e.z;
    }
    s->p = add(origin_in_parent(X), to_parent(X, s->p));
}

/* Replaces s, the pose of a descendant in body b, by its pose in the parent of b. */
static inline void relative_pose_from_parent(const dyn_body *b, const joint_transform *XJ,
                                             relative_pose *s){WITH_LINK_TRANSFORM(b, XJ, relative_pose_form, s)}

/* --- degrees of freedom ---------------------------------------------------------------------------------------- */

LANE_INLINE vec3 unit(int k)
{
    return (vec3){lane_of(k == 0), lane_of(k == 1), lane_of(k == 2)};
}

/* Degree of freedom k of a body, in the body's axes. */
static inline dof dof_of(const dyn_body *b, const spatial_state *B, size_t k)
{
    const vec3 o = vec3_zero();
    if (!dyn_joint_has_quaternion(b->joint.kind)) {
        const twist P = psi_dot(b, B);
        vec3        z = times(b->joint.ratio, unit(2));
        return (dof){.S = b->joint.kind == DYN_PRISMATIC ? (twist){z, o} : (twist){o, z},
                     .P = P,
                     .Q = B->Q,
                     .D = twist_add(P, P)};
    }
    const int axis = joint_first_axis(b) + (int)k;
    vec3      e    = unit(axis % 3);
    dof       d    = {.S = axis < 3 ? (twist){e, o} : (twist){o, e}};
    d.P            = twist_cross(B->P, d.S);
    d.Q            = twist_add(twist_cross(B->Q, d.S), twist_cross(B->P, d.P));
    d.D            = twist_add(d.P, twist_cross(B->v, d.S));
    return d;
}
