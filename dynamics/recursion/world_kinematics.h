/* world_kinematics.h - computes pose and motion of every body and of frames in world axes, up to a chosen order of time
 * derivatives.
 *
 * A vector x fixed in a body with angular velocity w has x' = w x x, x'' = wd x x + w x x', x''' = wdd x x + 2 wd x x'
 * + w x x''; each is the derivative of the one before. This applies to the vector d = p_pc between the origins of
 * parent and child, and to the joint axis z. */
#pragma once
#include "workspace.h"

typedef enum motion_order { POSES, VELOCITIES, ACCELERATIONS, JERKS } motion_order;

typedef struct motion_variant {
    motion_order order;
    bool         pose_only; /* order is POSES, known to the compiler: a constant of the inlined code */
} motion_variant;

/* Pose and motion of a body or of a frame. */
typedef struct world_motion {
    mat3 R;          /* R_wb: rotates body axes to world axes */
    vec3 p, v, a, j; /* position, velocity, acceleration and jerk of the origin, in world axes */
    vec3 w, wd, wdd; /* angular velocity and its first two derivatives, in world axes */
} world_motion;

/* Rates of the model's coordinates; NULL means zeros. */
typedef struct coordinate_rates {
    const lane *qd, *qdd, *qddd;
} coordinate_rates;

typedef struct vec3_rates { /* a vector and its time derivatives */
    vec3 x, d, dd, ddd;
} vec3_rates;

/* Returns a vector x fixed in body b, in world axes, with its time derivatives. */
LANE_INLINE vec3_rates fixed_vector(const world_motion *b, vec3 x, motion_order order)
{
    vec3_rates r = {.x = x};
    if (order >= VELOCITIES) r.d = cross(b->w, r.x);
    if (order >= ACCELERATIONS) r.dd = cross_add(cross(b->wd, r.x), b->w, r.d);
    if (order >= JERKS) r.ddd = cross_add(cross_add(cross(b->wdd, r.x), b->w, r.dd), add(b->wd, b->wd), r.d);
    return r;
}

/* Sets the origin p = p_p + d of a body C and its time derivatives: P is the motion of the parent, d the vector between
 * the origins. */
LANE_INLINE void set_origin(const world_motion *P, const vec3_rates *d, motion_order order, world_motion *C)
{
    C->p = add(P->p, d->x);
    if (order >= VELOCITIES) C->v = add(P->v, d->d);
    if (order >= ACCELERATIONS) C->a = add(P->a, d->dd);
    if (order >= JERKS) C->j = add(P->j, d->ddd);
}

/* Sets the angular velocity of body C and its derivatives to those of its parent P. */
LANE_INLINE void keep_rotation(const world_motion *P, motion_order order, world_motion *C)
{
    if (order >= VELOCITIES) C->w = P->w;
    if (order >= ACCELERATIONS) C->wd = P->wd;
    if (order >= JERKS) C->wdd = P->wdd;
}

/* --- joints with one coordinate ------------------------------------------------------------------------------- */

typedef struct joint_position_rates { /* position of a prismatic joint, and rates of any joint */
    lane s, sd, sdd, sddd;
} joint_position_rates;

/* Adds the displacement s z of a prismatic joint and its derivatives to d. */
LANE_INLINE void add_slide(vec3_rates *d, const vec3_rates *z, joint_position_rates s, motion_order order)
{
    d->x = add_scaled(d->x, z->x, s.s);
    if (order >= VELOCITIES) d->d = add_scaled(add_scaled(d->d, z->d, s.s), z->x, s.sd);
    if (order >= ACCELERATIONS)
        d->dd = add_scaled(add_scaled(add_scaled(d->dd, z->dd, s.s), z->d, 2.0 * s.sd), z->x, s.sdd);
    if (order >= JERKS)
        d->ddd =
            add_scaled(add_scaled(add_scaled(add_scaled(d->ddd, z->ddd, s.s), z->dd, 3.0 * s.sd), z->d, 3.0 * s.sdd),
                       z->x, s.sddd);
}

/* Sets w = w_p + z sd, and its derivatives, for a revolute joint with axis z and rate sd. P: motion of the parent. */
LANE_INLINE void add_turn(const world_motion *P, const vec3_rates *z, joint_position_rates s, motion_order order,
                          world_motion *C)
{
    if (order >= VELOCITIES) C->w = add_scaled(P->w, z->x, s.sd);
    if (order >= ACCELERATIONS) C->wd = add_scaled(add_scaled(P->wd, z->d, s.sd), z->x, s.sdd);
    if (order >= JERKS)
        C->wdd = add_scaled(add_scaled(add_scaled(P->wdd, z->dd, s.sd), z->d, 2.0 * s.sdd), z->x, s.sddd);
}

LANE_INLINE void rotation_form(link_transform X, const mat3 *P, mat3 *R)
{
    for (int k = 0; k < 3; k++)
        store3(R->m[k], to_child(X, load3(P->m[k]))); /* R_wc^T e_k = R_pc^T R_wp^T e_k */
}

