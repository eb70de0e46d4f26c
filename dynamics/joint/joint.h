/* joint.h - computes joint transforms, and transforms vectors and wrenches between a body and its parent. Forces within
 * a joint are in joint_forces.h.
 *
 * A revolute joint at position s has R_pc = Rz(gamma) Rx(beta) Rz(s + theta). A prismatic joint has the same without
 * the last rotation, and its origin is at p_pc + s z. The kinds of joint and rotation are constants of the inlined code
 * (WITH_LINK_TRANSFORM): one branch per body, none per state. For a joint with a quaternion, R_pc and p_pc are computed
 * from its coordinates, and its axes are those of the body. */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/math/spatial.h"
#include "dynamics/math/trig.h"

/* R_pc and p_pc of a joint with a quaternion: the pose of the body in its parent's frame. */
typedef struct joint_pose {
    mat3 R;
    vec3 p;
} joint_pose;

/* The variable part of a joint transform. Revolute: c = cos(s + theta), s = sin(s + theta). Prismatic: c = s, in m.
 * With a quaternion: unused, the body has a joint_pose. */
typedef struct joint_transform {
    lane c, s;
} joint_transform;
_Static_assert(sizeof(joint_pose) == DYN_JOINT_POSE_ENTRIES * sizeof(joint_transform),
               "see dyn_body_pose.to_joint_pose");

/* Returns the pose of a joint with a quaternion. XJ is the entry of its body in the array of all joint transforms,
 * which is followed by the poses (arena_take_joints). */
LANE_INLINE const joint_pose *joint_pose_of(const dyn_body *b, const joint_transform *XJ)
{
    return (const joint_pose *)(const void *)(XJ + b->pose.to_joint_pose);
}

/* X_pc, the pose of body b in its parent's frame. The kinds of its joint and of its constant rotation are constants of
 * the inlined code, so that only the operations that this pair needs are left. */
typedef struct link_transform {
    const dyn_body   *b;
    joint_transform   J;
    const joint_pose *pose;  /* R_pc and p_pc; only for joints with a quaternion */
    dyn_joint_kind    joint; /* DYN_FLOATING also stands for spherical joints */
    dyn_turn          turn;
} link_transform;

LANE_INLINE link_transform link_transform_of(const dyn_body *b, const joint_transform *XJ, dyn_joint_kind joint,
                                             dyn_turn turn)
{
    if (joint == DYN_FLOATING)
        return (link_transform){.b = b, .pose = joint_pose_of(b, XJ), .joint = joint, .turn = turn};
    return (link_transform){.b = b, .J = *XJ, .joint = joint, .turn = turn};
}

/* The link transform of a body whose joint has a quaternion. */
LANE_INLINE link_transform free_transform_of(const dyn_body *b, const joint_transform *XJ)
{
    return link_transform_of(b, XJ, DYN_FLOATING, DYN_TURN_ZX);
}

/* Calls F(X, ...), with X the link transform of a body with joint transform *XJ: one branch for each body, none for
 * each state. */
#define LINK_TRANSFORM_CASE(number, body, XJ, JOINT, TURN, F, ...)                                                     \
    case number:                                                                                                       \
        F(link_transform_of(body, XJ, JOINT, TURN), __VA_ARGS__);                                                      \
        break;
#define WITH_LINK_TRANSFORM(body, XJ, F, ...)                                                                          \
    switch ((body)->pose.form) {                                                                                       \
        LINK_TRANSFORM_CASE(0, body, XJ, DYN_REVOLUTE, DYN_TURN_NONE, F, __VA_ARGS__)                                  \
        LINK_TRANSFORM_CASE(1, body, XJ, DYN_REVOLUTE, DYN_TURN_X_PLUS, F, __VA_ARGS__)                                \
        LINK_TRANSFORM_CASE(2, body, XJ, DYN_REVOLUTE, DYN_TURN_X_MINUS, F, __VA_ARGS__)                               \
        LINK_TRANSFORM_CASE(3, body, XJ, DYN_REVOLUTE, DYN_TURN_X, F, __VA_ARGS__)                                     \
        LINK_TRANSFORM_CASE(4, body, XJ, DYN_REVOLUTE, DYN_TURN_ZX, F, __VA_ARGS__)                                    \
        LINK_TRANSFORM_CASE(5, body, XJ, DYN_PRISMATIC, DYN_TURN_NONE, F, __VA_ARGS__)                                 \
        LINK_TRANSFORM_CASE(6, body, XJ, DYN_PRISMATIC, DYN_TURN_X_PLUS, F, __VA_ARGS__)                               \
        LINK_TRANSFORM_CASE(7, body, XJ, DYN_PRISMATIC, DYN_TURN_X_MINUS, F, __VA_ARGS__)                              \
        LINK_TRANSFORM_CASE(8, body, XJ, DYN_PRISMATIC, DYN_TURN_X, F, __VA_ARGS__)                                    \
        LINK_TRANSFORM_CASE(9, body, XJ, DYN_PRISMATIC, DYN_TURN_ZX, F, __VA_ARGS__)                                   \
    default: F(link_transform_of(body, XJ, DYN_FLOATING, DYN_TURN_ZX), __VA_ARGS__); break;                            \
    }

