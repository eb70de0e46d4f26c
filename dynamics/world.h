/* world.h - every body's pose and motion in world axes, as deep as asked.
 *
 * A vector x fixed in a body turning with w has x' = w x x, x'' = wd x x + w x x', x''' = wdd x x + 2 wd x x' + w x x''
 * (from differentiating the previous one). Applied to the way d = p_pc from a parent's origin to its child's and to
 * the joint axis z, and, for a prismatic joint at s, to d + z s by the product rule. */
#pragma once
#include "kernels.h"

typedef enum depth { POSES, VELOCITIES, ACCELERATIONS, JERKS } depth;

typedef struct world_motion {
    mat3 R;          /* R_wb */
    vec3 p, v, a, j; /* of the origin */
    vec3 w, wd, wdd; /* angular */
} world_motion;

typedef struct rates { /* a vector and its time derivatives */
    vec3 x, d, dd, ddd;
} rates;

/* of a vector x fixed in the body */
LANE_INLINE rates fixed_in(const world_motion *b, vec3 x, depth deep)
{
    rates r = {.x = x};
    if (deep >= VELOCITIES) r.d = cross(b->w, r.x);
    if (deep >= ACCELERATIONS) r.dd = cross_add(cross(b->wd, r.x), b->w, r.d);
    if (deep >= JERKS) r.ddd = cross_add(cross_add(cross(b->wdd, r.x), b->w, r.dd), add(b->wd, b->wd), r.d);
    return r;
}

/* r + s z with s of rates sd, sdd, sddd */
LANE_INLINE void slide(rates *r, const rates *z, lane s, lane sd, lane sdd, lane sddd, depth deep)
{
    r->x = add(r->x, scale(z->x, s));
    if (deep >= VELOCITIES) r->d = add(add(r->d, scale(z->d, s)), scale(z->x, sd));
    if (deep >= ACCELERATIONS) r->dd = add(add(add(r->dd, scale(z->dd, s)), scale(z->d, 2.0 * sd)), scale(z->x, sdd));
    if (deep >= JERKS)
        r->ddd = add(add(add(add(r->ddd, scale(z->ddd, s)), scale(z->dd, 3.0 * sd)), scale(z->d, 3.0 * sdd)),
                     scale(z->x, sddd));
}

LANE_INLINE void rotation_form(const dyn_body *b, joint_at at, const mat3 *P, mat3 *R, dyn_joint_kind joint,
                               dyn_turn turn)
{
    for (int k = 0; k < 3; k++)
        store3(R->m[k], to_child(b, at, load3(P->m[k]), joint, turn)); /* R_wc^T e_k = R_pc^T R_wp^T e_k */
}

static inline void world_child(const dyn_body *b, joint_at at, const lane *qd, const lane *qdd, const lane *qddd,
                               const world_motion *P, world_motion *C, depth deep)
{
    double axis[3];
    axis_in_parent(b, axis);
    lane  sd = joint_rate(b, qd), sdd = joint_rate(b, qdd), sddd = joint_rate(b, qddd);
    rates d = fixed_in(P, mat3_mul(&P->R, vec3_of(b->p_pc)), deep),
          z = fixed_in(P, mat3_mul(&P->R, vec3_of(axis)), deep);
    BODY_FORMS(b, rotation_form, b, at, &P->R, &C->R)
    if (b->joint == DYN_PRISMATIC) slide(&d, &z, at.c, sd, sdd, sddd, deep);
    bool turns = b->joint == DYN_REVOLUTE; /* w = w_p + z sd, and its derivatives */
    C->p       = add(P->p, d.x);
    if (deep >= VELOCITIES) {
        C->v = add(P->v, d.d);
        C->w = turns ? add(P->w, scale(z.x, sd)) : P->w;
    }
    if (deep >= ACCELERATIONS) {
        C->a  = add(P->a, d.dd);
        C->wd = turns ? add(add(P->wd, scale(z.d, sd)), scale(z.x, sdd)) : P->wd;
    }
    if (deep >= JERKS) {
        C->j   = add(P->j, d.ddd);
        C->wdd = turns ? add(add(add(P->wdd, scale(z.dd, sd)), scale(z.d, 2.0 * sdd)), scale(z.x, sddd)) : P->wdd;
    }
}

/* Components in base axes, then turned: a = vd + w x v, j = da/dt + w x a, wdd turned = d/dt(wd) + w x wd. */
static inline void world_base(const lane *q, const lane *qd, const lane *qdd, const lane *qddd, world_motion *B)
{
    vec3 v = load3_from(qd, 0), w = load3_from(qd, 3), vd = load3_from(qdd, 0), wd = load3_from(qdd, 3);
    vec3 a = cross_add(vd, w, v);
    vec3 j = cross_add(cross_add(cross_add(load3_from(qddd, 0), wd, v), w, vd), w, a);
    B->R   = base_rotation(q);
    B->p   = load3(q);
    B->v   = mat3_mul(&B->R, v);
    B->w   = mat3_mul(&B->R, w);
    B->a   = mat3_mul(&B->R, a);
    B->wd  = mat3_mul(&B->R, wd);
    B->j   = mat3_mul(&B->R, j);
    B->wdd = mat3_mul(&B->R, cross_add(load3_from(qddd, 3), w, wd));
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

static inline void world_motions(const dyn_model *m, const joint_at *at, const lane *q, const lane *qd, const lane *qdd,
                                 const lane *qddd, world_motion *out, depth deep)
{
    const world_motion rest = world_at_rest();
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint == DYN_FLOATING)
            world_base(q, qd, qdd, qddd, &out[i]);
        else
            world_child(b, at[i], qd, qdd, qddd, b->parent == DYN_WORLD ? &rest : &out[b->parent], &out[i], deep);
    }
}

/* --- a frame ---------------------------------------------------------------------------------------------- */

static inline mat3 frame_rotation(const mat3 *R, const dyn_frame *f)
{
    mat3 out;
    for (int i = 0; i < 3; i++)
        store3(out.m[i], unrotate_const(f->X_bf.R, load3(R->m[i])));
    return out;
}

typedef struct frame_motion {
    mat3  R;
    rates p; /* of the frame's origin */
    vec3  w, wd, wdd;
} frame_motion;

static inline frame_motion frame_of(const world_motion *world, const dyn_frame *f, depth deep)
{
    const world_motion  rest = world_at_rest();
    const world_motion *b    = f->body == DYN_WORLD ? &rest : &world[f->body];
    rates               r    = fixed_in(b, mat3_mul(&b->R, vec3_of(f->X_bf.p)), deep);
    frame_motion        k    = {.R = frame_rotation(&b->R, f), .p = {.x = add(b->p, r.x)}};
    if (deep >= VELOCITIES) {
        k.p.d = add(b->v, r.d);
        k.w   = b->w;
    }
    if (deep >= ACCELERATIONS) {
        k.p.dd = add(b->a, r.dd);
        k.wd   = b->wd;
    }
    if (deep >= JERKS) {
        k.p.ddd = add(b->j, r.ddd);
        k.wdd   = b->wdd;
    }
    return k;
}
