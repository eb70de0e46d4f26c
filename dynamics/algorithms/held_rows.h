/* held_rows.h - computes the rows J that held frames have in their directions, and the derivatives of the accelerations
 * J qdd + J' qd in these directions. Part of step.c.
 *
 * A displacement of a joint moves the frame like a rotation about (or translation along) an axis z that is fixed in the
 * joint's parent: the frame's origin, at r from the axis, moves by d = z x r (or d = z), and the frame rotates by z (or
 * not). The derivatives of the frame's accelerations with respect to the coordinate are d'' and z''. The derivatives
 * with respect to the rate of the coordinate are d' and z' plus the change of J'. In the axes of the frame, components
 * change with the rotation of the frame in addition. */
#pragma once
#include "dynamics/recursion/world_kinematics.h"
#include "dynamics/step.h"
#include <math.h>

/* A joint that moves a held frame, and the motions of its parent P, of its body B and of the frame f. */
typedef struct held_joint {
    const dyn_body       *b;
    const world_motion   *P, *B, *f;
    const dyn_held_frame *held;
} held_joint;

/* An axis z of a joint and the displacement d of the frame per unit of the coordinate. zd, zdd, d1 and d2 are their
 * time derivatives if the axis moves with the parent of the joint; zj and dj are their rates if the axis moves with the
 * body, as in the rate J' of the Jacobian's column. */
typedef struct held_axis {
    vec3 z, zd, zdd, d, d1, d2, zj, dj;
} held_axis;

/* The columns of one held frame, n x nv each. */
typedef struct held_columns {
    lane  *J, *by_q, *by_qd; /* J, derivatives of J qdd + J' qd with respect to q and qd; NULL: not computed */
    size_t nv;
} held_columns;

/* Writes the components of a linear and an angular vector in the axes in which the frame is held. */
LANE_INLINE void held_components(const held_joint *j, vec3 linear, vec3 angular, lane x[6])
{
    const bool         own     = j->held->frame_axes;
    const dyn_rolling *rolling = j->held->rolling;
    store3(x, rolling ? rotate_const(rolling->axes, linear) : own ? mat3_mul_transposed(&j->f->R, linear) : linear);
    store3(x + 3, own ? mat3_mul_transposed(&j->f->R, angular) : angular);
}

/* Sets s, the contact point of a rolling frame relative to the frame's origin, and the rate of s (dyn_rolling). f is
 * the motion of the frame. */
LANE_INLINE void held_set_lever(const dyn_rolling *r, const world_motion *f, vec3 *s, vec3 *rate)
{
    const vec3 n = vec3_of(r->axes[2]), zero = vec3_zero();
    *s    = times(-r->radius, n);
    *rate = zero;
    if (!r->is_disc) return;
    const vec3 a = mat3_mul(&f->R, vec3_of(r->axle)), ad = cross(f->w, a);
    const lane c = dot(n, a), cd = dot(n, ad);
    const vec3 e = sub(n, scale(a, c)), ed = sub(zero, add(scale(a, cd), scale(ad, c)));
    const lane size    = dot(e, e),
               inverse = lane_select(lane_less(lane_of(DYN_FLAT), size), 1.0 / lane_sqrt(size), lane_of(NAN));
    const vec3 u = scale(e, inverse), ud = scale(sub(ed, scale(u, dot(u, ed))), inverse);
    *s    = times(-r->radius, u);
    *rate = times(-r->radius, ud);
}

/* If the held frame rolls, moves the origin of its motion f, with position and acceleration, to the contact point. Sets
 * *lever to the contact point relative to the frame's origin. */
LANE_INLINE void held_move_to_contact(const dyn_rolling *rolling, world_motion *f, vec3 *lever)
{
    vec3 s = vec3_zero(), rate;
    if (rolling) {
        held_set_lever(rolling, f, &s, &rate);
        f->p = add(f->p, s);
        f->a = cross_add(cross_add(f->a, f->wd, s), f->w, rate);
    }
    *lever = s;
}