/* Calls F(X, ...) with the link transform X of a body whose joint is revolute: fewer cases than WITH_LINK_TRANSFORM. */
#define WITH_REVOLUTE_TRANSFORM(body, XJ, F, ...)                                                                      \
    switch ((body)->pose.form) {                                                                                       \
        LINK_TRANSFORM_CASE(0, body, XJ, DYN_REVOLUTE, DYN_TURN_NONE, F, __VA_ARGS__)                                  \
        LINK_TRANSFORM_CASE(1, body, XJ, DYN_REVOLUTE, DYN_TURN_X_PLUS, F, __VA_ARGS__)                                \
        LINK_TRANSFORM_CASE(2, body, XJ, DYN_REVOLUTE, DYN_TURN_X_MINUS, F, __VA_ARGS__)                               \
        LINK_TRANSFORM_CASE(3, body, XJ, DYN_REVOLUTE, DYN_TURN_X, F, __VA_ARGS__)                                     \
    default: F(link_transform_of(body, XJ, DYN_REVOLUTE, DYN_TURN_ZX), __VA_ARGS__); break;                            \
    }

/* In code for plain runs (dyn_run), the functions assume_... tell the compiler the properties that every body has, so
 * that it omits the tests of these. `plain` is a constant of the inlined code: true if the run is plain.
 * assume_revolute states the properties that joint transforms use. */
#define KNOWN(fact)                                                                                                    \
    if (plain && !(fact)) __builtin_unreachable();
LANE_INLINE void assume_revolute(const dyn_body *b, const bool plain){
    KNOWN(b->joint.kind == DYN_REVOLUTE) KNOWN(b->pose.form >= 0) KNOWN(b->pose.form <= (int)DYN_TURN_ZX)}
/* Tells the compiler all properties of a body in a plain run. */
LANE_INLINE void assume_plain_body(const dyn_body *b, const bool plain)
{
    assume_revolute(b, plain);
    KNOWN(b->joint.is_ideal)
    KNOWN(!b->joint.has_ratio)
    KNOWN(!b->joint.mimic)
    KNOWN(!b->joint.has_slide_body)
}
/* Tells the compiler the properties of body i of a serial model: those of a body in a plain run, and its indices. */
LANE_INLINE void assume_serial_body(const dyn_body *b, size_t i, const bool plain)
{
    assume_plain_body(b, plain);
    KNOWN(b->tree.parent == (int)i - 1)
    KNOWN(b->joint.q == (int)i)
    KNOWN(b->joint.v == (int)i)
    KNOWN(!b->tree.has_branch)
}
#undef KNOWN

/* A pivot is the inertia about or along a joint's axis that remains when all joints further out move freely. If the
 * exact value is zero, rounding leaves up to 4000 eps of the original inertia, of either sign; rarely more, if another
 * pivot is nearly zero too. A pivot up to PIVOT_TOLERANCE times the original inertia counts as zero. `linear`: motion
 * along the axis, not about it. */
#define PIVOT_TOLERANCE 0x1p-40
LANE_INLINE double pivot_floor(const dyn_body *b, bool linear)
{
    return PIVOT_TOLERANCE * (linear ? b->derived.subtree_mass : b->derived.subtree_moment);
}

/* --- coordinates of the joint and of the model: s = ratio q + offset, tau_q = ratio tau_s ------------------- */

