/* world_kinematics.h - computes every body's pose and motion in world axes, up to a given order of derivatives.
 *
 * A vector x fixed in a body with angular velocity w has x' = w x x, x'' = wd x x + w x x', x''' = wdd x x + 2 wd x x'
 * + w x x''; each is the derivative of the one before. This applies to the vector d = p_pc between the origins of
 * parent and child, and to the joint axis z. For a prismatic joint at s it applies to d + s z, by the product rule. */
#pragma once
#include "workspace.h"

typedef enum motion_order { POSES, VELOCITIES, ACCELERATIONS, JERKS } motion_order;

typedef struct world_motion {
    mat3 R;          /* R_wb */
    vec3 p, v, a, j; /* of the body's origin: position, velocity, acceleration, jerk */
    vec3 w, wd, wdd; /* angular velocity and its derivatives */
} world_motion;

typedef struct vec3_rates { /* a vector and its time derivatives */
    vec3 x, d, dd, ddd;
} vec3_rates;

/* Returns a vector x fixed in body b, in world axes, with its time derivatives. */
LANE_INLINE vec3_rates fixed_in(const world_motion *b, vec3 x, motion_order order)
{
    vec3_rates r = {.x = x};
    if (order >= VELOCITIES) r.d = cross(b->w, r.x);
    if (order >= ACCELERATIONS) r.dd = cross_add(cross(b->wd, r.x), b->w, r.d);
    if (order >= JERKS) r.ddd = cross_add(cross_add(cross(b->wdd, r.x), b->w, r.dd), add(b->wd, b->wd), r.d);
    return r;
}

/* r += s z, with the rates sd, sdd, sddd of s. */
LANE_INLINE void add_slide(vec3_rates *r, const vec3_rates *z, lane s, lane sd, lane sdd, lane sddd, motion_order order)
{
    r->x = add_scaled(r->x, z->x, s);
    if (order >= VELOCITIES) r->d = add_scaled(add_scaled(r->d, z->d, s), z->x, sd);
    if (order >= ACCELERATIONS) r->dd = add_scaled(add_scaled(add_scaled(r->dd, z->dd, s), z->d, 2.0 * sd), z->x, sdd);
    if (order >= JERKS)
        r->ddd = add_scaled(add_scaled(add_scaled(add_scaled(r->ddd, z->ddd, s), z->dd, 3.0 * sd), z->d, 3.0 * sdd),
                            z->x, sddd);
}

LANE_INLINE void rotation_form(link_transform X, const mat3 *P, mat3 *R)
{
    for (int k = 0; k < 3; k++)
        store3(R->m[k], to_child(X, load3(P->m[k]))); /* R_wc^T e_k = R_pc^T R_wp^T e_k */
}

static inline void world_child(const dyn_body *b, const joint_transform *XJ, const lane *qd, const lane *qdd,
                               const lane *qddd, const world_motion *P, world_motion *C, motion_order order)
{
    double axis[3];
    axis_in_parent(b, axis);
    lane       sd = joint_rate(b, qd), sdd = joint_rate(b, qdd), sddd = joint_rate(b, qddd);
    vec3_rates d = fixed_in(P, mat3_mul(&P->R, vec3_of(b->pose.p_pc)), order),
               z = fixed_in(P, mat3_mul(&P->R, vec3_of(axis)), order);
    WITH_LINK_TRANSFORM(b, XJ, rotation_form, &P->R, &C->R)
    if (b->joint.kind == DYN_PRISMATIC) add_slide(&d, &z, XJ->c, sd, sdd, sddd, order);
    bool turns = b->joint.kind == DYN_REVOLUTE; /* if it turns, w = w_p + z sd */
    C->p       = add(P->p, d.x);
    if (order >= VELOCITIES) {
        C->v = add(P->v, d.d);
        C->w = turns ? add_scaled(P->w, z.x, sd) : P->w;
    }
    if (order >= ACCELERATIONS) {
        C->a  = add(P->a, d.dd);
        C->wd = turns ? add_scaled(add_scaled(P->wd, z.d, sd), z.x, sdd) : P->wd;
    }
    if (order >= JERKS) {
        C->j   = add(P->j, d.ddd);
        C->wdd = turns ? add_scaled(add_scaled(add_scaled(P->wdd, z.dd, sd), z.d, 2.0 * sdd), z.x, sddd) : P->wdd;
    }
}

/* Second time derivative of x = R c, where c has the rates c', c'' in the body's axes:  x' = R c' + w x x,  x'' = R c''
 * + w x R c' + wd x x + w x x'. */