/* Returns R_wp p_pc, the vector from the parent's origin to the body's at s = 0; zero components of p_pc cost
 * nothing. */
LANE_INLINE vec3 offset_in_world(const mat3 *R, const dyn_body *b)
{
    vec3 p = vec3_zero();
    if (b->pose.offsets & DYN_ALONG_X) p = add_scaled(p, mat3_column(R, 0), lane_of(b->pose.p_pc[0]));
    if (b->pose.offsets & DYN_ALONG_Y) p = add_scaled(p, mat3_column(R, 1), lane_of(b->pose.p_pc[1]));
    if (b->pose.offsets & DYN_ALONG_Z) p = add_scaled(p, mat3_column(R, 2), lane_of(b->pose.p_pc[2]));
    return p;
}

/* Computes the motion of a body whose joint has one coordinate s and the axis z; d is the vector R_wp p_pc:
 *     revolute:   p = p_p + d,        w = w_p + z sd,
 *     prismatic:  p = p_p + d + s z,  w = w_p.
 *
 * The pose alone of a revolute joint needs no z. */
LANE_INLINE void world_child(const dyn_body *b, const joint_transform *XJ, coordinate_rates rates,
                             const world_motion *P, motion_variant variant, world_motion *C)
{
    const motion_order order = variant.order;
    WITH_LINK_TRANSFORM(b, XJ, rotation_form, &P->R, &C->R)
    if (variant.pose_only && b->joint.kind == DYN_REVOLUTE) {
        C->p = add(P->p, offset_in_world(&P->R, b));
        return;
    }
    vec3_rates d                 = fixed_vector(P, offset_in_world(&P->R, b), order),
               z                 = fixed_vector(P, mat3_column(&C->R, 2), order); /* the joint does not turn its axis */
    const joint_position_rates s = {XJ->c, joint_rate(b, rates.qd), joint_rate(b, rates.qdd),
                                    joint_rate(b, rates.qddd)};
    if (b->joint.kind == DYN_PRISMATIC) add_slide(&d, &z, s, order);
    set_origin(P, &d, order, C);
    if (b->joint.kind == DYN_REVOLUTE)
        add_turn(P, &z, s, order, C);
    else
        keep_rotation(P, order, C);
}

/* --- joints with a quaternion --------------------------------------------------------------------------------- */

/* Returns the second time derivative of x = R c, where c has the rates c', c'' in the body's axes. `xd` is x' = R c' +
 * w x x, `Rcd` is R c', `cdd` is c'':  x'' = R c'' + w x R c' + wd x x + w x x'. */
LANE_INLINE vec3 second_rate(const world_motion *b, vec3 x, vec3 xd, vec3 Rcd, vec3 cdd)
{
    return cross_add(cross_add(cross_add(mat3_mul(&b->R, cdd), b->w, Rcd), b->wd, x), b->w, xd);
}

/* Computes the motion of a body whose joint has a quaternion. u and y are the joint's linear and angular velocity, d is
 * the vector between the origins of parent and body:
 *     w = w_p + y,  d' = w_p x d + u,  d'' = wd_p x d + w_p x d' + u',
 *     d''' = wdd_p x d + 2 wd_p x d' + w_p x d'' + u''.
 * Ru and Ry are R times the rates of the components of u and y, so that u' = Ru + w x u and y' = Ry + w x y. */
static inline void world_free_child(const dyn_body *b, const joint_pose *pose, coordinate_rates rates,
                                    const world_motion *P, motion_order order, world_motion *C)
{
    for (int k = 0; k < 3; k++)
        store3(C->R.m[k], mat3_mul_transposed(&pose->R, load3(P->R.m[k])));
    vec3_rates d = {.x = mat3_mul(&P->R, pose->p)};
    C->p         = add(P->p, d.x);
    if (order < VELOCITIES) return;
    vec3 u = mat3_mul(&C->R, joint_linear(b, rates.qd)), y = mat3_mul(&C->R, joint_angular(b, rates.qd));
    d.d  = cross_add(u, P->w, d.x);
    C->v = add(P->v, d.d);
    C->w = add(P->w, y);
    if (order < ACCELERATIONS) return;
    vec3 Ru = mat3_mul(&C->R, joint_linear(b, rates.qdd)), Ry = mat3_mul(&C->R, joint_angular(b, rates.qdd));
    vec3 ud = cross_add(Ru, C->w, u), yd = cross_add(Ry, C->w, y);
    d.dd  = cross_add(cross_add(ud, P->wd, d.x), P->w, d.d);
    C->a  = add(P->a, d.dd);
    C->wd = add(P->wd, yd);
    if (order < JERKS) return;
    vec3 udd = second_rate(C, u, ud, Ru, joint_linear(b, rates.qddd)),
         ydd = second_rate(C, y, yd, Ry, joint_angular(b, rates.qddd));
    d.ddd    = cross_add(cross_add(cross_add(udd, P->wdd, d.x), add(P->wd, P->wd), d.d), P->w, d.dd);
    C->j     = add(P->j, d.ddd);
    C->wdd   = add(P->wdd, ydd);
}