LANE_INLINE lane joint_position(const dyn_body *b, const lane *q)
{
    if (!b->joint.has_ratio) return q[b->joint.q];
    return b->joint.is_rotor ? lane_of(0)
                             : lane_add_product(lane_of(b->joint.offset), lane_of(b->joint.ratio), q[b->joint.q]);
}
/* Returns the rate of the joint at the rates qd of the coordinates, or its acceleration if qdd is passed as qd. NULL
 * means zeros. */
LANE_INLINE lane joint_rate(const dyn_body *b, const lane *qd)
{
    lane rate = qd ? qd[b->joint.v] : lane_of(0);
    return b->joint.has_ratio ? b->joint.ratio * rate
                              : rate; /* a zero rate is multiplied too, since the product may be -0 */
}
LANE_INLINE lane coordinate_effort(const dyn_body *b, lane effort)
{
    return b->joint.has_ratio ? b->joint.ratio * effort : effort;
}

LANE_INLINE lane joint_effort(const dyn_body *b, const lane *tau)
{
    return b->joint.has_ratio ? tau[b->joint.v] / b->joint.ratio : tau[b->joint.v];
}

/* Rates of q, qd and qdd, nv entries each: along the motion in time these are qd, qdd and qddd; else a direction of the
 * state. NULL means zeros. */
typedef struct direction {
    const lane *q, *qd, *qdd;
} direction;

/* The linear and angular part of qd, or of qdd if that is passed as qd, of a joint with a quaternion. NULL means
 * zeros. */
LANE_INLINE vec3 joint_linear(const dyn_body *b, const lane *qd)
{
    return b->joint.kind == DYN_FLOATING ? load3_from(qd, b->joint.v) : vec3_zero();
}
LANE_INLINE vec3 joint_angular(const dyn_body *b, const lane *qd)
{
    return load3_from(qd, b->joint.kind == DYN_FLOATING ? b->joint.v + 3 : b->joint.v);
}
/* Number of the first axis of a joint with a quaternion. Axes 0, 1, 2 are translations along x, y, z of the body, axes
 * 3, 4, 5 rotations about them. */
LANE_INLINE int joint_first_axis(const dyn_body *b)
{
    return b->joint.kind == DYN_FLOATING ? 0 : 3;
}

/* Returns the rotation matrix of the unit quaternion q = (x, y, z, w). */
LANE_INLINE mat3 quaternion_rotation(const lane *q)
{
    lane x = q[0], y = q[1], z = q[2], w = q[3];
    lane xy = x * y, xz = x * z, yz = y * z, xx = x * x, yy = y * y;
    return (mat3){{{sub_mul(1.0, 2.0, add_mul(yy, z, z)), 2.0 * sub_mul(xy, w, z), 2.0 * add_mul(xz, w, y)},
                   {2.0 * add_mul(xy, w, z), sub_mul(1.0, 2.0, add_mul(xx, z, z)), 2.0 * sub_mul(yz, w, x)},
                   {2.0 * sub_mul(xz, w, y), 2.0 * add_mul(yz, w, x), sub_mul(1.0, 2.0, xx + yy)}}};
}

/* Sets X_pc = before * (R(q), p(q)) of a joint with a quaternion. */
static inline void set_free_joint_pose(const dyn_body *b, const lane *q, joint_pose *pose)
{
    const bool slides = b->joint.kind == DYN_FLOATING, turned = b->pose.turn != DYN_TURN_NONE;
    vec3       p = slides ? load3(q) : vec3_zero();
    pose->R      = quaternion_rotation(slides ? q + 3 : q);
    if (turned) pose->R = const_mat3_mul(b->pose.before.R, &pose->R);
    pose->p = add(vec3_of(b->pose.before.p), turned ? rotate_const(b->pose.before.R, p) : p);
}

/* Sets cosine and sine of s + theta for the revolute joints of the bodies first to end - 1, TRIG_ANGLES at a time; the
 * last group may extend beyond `end`, or overlap the group before. Entries of other joints in a group are overwritten
 * with the joint position. `has_frame_angles` and `plain` are constants of the inlined code. With one lane, cosine and
 * sine of a joint are stored as one vector, since they are read as one vector. */
