/* composite_motion.h - composites in motion: a body together with all that hangs on it, in the body's axes about its
 * origin, with the momentum l and the moment of velocities C of spatial_world.h and the force f that it needs. Bodies
 * hand theirs to their parents joint by joint. */
#pragma once
#include "articulated_inertia.h"
#include "spatial_world.h"

typedef struct moving {
    composite c;
    vec3      l;
    mat3      C;
    wrench    f;
} moving;

static inline moving moving_none(void)
{
    const vec3 o = vec3_zero();
    const lane z = o.x;
    return (moving){{{z, z, z, z, z, z}, o}, o, {{{z, z, z}, {z, z, z}, {z, z, z}}}, {o, o}};
}

/* What hangs on a body and the body's own, whose
 *     l = m v + w x h,  C = v h^T + [w] E,  f = I a + (w x l; h x a + tr(C) w - C w).
 * `revolute`, a constant of the inlined text: m, h.z and E.zz are zero, as those of grouped revolute bodies. */
LANE_INLINE moving moving_add_body(const moving *on, const dyn_moments *of, twist v, twist a, const bool revolute)
{
    const double *h = of->h, *E = of->E;
    const vec3    w = v.w, u = v.v, d = a.w;
    moving        S;
    vec3          l = {h[1] * w.z, h[0] * w.z, sub_mul(h[1] * w.x, h[0], w.y)}; /* w x h, but for the sign of x */
    lane          C[3][3];
    C[0][0] = sub_mul(add_mul(h[0] * u.x, E[2], w.y), E[1], w.z);
    C[1][0] = sub_mul(add_mul(h[0] * u.y, E[0], w.z), E[2], w.x);
    C[2][0] = sub_mul(add_mul(h[0] * u.z, E[1], w.x), E[0], w.y);
    C[0][1] = sub_mul(add_mul(h[1] * u.x, E[4], w.y), E[3], w.z);
    C[1][1] = sub_mul(add_mul(h[1] * u.y, E[1], w.z), E[4], w.x);
    C[2][1] = sub_mul(add_mul(h[1] * u.z, E[3], w.x), E[1], w.y);
    C[0][2] = E[4] * w.z; /* the sign changed */
    C[1][2] = E[2] * w.z;
    C[2][2] = sub_mul(E[4] * w.x, E[2], w.y);
    vec3 n  = {sub_mul(sub_mul(add_mul(h[1] * a.v.z, E[3], d.x), E[1], d.y), E[2], d.z),
               sub_mul(sub_mul(sub_mul(E[0] * d.y, h[0], a.v.z), E[1], d.x), E[4], d.z),
               sub_mul(sub_mul(sub_mul(add_mul(h[0] * a.v.y, E[0] + E[3], d.z), h[1], a.v.x), E[2], d.x), E[4], d.y)};
    vec3 f  = {sub_mul(on->f.f.x, h[1], d.z), add_mul(on->f.f.y, h[0], d.z),
               sub_mul(add_mul(on->f.f.z, h[1], d.x), h[0], d.y)};
    S.c     = (composite){
            {on->c.E.xx + E[0], on->c.E.xy + E[1], on->c.E.xz + E[2], on->c.E.yy + E[3], on->c.E.yz + E[4], on->c.E.zz},
            {on->c.h.x + h[0], on->c.h.y + h[1], on->c.h.z}};
    if (!revolute) {
        const double m = of->mass;
        l              = (vec3){sub_mul(sub_mul(l.x, h[2], w.y), m, u.x), add_mul(sub_mul(l.y, h[2], w.x), m, u.y),
                                add_mul(l.z, m, u.z)};
        C[0][2]        = sub_mul(sub_mul(C[0][2], h[2], u.x), E[5], w.y);
        C[1][2]        = sub_mul(add_mul(C[1][2], h[2], u.y), E[5], w.x);
        C[2][2]        = add_mul(C[2][2], h[2], u.z);
        n = (vec3){sub_mul(add_mul(n.x, E[5], d.x), h[2], a.v.y), add_mul(add_mul(n.y, E[5], d.y), h[2], a.v.x), n.z};
        f = (vec3){add_mul(add_mul(f.x, m, a.v.x), h[2], d.y), sub_mul(add_mul(f.y, m, a.v.y), h[2], d.x),
                   add_mul(f.z, m, a.v.z)};
        S.c.E.zz += E[5];
        S.c.h.z += h[2];
    }
    n     = (vec3){add_mul(sub_mul(add_mul(n.x, C[1][1] + C[2][2], w.x), C[0][1], w.y), C[0][2], w.z),
                   sub_mul(sub_mul(add_mul(n.y, C[0][0] + C[2][2], w.y), C[1][0], w.x), C[1][2], w.z),
                   sub_mul(sub_mul(add_mul(n.z, C[0][0] + C[1][1], w.z), C[2][0], w.x), C[2][1], w.y)};
    S.f.n = add(on->f.n, n);
    S.f.f = (vec3){sub_mul(add_mul(f.x, w.y, l.z), w.z, l.y), sub_mul(sub_mul(f.y, w.z, l.x), w.x, l.z),
                   add_mul(add_mul(f.z, w.x, l.y), w.y, l.x)};
    S.l   = (vec3){on->l.x - l.x, on->l.y + l.y, on->l.z + l.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S.C.m[i][j] = i == 0 && j == 2 ? on->C.m[i][j] - C[i][j] : on->C.m[i][j] + C[i][j];
    return S;
}

/* --- to the parent ------------------------------------------------------------------------------------------- */

/* To axes of the parent, about the same origin. */
LANE_INLINE void moving_turn(const dyn_body *b, joint_at at, moving *S, dyn_joint_kind joint, dyn_turn turn)
{
    S->c.E = sym3_to_parent(b, at, S->c.E, joint, turn);
    S->c.h = to_parent(b, at, S->c.h, joint, turn);
    S->l   = to_parent(b, at, S->l, joint, turn);
    S->C   = dyn_joint_turns_freely(joint) ? mat3_rotate(&joint_posed(at)->R, &S->C)
                                           : mat3_to_parent(b, at, S->C, false, joint, turn);
    S->f.f = to_parent(b, at, S->f.f, joint, turn);
    S->f.n = to_parent(b, at, S->f.n, joint, turn);
}

/* About an origin moved by -r along axis k, a constant, of the axes in use: with r of r e_k, h' = h + m r,
 *     E' = E + r h^T + h' r^T,  C' = C + l r^T,  n' = n + r x f. */
LANE_INLINE void moving_shift(moving *S, const int k, lane r, double mass)
{
    const int   i = (k + 1) % 3, j = (k + 2) % 3;
    lane        h[3] = {S->c.h.x, S->c.h.y, S->c.h.z}, n[3] = {S->f.n.x, S->f.n.y, S->f.n.z};
    const lane  l[3] = {S->l.x, S->l.y, S->l.z}, f[3] = {S->f.f.x, S->f.f.y, S->f.f.z}, own = h[k];
    lane *const kk = sym3_at(&S->c.E, k, k), *const ki = sym3_at(&S->c.E, k, i), *const kj = sym3_at(&S->c.E, k, j);
    if (mass != 0) h[k] = add_mul(own, mass, r);
    *kk  = add_mul(*kk, r, own + h[k]);
    *ki  = add_mul(*ki, r, h[i]);
    *kj  = add_mul(*kj, r, h[j]);
    n[i] = sub_mul(n[i], r, f[j]);
    n[j] = add_mul(n[j], r, f[i]);
    for (int a = 0; a < 3; a++)
        S->C.m[a][k] = add_mul(S->C.m[a][k], r, l[a]);
    S->c.h = load3(h);
    S->f.n = load3(n);
}

LANE_APART void moving_freely(const dyn_body *b, joint_at at, const moving *of, double mass, moving *to)
{
    const vec3 p = joint_posed(at)->p;
    moving     S = *of;
    moving_turn(b, at, &S, DYN_FLOATING, DYN_TURN_ZX);
    moving_shift(&S, 0, p.x, mass);
    moving_shift(&S, 1, p.y, mass);
    moving_shift(&S, 2, p.z, mass);
    *to = S;
}

/* A joint of one coordinate; `mass`: of what it is made of, grouped or true bodies. */
LANE_INLINE void moving_form(const dyn_body *b, joint_at at, moving *S, double mass, dyn_joint_kind joint,
                             dyn_turn turn)
{
    if (dyn_joint_turns_freely(joint)) return; /* moving_freely */
    if (joint == DYN_PRISMATIC) moving_shift(S, 2, at.c, mass);
    moving_turn(b, at, S, joint, turn);
}
LANE_INLINE void moving_offsets(const dyn_body *b, moving *S, double mass)
{
    if (b->offsets & DYN_ALONG_X) moving_shift(S, 0, lane_of(b->p_pc[0]), mass);
    if (b->offsets & DYN_ALONG_Y) moving_shift(S, 1, lane_of(b->p_pc[1]), mass);
    if (b->offsets & DYN_ALONG_Z) moving_shift(S, 2, lane_of(b->p_pc[2]), mass);
}

/* Any joint. */
LANE_INLINE moving moving_to_parent(const dyn_body *b, joint_at at, moving S, double mass)
{
    if (dyn_joint_turns_freely(b->joint)) {
        moving_freely(b, at, &S, mass, &S);
        return S;
    }
    BODY_FORMS(b, moving_form, b, at, &S, mass)
    moving_offsets(b, &S, mass);
    return S;
}

LANE_APART void moving_gather(moving *sum, const moving *S)
{
    sum->c = composite_add(sum->c, S->c);
    sum->l = add(sum->l, S->l);
    sum->f = wrench_add(sum->f, S->f);
    for (int i = 0; i < 3; i++)
        store3(sum->C.m[i], add(load3(sum->C.m[i]), load3(S->C.m[i])));
}

/* --- wrenches held in world axes, as in spatial_world.h ------------------------------------------------------- */

/* F r^T, F turned already */
LANE_INLINE void held_shift(mat3 *X, vec3 F, vec3 r)
{
    store3(X->m[0], add_scaled(load3(X->m[0]), r, F.x));
    store3(X->m[1], add_scaled(load3(X->m[1]), r, F.y));
    store3(X->m[2], add_scaled(load3(X->m[2]), r, F.z));
}

LANE_INLINE void held_form(const dyn_body *b, joint_at at, held_wrenches *k, dyn_joint_kind joint, dyn_turn turn)
{
    k->F = to_parent(b, at, k->F, joint, turn);
    k->T = to_parent(b, at, k->T, joint, turn);
    k->X = dyn_joint_turns_freely(joint) ? mat3_rotate(&joint_posed(at)->R, &k->X)
                                         : mat3_to_parent(b, at, k->X, false, joint, turn);
    held_shift(&k->X, k->F, origin_in_parent(b, at, joint));
}

static inline void held_to_parent(const dyn_body *b, joint_at at, const held_wrenches *k, held_wrenches *parent)
{
    held_wrenches x = *k;
    BODY_FORMS(b, held_form, b, at, &x)
    held_gather(&x, parent);
}