/* --- all bodies, and frames ----------------------------------------------------------------------------------- */

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

/* Returns the motion of a body; for DYN_WORLD returns `rest`, the motion of the world. */
LANE_INLINE const world_motion *motion_of(const world_motion *bodies, const world_motion *rest, int body)
{
    return body == DYN_WORLD ? rest : &bodies[body];
}

/* A range of bodies, from first to end - 1. */
typedef struct body_range {
    size_t first, end;
} body_range;

/* The bodies whose motion is computed: those with a requested frame, and their ancestors. */
typedef struct needed_bodies {
    size_t      n;
    body_range *range; /* [n] in ascending order */
    bool       *mark;  /* [n_bodies] true: the motion of this body is computed */
} needed_bodies;

/* Memory of a kernel that needs only the motions of bodies. */
typedef struct world_workspace {
    joint_transform *XJ;
    world_motion    *world;
    needed_bodies    needed;
} world_workspace;

static inline world_workspace place_world(arena *a, const dyn_model *m)
{
    return (world_workspace){.XJ     = arena_take_joints(a, m),
                             .world  = arena_take(a, m->n_bodies, sizeof(world_motion)),
                             .needed = {.range = arena_take(a, m->n_bodies, sizeof(body_range)),
                                        .mark  = arena_take(a, m->n_bodies, sizeof(bool))}};
}

/* Computes the motion of the bodies in a range; each parent is in the range or has its motion in ws->world. */
LANE_INLINE void range_motions(const dyn_model *m, const world_workspace *ws, coordinate_rates rates,
                               motion_order order, body_range range, const bool pose_only)
{
    const world_motion rest = world_at_rest();
    for (size_t i = range.first; i < range.end; i++) {
        const dyn_body     *b = &m->body[i];
        const world_motion *P = motion_of(ws->world, &rest, b->tree.parent);
        if (dyn_joint_has_quaternion(b->joint.kind))
            world_free_child(b, joint_pose_of(b, &ws->XJ[i]), rates, P, order, &ws->world[i]);
        else
            world_child(b, &ws->XJ[i], rates, P, (motion_variant){order, pose_only}, &ws->world[i]);
    }
}

/* Computes the motion of all bodies. */
LANE_INLINE void world_motions(const dyn_model *m, const world_workspace *ws, coordinate_rates rates,
                               motion_order order)
{
    range_motions(m, ws, rates, order, (body_range){0, m->n_bodies}, false);
}

/* Returns R_wf = R_wb R_bf, the rotation of a frame of body b. */
LANE_INLINE mat3 frame_rotation(const world_motion *b, const dyn_frame *f)
{
    mat3 R;
    for (int i = 0; i < 3; i++)
        store3(R.m[i], unrotate_const(f->X_bf.R, load3(b->R.m[i])));
    return R;
}

/* Returns the motion of a frame of body b, whose origin is at p_f = p + R_wb p_bf. The rotation R of the result is not
 * set. */
LANE_INLINE world_motion frame_origin(const world_motion *b, const dyn_frame *f, motion_order order)
{
    const vec3_rates d = fixed_vector(b, mat3_mul(&b->R, vec3_of(f->X_bf.p)), order);
    world_motion     k;
    set_origin(b, &d, order, &k);
    keep_rotation(b, order, &k);
    return k;
}

/* Returns pose and motion of a frame of body b. */
LANE_INLINE world_motion frame_of(const world_motion *b, const dyn_frame *f, motion_order order)
{
    world_motion k = frame_origin(b, f, order);
    k.R            = frame_rotation(b, f);
    return k;
}

/* --- only the bodies that carry frames -------------------------------------------------------------------------- */

static inline void need_nothing(const dyn_model *m, needed_bodies *needed)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        needed->mark[i] = false;
}

static inline void need_body(const dyn_model *m, needed_bodies *needed, int body)
{
    for (; body != DYN_WORLD && !needed->mark[body]; body = m->body[body].tree.parent)
        needed->mark[body] = true;
}

/* Lists the marked bodies as ranges of consecutive indices, for needed_motions. */
static inline void list_needed(const dyn_model *m, needed_bodies *needed)
{
    needed->n = 0;
    for (size_t i = 0; i < m->n_bodies; i++) {
        if (!needed->mark[i]) continue;
        if (needed->n == 0 || needed->range[needed->n - 1].end != i) needed->range[needed->n++].first = i;
        needed->range[needed->n - 1].end = i + 1;
    }
}

/* Computes the motion of the needed bodies at the positions q. */
static inline void needed_motions(const dyn_model *m, const world_workspace *ws, const lane *q, coordinate_rates rates,
                                  motion_order order)
{
    for (size_t i = 0; i < ws->needed.n; i++) {
        const body_range r = ws->needed.range[i];
        set_some_transforms(m, q, ws->XJ, r.first, r.end);
        if (order == POSES) /* order is a constant in this branch, so that only poses are compiled into it */
            range_motions(m, ws, rates, POSES, r, true);
        else
            range_motions(m, ws, rates, order, r, false);
    }
}