LANE_INLINE void set_revolute_transforms(const dyn_model *m, const lane *q, joint_transform *XJ, size_t first,
                                         size_t end, const bool has_frame_angles, const bool plain)
{
    const size_t n = m->n_bodies, last = n < TRIG_ANGLES ? 0 : n - TRIG_ANGLES;
    for (size_t next = plain || first > 0 ? first : m->floating; next < end; next += TRIG_ANGLES) {
        const size_t i = TRIG_ANGLES == 1 || next < last ? next : last;
        lane         x[TRIG_ANGLES], own[2], *cs = TRIG_ANGLES == 1 ? own : (lane *)(void *)&XJ[i];
        double       d[TRIG_ANGLES], rounder[TRIG_ANGLES];
#pragma GCC unroll 4
        for (size_t k = 0; k < TRIG_ANGLES; k++) {
            const size_t    j = TRIG_ANGLES == 1 || i + k < n ? i + k : n - 1;
            const dyn_body *b = &m->body[j];
            assume_plain_body(b, plain);
            x[k] = joint_position(b, q);
            d[k] = has_frame_angles ? b->pose.frame_angle : -0.0; /* -0 + -0 = -0, so adding it changes no angle */
            rounder[k] = b->pose.rounder;
        }
        lane_cosine_sine(x, d, rounder, cs);
        for (size_t k = 0; k < TRIG_ANGLES && i + k < n; k++)
            if (!plain && m->body[i + k].joint.kind != DYN_REVOLUTE)
                XJ[i + k] = (joint_transform){.c = x[k], .s = lane_of(0)};
            else if (TRIG_ANGLES == 1)
                XJ[i + k] = (joint_transform){.c = cs[0], .s = cs[1]};
    }
}

/* Sets the transforms of the joints of the bodies first to end - 1. The poses of joints with a quaternion are stored
 * after the array XJ (arena_take_joints). set_revolute_transforms treats joints with a quaternion as joints of one
 * coordinate, which is cheaper than skipping them. */
LANE_INLINE void set_some_transforms(const dyn_model *m, const lane *q, joint_transform *XJ, size_t first, size_t end)
{
    if (m->plain && m->has_frame_angles)
        set_revolute_transforms(m, q, XJ, first, end, true, true);
    else if (m->plain)
        set_revolute_transforms(m, q, XJ, first, end, false, true);
    else if (m->has_frame_angles)
        set_revolute_transforms(m, q, XJ, first, end, true, false);
    else
        set_revolute_transforms(m, q, XJ, first, end, false, false);
    for (size_t i = first; m->n_quaternions > 0 && i < end; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_joint_has_quaternion(b->joint.kind)) continue;
        set_free_joint_pose(b, q + b->joint.q, (joint_pose *)(void *)(XJ + i + b->pose.to_joint_pose));
    }
}

/* Sets the transforms of all joints. */
static inline void set_joint_transforms(const dyn_model *m, const lane *q, joint_transform *XJ)
{
    set_some_transforms(m, q, XJ, 0, m->n_bodies);
}

/* --- vectors between a body's axes and its parent's -------------------------------------------------------- */