/* Adds the components x of a column of the Jacobian along the held directions to column v of a matrix n x nv. */
LANE_INLINE void held_add(const held_joint *j, const lane x[6], size_t nv, lane *column)
{
    for (size_t a = 0; a < j->held->n; a++)
        column[a * nv] = column[a * nv] + x[j->held->axis[a]];
}

LANE_INLINE held_axis held_axis_of(const held_joint *j, vec3 z, bool turns)
{
    const world_motion *P = j->P, *B = j->B, *f = j->f;
    const vec3          zd = cross(P->w, z), zdd = cross_add(cross(P->wd, z), P->w, zd), zj = cross(B->w, z);
    const vec3          o = vec3_zero();
    if (!turns) return (held_axis){.z = o, .zd = o, .zdd = o, .d = z, .d1 = zd, .d2 = zdd, .zj = o, .dj = zj};
    const vec3 arm = sub(B->p, P->p), spin = cross(P->w, arm);
    const vec3 velocity = add(P->v, spin), acceleration = cross_add(cross_add(P->a, P->wd, arm), P->w, spin);
    const vec3 r = sub(f->p, B->p), rd = sub(f->v, velocity), rdd = sub(f->a, acceleration);
    return (held_axis){.z   = z,
                       .zd  = zd,
                       .zdd = zdd,
                       .d   = cross(z, r),
                       .d1  = cross_add(cross(zd, r), z, rd),
                       .d2  = cross_add(cross_add(cross(zdd, r), add(zd, zd), rd), z, rdd),
                       .zj  = zj,
                       .dj  = cross_add(cross(zj, r), z, sub(f->v, B->v))};
}

/* Adds to column v of to->by_q and to->by_qd the derivatives of the frame's accelerations with respect to coordinate v
 * and to its rate. */
LANE_INLINE void held_add_rates(const held_joint *j, const held_axis *x, const held_columns *to, size_t v)
{
    const world_motion *f   = j->f;
    vec3                q_v = x->d2, q_w, qd_v = add(x->d1, x->dj), qd_w;
    lane                by_q[6], by_qd[6];
    if (j->held->frame_axes) {
        const vec3 turned = sub(x->d1, cross(x->z, f->v));
        q_v               = sub(sub(sub(q_v, cross(x->zd, f->v)), cross(x->z, f->a)), cross(f->w, turned));
        q_w               = sub(x->zdd, cross(f->w, x->zd));
        qd_v              = sub(sub(qd_v, cross(x->z, f->v)), cross(f->w, x->d));
        qd_w              = sub(add(x->zd, x->zj), cross(f->w, x->z));
    } else {
        q_w  = cross_add(cross_add(x->zdd, x->zd, f->w), x->z, f->wd);
        qd_w = cross_add(add(x->zd, x->zj), x->z, f->w);
    }
    held_components(j, q_v, q_w, by_q);
    held_components(j, qd_v, qd_w, by_qd);
    held_add(j, by_q, to->nv, to->by_q + v);
    held_add(j, by_qd, to->nv, to->by_qd + v);
}

/* Adds the columns of one joint to J, by_q and by_qd. */
static inline void held_add_joint(const held_joint *j, const held_columns *to)
{
    const dyn_body *b     = j->b;
    const bool      free  = dyn_joint_has_quaternion(b->joint.kind);
    const int       first = free ? joint_first_axis(b) : b->joint.kind == DYN_REVOLUTE ? 5 : 2;
    const double    ratio = free ? 1 : b->joint.ratio;
    for (int k = first; k < (free ? 6 : first + 1); k++) {
        const size_t v = (size_t)(b->joint.v + k - first);
        const vec3   z = times(ratio, mat3_column(&j->B->R, k % 3));
        if (to->J) {
            lane x[6];
            held_components(j, k < 3 ? z : cross(z, sub(j->f->p, j->B->p)), k < 3 ? vec3_zero() : z, x);
            held_add(j, x, to->nv, to->J + v);
        } else {
            const held_axis x = held_axis_of(j, z, k >= 3);
            held_add_rates(j, &x, to, v);
        }
    }
}

