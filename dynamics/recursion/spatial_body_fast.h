/* spatial_body_fast.h - fast path of spatial_body.h for unit revolute joints: revolute, with ratio 1 and offset 0.
 *
 * Condition: is_unit_revolute, a property of the model. The gain is listed in sensitivity_fast.h. With w, u the angular
 * and linear velocity of the parent or of the body, since the joint changes w.z only,
 *
 *     psi' = (u.y, -u.x, 0;  w.y, -w.x, 0),    psi'' = a_p x S + v_p x psi',
 *
 * so psi' is read from the velocity, and psi'' is the only other quantity of the joint that is stored. */
#pragma once
#include "spatial_algebra.h"

/* Motion of a body, in its axes about its origin. */
typedef struct spatial_state {
    twist v, a;     /* velocity, and acceleration minus gravity */
    twist v_p, a_p; /* those of the parent at the body's origin; not set for unit revolute joints */
    twist Q;        /* psi'', only set for unit revolute joints */
} spatial_state;

LANE_INLINE bool is_unit_revolute(const dyn_body *b)
{
    return b->joint.kind == DYN_REVOLUTE && !b->joint.has_ratio;
}

LANE_INLINE twist unit_revolute_psi_dot(const spatial_state *B)
{
    return (twist){{B->v.v.y, -B->v.v.x, lane_of(0)}, {B->v.w.y, -B->v.w.x, lane_of(0)}};
}

/* Replaces the parent's v and a at the body's origin, in its axes, by those of the body: v += S sd, a += S sdd + psi'
 * sd. Q receives psi''. */
LANE_INLINE void unit_revolute_motion(lane sd, lane sdd, twist *v, twist *a, twist *Q)
{
    const vec3 w = v->w, u = v->v;
    *Q     = (twist){.v = {add_mul(add_mul(a->v.y, w.z, u.x), u.z, w.x), add_mul(add_mul(-a->v.x, w.z, u.y), u.z, w.y),
                           -2.0 * add_mul(w.x * u.x, w.y, u.y)},
                     .w = {add_mul(a->w.y, w.z, w.x), add_mul(-a->w.x, w.z, w.y), neg_sub_mul(w.x * w.x, w.y, w.y)}};
    a->v.x = add_mul(a->v.x, u.y, sd);
    a->v.y = sub_mul(a->v.y, u.x, sd);
    a->w.x = add_mul(a->w.x, w.y, sd);
    a->w.y = sub_mul(a->w.y, w.x, sd);
    v->w.z += sd;
    a->w.z += sdd;
}