/* turn_z returns Rz v, unturn_z Rz^T v, for a rotation about z with cosine c and sine s. */
LANE_INLINE vec3 turn_z(vec3 v, lane c, lane s)
{
    return (vec3){sub_mul(c * v.x, s, v.y), add_mul(c * v.y, s, v.x), v.z};
}
LANE_INLINE vec3 unturn_z(vec3 v, lane c, lane s)
{
    return (vec3){add_mul(c * v.x, s, v.y), sub_mul(c * v.y, s, v.x), v.z};
}
/* Returns v in the parent's axes at joint angle zero: Rz(gamma) Rx(beta) v. */
LANE_INLINE vec3 rotate_by_constant(link_transform X, vec3 v)
{
    if (X.turn == DYN_TURN_NONE) return v;
    if (X.turn == DYN_TURN_X_PLUS) return (vec3){v.x, -v.z, v.y};
    if (X.turn == DYN_TURN_X_MINUS) return (vec3){v.x, v.z, -v.y};
    v = (vec3){v.x, sub_mul(X.b->pose.ca * v.y, X.b->pose.sa, v.z), add_mul(X.b->pose.ca * v.z, X.b->pose.sa, v.y)};
    if (X.turn == DYN_TURN_X) return v;
    return (vec3){sub_mul(X.b->pose.cg * v.x, X.b->pose.sg, v.y), add_mul(X.b->pose.cg * v.y, X.b->pose.sg, v.x), v.z};
}
/* Returns (Rz(gamma) Rx(beta))^T v, the inverse of rotate_by_constant. */
LANE_INLINE vec3 unrotate_by_constant(link_transform X, vec3 v)
{
    if (X.turn == DYN_TURN_ZX)
        v = (vec3){add_mul(X.b->pose.cg * v.x, X.b->pose.sg, v.y), sub_mul(X.b->pose.cg * v.y, X.b->pose.sg, v.x), v.z};
    if (X.turn == DYN_TURN_NONE) return v;
    if (X.turn == DYN_TURN_X_PLUS) return (vec3){v.x, v.z, -v.y};
    if (X.turn == DYN_TURN_X_MINUS) return (vec3){v.x, -v.z, v.y};
    return (vec3){v.x, add_mul(X.b->pose.ca * v.y, X.b->pose.sa, v.z), sub_mul(X.b->pose.ca * v.z, X.b->pose.sa, v.y)};
}
/* Rotates a vector from the body's axes to the parent's: R_pc v. */
LANE_INLINE vec3 to_parent(link_transform X, vec3 v)
{
    if (dyn_joint_has_quaternion(X.joint)) return mat3_mul(&X.pose->R, v);
    if (X.joint == DYN_REVOLUTE &&
        X.turn == DYN_TURN_X_MINUS) /* both rotations in one step: Rx(-90 deg) Rz(s + theta) */
        return (vec3){sub_mul(X.J.c * v.x, X.J.s, v.y), v.z, neg_sub_mul(X.J.c * v.y, X.J.s, v.x)};
    return rotate_by_constant(X, X.joint == DYN_REVOLUTE ? turn_z(v, X.J.c, X.J.s) : v);
}
/* Returns s + R_pc v of a revolute joint: rotates v from the body's axes to the parent's and adds s. */
LANE_INLINE vec3 to_parent_add(link_transform X, vec3 s, vec3 v)
{
    const lane x = add_mul(s.x, X.J.c, v.x);
    if (X.turn == DYN_TURN_NONE)
        return (vec3){sub_mul(x, X.J.s, v.y), add_mul(add_mul(s.y, X.J.c, v.y), X.J.s, v.x), s.z + v.z};
    if (X.turn == DYN_TURN_X_PLUS)
        return (vec3){sub_mul(x, X.J.s, v.y), s.y - v.z, add_mul(add_mul(s.z, X.J.c, v.y), X.J.s, v.x)};
    if (X.turn == DYN_TURN_X_MINUS)
        return (vec3){sub_mul(x, X.J.s, v.y), s.y + v.z, sub_mul(sub_mul(s.z, X.J.c, v.y), X.J.s, v.x)};
    const lane y = add_mul(X.J.c * v.y, X.J.s, v.x), z = add_mul(add_mul(s.z, X.b->pose.ca, v.z), X.b->pose.sa, y);
    if (X.turn == DYN_TURN_X)
        return (vec3){sub_mul(x, X.J.s, v.y), sub_mul(add_mul(s.y, X.b->pose.ca, y), X.b->pose.sa, v.z), z};
    const lane turned = sub_mul(X.J.c * v.x, X.J.s, v.y), across = sub_mul(X.b->pose.ca * y, X.b->pose.sa, v.z);
    return (vec3){sub_mul(add_mul(s.x, X.b->pose.cg, turned), X.b->pose.sg, across),
                  add_mul(add_mul(s.y, X.b->pose.cg, across), X.b->pose.sg, turned), z};
}
/* Rotates a vector from the parent's axes to the body's: R_pc^T v. */
LANE_INLINE vec3 to_child(link_transform X, vec3 v)
{
    if (dyn_joint_has_quaternion(X.joint)) return mat3_mul_transposed(&X.pose->R, v);
    if (X.joint == DYN_REVOLUTE && X.turn == DYN_TURN_X_MINUS)
        return (vec3){sub_mul(X.J.c * v.x, X.J.s, v.z), neg_sub_mul(X.J.c * v.z, X.J.s, v.x), v.y};
    v = unrotate_by_constant(X, v);
    return X.joint == DYN_REVOLUTE ? unturn_z(v, X.J.c, X.J.s) : v;
}