/* Adds the columns of all joints that move a held frame with the motion f. */
static inline void held_add_columns(const dyn_model *m, const world_motion *bodies, const dyn_held_frame *held,
                                    const world_motion *f, const held_columns *to)
{
    const world_motion rest = world_at_rest();
    for (int i = held->frame.body; i != DYN_WORLD; i = m->body[i].tree.parent) {
        const held_joint j = {&m->body[i], motion_of(bodies, &rest, m->body[i].tree.parent), &bodies[i], f, held};
        held_add_joint(&j, to);
    }
}

/* Largest entries of a frame's Jacobian, for the scales of held_directions.h: `linear` and `angular` over all columns;
 * u and w are the sums, over the columns v, of the largest linear and angular entry times |qd_v|. */
typedef struct held_entries {
    lane linear, angular, u, w;
} held_entries;

/* Returns the held_entries of the Jacobian J (6 x nv), whose columns are zero but for the n coordinates of `chain`. qd
 * NULL means zeros. */
static inline held_entries held_entries_of(const lane *J, const lane *qd, size_t nv, const int *chain, size_t n)
{
    held_entries e = {lane_of(0), lane_of(0), lane_of(0), lane_of(0)};
    for (size_t i = n; i-- > 0;) {
        const size_t v      = (size_t)chain[i];
        lane         linear = lane_of(0), angular = lane_of(0);
        for (size_t a = 0; a < 3; a++) {
            linear  = lane_greater(linear, lane_size(J[a * nv + v]));
            angular = lane_greater(angular, lane_size(J[(3 + a) * nv + v]));
        }
        e.linear  = lane_greater(e.linear, linear);
        e.angular = lane_greater(e.angular, angular);
        if (!qd) continue;
        e.u = add_mul(e.u, linear, lane_size(qd[v]));
        e.w = add_mul(e.w, angular, lane_size(qd[v]));
    }
    return e;
}

/* Copies the entries of a row of a frame's Jacobian in the coordinates of `chain`. In lanes where all of them are below
 * DYN_STILL times `scale` (held_directions.h), writes zeros instead. Entries that are not numbers are copied. */
static inline void held_copy_row(const lane *row, const int *chain, size_t n, lane scale, lane *to)
{
    const lane least = DYN_STILL * scale;
    lane_mask  moves = lane_less(least, least); /* false in all lanes */
    for (size_t i = 0; i < n; i++)
        moves |= ~lane_less(lane_size(row[chain[i]]), least);
    for (size_t i = 0; i < n; i++)
        to[chain[i]] = lane_select(moves, row[chain[i]], lane_of(0));
}

/* Returns the scale of row `axis` of a frame's Jacobian: entries that are small compared with this scale count as zero
 * (held_directions.h). `reach` is in m. */
LANE_INLINE lane held_row_scale(const held_entries *e, int axis, double reach)
{
    return axis < 3 ? lane_greater(e->linear, reach * e->angular)
                    : lane_greater(e->angular, e->linear / lane_of(reach));
}

/* Returns A + V of a row (held_directions.h) with `gravity` in m/s^2; V is multiplied by `unsettled`. */
LANE_INLINE lane held_scale(const held_entries *e, int axis, double reach, double gravity, double unsettled)
{
    const lane w = unsettled * e->w;
    if (axis >= 3) return add_mul(lane_of(gravity / reach), w, e->w);
    return add_mul(lane_of(gravity), w, add_mul(2.0 * e->u, lane_of(reach), e->w));
}

/* Writes the accelerations of a held frame along its held directions: the time derivatives of its velocities along
 * them. f is the motion of the frame. */
static inline void held_accelerations(const dyn_held_frame *held, const world_motion *f, lane *out)
{
    const held_joint j = {.f = f, .held = held};
    lane             x[6];
    held_components(&j, held->frame_axes ? sub(f->a, cross(f->w, f->v)) : f->a, f->wd, x);
    for (size_t a = 0; a < held->n; a++)
        out[a] = x[held->axis[a]];
}