LANE_INLINE vec3 second_rate(const world_motion *b, vec3 x, vec3 xd, vec3 Rcd, vec3 cdd)
{
    return cross_add(cross_add(cross_add(mat3_mul(&b->R, cdd), b->w, Rcd), b->wd, x), b->w, xd);
}

/* Computes the motion of a body whose joint has a quaternion. u and y are the joint's linear and angular velocity, d is
 * the vector between the origins of parent and body:
 *     w = w_p + y,  d' = w_p x d + u,  d'' = wd_p x d + w_p x d' + u',
 *     d''' = wdd_p x d + 2 wd_p x d' + w_p x d'' + u''. */
static inline void world_free_child(const dyn_body *b, const joint_pose *pose, const lane *qd, const lane *qdd,
                                    const lane *qddd, const world_motion *P, world_motion *C, motion_order order)
{
    for (int k = 0; k < 3; k++)
        store3(C->R.m[k], mat3_mul_transposed(&pose->R, load3(P->R.m[k])));
    vec3 d = mat3_mul(&P->R, pose->p);
    C->p   = add(P->p, d);
    if (order < VELOCITIES) return;
    vec3 u = mat3_mul(&C->R, joint_linear(b, qd)), y = mat3_mul(&C->R, joint_angular(b, qd));
    vec3 dd = cross_add(u, P->w, d);
    C->v    = add(P->v, dd);
    C->w    = add(P->w, y);
    if (order < ACCELERATIONS) return;
    vec3 Ru = mat3_mul(&C->R, joint_linear(b, qdd)), Ry = mat3_mul(&C->R, joint_angular(b, qdd));
    vec3 ud = cross_add(Ru, C->w, u), yd = cross_add(Ry, C->w, y);
    vec3 ddd = cross_add(cross_add(ud, P->wd, d), P->w, dd);
    C->a     = add(P->a, ddd);
    C->wd    = add(P->wd, yd);
    if (order < JERKS) return;
    vec3 udd = second_rate(C, u, ud, Ru, joint_linear(b, qddd)),
         ydd = second_rate(C, y, yd, Ry, joint_angular(b, qddd));
    C->j     = add(P->j, cross_add(cross_add(cross_add(udd, P->wdd, d), add(P->wd, P->wd), dd), P->w, ddd));
    C->wdd   = add(P->wdd, ydd);
}

static inline world_motion world_at_rest(void)
{
    vec3 o   = vec3_zero();
    lane one = lane_of(1), zero = lane_of(0);
    return (world_motion){.R   = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}},
                          .p   = o,
                          .v   = o,
                          .a   = o,
                          .j   = o,
                          .w   = o,
                          .wd  = o,
                          .wdd = o};
}

static inline void world_motions(const dyn_model *m, const joint_transform *XJ, const lane *qd, const lane *qdd,
                                 const lane *qddd, world_motion *out, motion_order order)
{
    const world_motion rest = world_at_rest();
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const world_motion *P = b->tree.parent == DYN_WORLD ? &rest : &out[b->tree.parent];
        if (dyn_joint_has_quaternion(b->joint.kind))
            world_free_child(b, joint_pose_of(b, &XJ[i]), qd, qdd, qddd, P, &out[i], order);
        else
            world_child(b, &XJ[i], qd, qdd, qddd, P, &out[i], order);
    }
}

/* --- motion of a frame ---------------------------------------------------------------------------------------- */

static inline mat3 frame_rotation(const mat3 *R, const dyn_frame *f)
{
    mat3 out;
    for (int i = 0; i < 3; i++)
        store3(out.m[i], unrotate_const(f->X_bf.R, load3(R->m[i])));
    return out;
}

typedef struct frame_motion {
    mat3       R;
    vec3_rates p; /* position of the frame's origin, and derivatives */
    vec3       w, wd, wdd;
} frame_motion;

static inline frame_motion frame_of(const world_motion *world, const dyn_frame *f, motion_order order)
{
    const world_motion  rest = world_at_rest();
    const world_motion *b    = f->body == DYN_WORLD ? &rest : &world[f->body];
    vec3_rates          r    = fixed_in(b, mat3_mul(&b->R, vec3_of(f->X_bf.p)), order);
    frame_motion        k    = {.R = frame_rotation(&b->R, f), .p = {.x = add(b->p, r.x)}};
    if (order >= VELOCITIES) {
        k.p.d = add(b->v, r.d);
        k.w   = b->w;
    }
    if (order >= ACCELERATIONS) {
        k.p.dd = add(b->a, r.dd);
        k.wd   = b->wd;
    }
    if (order >= JERKS) {
        k.p.ddd = add(b->j, r.ddd);
        k.wdd   = b->wdd;
    }
    return k;
}