/* Writes the joint axis in the parent's axes, Rz(gamma) Rx(beta) e_z. */
LANE_INLINE void axis_in_parent(const dyn_body *b, double z[3])
{
    z[0] = b->pose.sg * b->pose.sa;
    z[1] = -b->pose.cg * b->pose.sa;
    z[2] = b->pose.ca;
}
/* Returns the position of the body's origin in its parent's frame, m. */
LANE_INLINE vec3 origin_in_parent(link_transform X)
{
    if (dyn_joint_has_quaternion(X.joint)) return X.pose->p;
    vec3 p = vec3_of(X.b->pose.p_pc);
    if (X.joint == DYN_PRISMATIC) {
        double z[3];
        axis_in_parent(X.b, z);
        p = (vec3){add_mul(p.x, z[0], X.J.c), add_mul(p.y, z[1], X.J.c), add_mul(p.z, z[2], X.J.c)};
    }
    return p;
}
/* Transforms a twist from the parent's axes to the body's: R^T v, R^T w. The caller has moved the reference point by
 * p_pc (twist_at); this function moves it by the displacement s z of a prismatic joint, or p of a joint_pose. */
LANE_INLINE void twist_to_child_form(link_transform X, twist *u)
{
    if (dyn_joint_has_quaternion(X.joint)) u->v = cross_add(u->v, u->w, X.pose->p);
    u->w = to_child(X, u->w);
    u->v = to_child(X, u->v);
    if (X.joint == DYN_PRISMATIC) { /* v += w x s z */
        u->v.x = add_mul(u->v.x, u->w.y, X.J.c);
        u->v.y = sub_mul(u->v.y, u->w.x, X.J.c);
    }
}
/* Transforms a wrench from the body's axes and origin to the parent's: f_p = R f, n_p = R n + p x R f. */
LANE_INLINE void wrench_to_parent_form(link_transform X, wrench *w)
{
    w->f = to_parent(X, w->f);
    w->n = to_parent(X, w->n);
    if (X.joint != DYN_REVOLUTE)
        w->n = cross_add(w->n, origin_in_parent(X), w->f);
    else
        w->n = offset_cross_add(w->n, X.b->pose.p_pc, X.b->pose.offsets, w->f);
}

/* Transforms the wrench w of a revolute body as wrench_to_parent_form does and adds the wrench `addend`, which is in
 * the parent's axes about the body's origin. Adding it before the shift to the parent's origin saves one cross
 * product. */
LANE_INLINE void wrench_to_parent_add_form(link_transform X, const wrench *addend, wrench *w)
{
    w->f = to_parent_add(X, addend->f, w->f);
    w->n = offset_cross_add(to_parent_add(X, addend->n, w->n), X.b->pose.p_pc, X.b->pose.offsets, w->f);
}

/* Converts a wrench from the body's axes and origin to the axes and origin of the link frame, in which joint wrenches
 * are defined. With moment_at_parent_frame (standard DH) the moment is about the origin of frame j-1 instead: for a
 * prismatic joint the body's origin is displaced from that point by s z, so the moment is n + s z x f. The function is
 * linear, so it also converts rates. */
LANE_INLINE wrench wrench_at_joint(const dyn_body *b, const joint_transform *XJ, wrench w)
{
    if (!b->joint.moment_at_parent_frame)
        w.n = cross_add(w.n, w.f, vec3_of(b->pose.X_bl.p));
    else if (b->joint.kind == DYN_PRISMATIC)
        w.n = (vec3){sub_mul(w.n.x, XJ->c, w.f.y), add_mul(w.n.y, XJ->c, w.f.x), w.n.z};
    return (wrench){unrotate_const(b->pose.X_bl.R, w.f), unrotate_const(b->pose.X_bl.R, w.n)};
}

/* True for a revolute joint on the world. Its body rotates about a fixed axis, and tau needs only n.z of its wrench. */
LANE_INLINE bool is_grounded_revolute(const dyn_body *b)
{
    return b->tree.parent == DYN_WORLD && b->joint.kind == DYN_REVOLUTE;
}
