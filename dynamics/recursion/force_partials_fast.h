/* force_partials_fast.h - fast path of composite_motion.h and force_partials.h for unit revolute joints (ratio 1,
 * offset 0): the same sums and products without the zeros of S, of psi', and of the moments of a regrouped revolute
 * body.
 *
 * Condition: is_unit_revolute, a property of the model. sensitivity_fast.h, which uses this file, lists the gain. */
#pragma once
#include "force_partials.h"

/* Returns the composite of a revolute body: the sum of its own quantities and of `children`, the sum over its children.
 * The body's own quantities are
 *     l = m v + w x h,  C = v h^T + [w] E,  f = I a + (w x l; h x a + tr(C) w - C w).
 * m, h.z and E.zz of a regrouped revolute body are zero. */
LANE_INLINE composite_motion composite_motion_with_revolute(const composite_motion *children, const dyn_moments *own,
                                                            twist v, twist a)
{
    const double    *h = own->h, *E = own->E;
    const vec3       w = v.w, u = v.v, d = a.w;
    composite_motion S;
    vec3             l = {h[1] * w.z, h[0] * w.z,
                          sub_mul(h[1] * w.x, h[0], w.y)}; /* w x h, whose x component is stored with the opposite sign */
    lane             C[3][3];
    C[0][0] = sub_mul(add_mul(h[0] * u.x, E[2], w.y), E[1], w.z);
    C[1][0] = sub_mul(add_mul(h[0] * u.y, E[0], w.z), E[2], w.x);
    C[2][0] = sub_mul(add_mul(h[0] * u.z, E[1], w.x), E[0], w.y);
    C[0][1] = sub_mul(add_mul(h[1] * u.x, E[4], w.y), E[3], w.z);
    C[1][1] = sub_mul(add_mul(h[1] * u.y, E[1], w.z), E[4], w.x);
    C[2][1] = sub_mul(add_mul(h[1] * u.z, E[3], w.x), E[1], w.y);
    C[0][2] = E[4] * w.z; /* stored with the opposite sign */
    C[1][2] = E[2] * w.z;
    C[2][2] = sub_mul(E[4] * w.x, E[2], w.y);
    vec3 n  = {sub_mul(sub_mul(add_mul(h[1] * a.v.z, E[3], d.x), E[1], d.y), E[2], d.z),
               sub_mul(sub_mul(sub_mul(E[0] * d.y, h[0], a.v.z), E[1], d.x), E[4], d.z),
               sub_mul(sub_mul(sub_mul(add_mul(h[0] * a.v.y, E[0] + E[3], d.z), h[1], a.v.x), E[2], d.x), E[4], d.y)};
    vec3 f  = {sub_mul(children->f.f.x, h[1], d.z), add_mul(children->f.f.y, h[0], d.z),
               sub_mul(add_mul(children->f.f.z, h[1], d.x), h[0], d.y)};
    S.c     = (composite){{children->c.E.xx + E[0], children->c.E.xy + E[1], children->c.E.xz + E[2],
                           children->c.E.yy + E[3], children->c.E.yz + E[4], children->c.E.zz},
                          {children->c.h.x + h[0], children->c.h.y + h[1], children->c.h.z}};
    n       = (vec3){add_mul(sub_mul(add_mul(n.x, C[1][1] + C[2][2], w.x), C[0][1], w.y), C[0][2], w.z),
                     sub_mul(sub_mul(add_mul(n.y, C[0][0] + C[2][2], w.y), C[1][0], w.x), C[1][2], w.z),
                     sub_mul(sub_mul(add_mul(n.z, C[0][0] + C[1][1], w.z), C[2][0], w.x), C[2][1], w.y)};
    S.f.n   = add(children->f.n, n);
    S.f.f   = (vec3){sub_mul(add_mul(f.x, w.y, l.z), w.z, l.y), sub_mul(sub_mul(f.y, w.z, l.x), w.x, l.z),
                     add_mul(add_mul(f.z, w.x, l.y), w.y, l.x)};
    S.l     = (vec3){children->l.x - l.x, children->l.y + l.y, children->l.z + l.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S.C.m[i][j] = i == 0 && j == 2 ? children->C.m[i][j] - C[i][j] : children->C.m[i][j] + C[i][j];
    return S;
}

/* Computes the partials, as force_partials_of does, for a unit revolute joint with axis z, without the zeros of S and
 * psi'. With u, w the linear and angular part of the body's velocity,
 *     psi' = (u.y, -u.x, 0; w.y, -w.x, 0),   F_qd / 2 = B S + I psi',   F_q = z x* f + I psi'' + 2 B psi'. */
LANE_INLINE force_partials force_partials_about_z(double mass, const composite_motion *S, const spatial_state *B)
{
    const vec3  h = S->c.h, l = S->l, u = B->v.v, w = B->v.w, Q = B->psi_dd.v, R = B->psi_dd.w;
    const sym3 *E     = &S->c.E;
    const lane(*C)[3] = S->C.m;
    const wrench f    = S->f;
    const lane   Ixx = E->yy + E->zz, Iyy = E->xx + E->zz, Izz = E->xx + E->yy, z = C[0][0] + C[1][1];
    const lane   lz = l.z + l.z, bf = add_mul(w.y * l.y, w.x, l.x);
    const vec3 bn = {add_mul((C[1][1] + C[2][2]) * w.y, C[0][1], w.x), add_mul((C[0][0] + C[2][2]) * w.x, C[1][0], w.y),
                     sub_mul(C[2][1] * w.x, C[2][0], w.y)};
    force_partials c;
    c.t    = (wrench){{-h.y, h.x, lane_of(0)}, {-E->xz, -E->yz, Izz}};
    c.r    = (vec3){-2.0 * C[2][0], -2.0 * C[2][1], z + z};
    c.k    = vec3_zero();
    c.qd.f = (vec3){sub_mul(-l.y, h.z, w.x), sub_mul(l.x, h.z, w.y), add_mul(h.y * w.y, h.x, w.x)};
    c.qd.n = (vec3){add_mul(add_mul(add_mul(-C[0][2], h.z, u.x), Ixx, w.y), E->xy, w.x),
                    sub_mul(sub_mul(add_mul(-C[1][2], h.z, u.y), Iyy, w.x), E->xy, w.y),
                    add_mul(sub_mul(sub_mul(sub_mul(z, h.x, u.x), h.y, u.y), E->xz, w.y), E->yz, w.x)};
    c.q.f  = (vec3){sub_mul(sub_mul(add_mul(-f.f.y, R.y, h.z), R.z, h.y), lz, w.x),
                    sub_mul(sub_mul(add_mul(f.f.x, R.z, h.x), R.x, h.z), lz, w.y),
                    add_mul(sub_mul(R.x * h.y, R.y, h.x), 2.0, bf)};
    c.q.n  = cross_add((vec3){sub_mul(sub_mul(add_mul(-f.n.y, Ixx, R.x), E->xy, R.y), E->xz, R.z),
                              sub_mul(sub_mul(add_mul(f.n.x, Iyy, R.y), E->xy, R.x), E->yz, R.z),
                              sub_mul(sub_mul(Izz * R.z, E->xz, R.x), E->yz, R.y)},
                       h, Q);
    c.q.n  = (vec3){add_mul(c.q.n.x, 2.0, bn.x), sub_mul(c.q.n.y, 2.0, bn.y), add_mul(c.q.n.z, 2.0, bn.z)};
    if (mass != 0) { /* mass is zero if all bodies of the composite are revolute */
        c.qd.f.x = add_mul(c.qd.f.x, mass, u.y);
        c.qd.f.y = sub_mul(c.qd.f.y, mass, u.x);
        c.q.f    = add_scaled(c.q.f, Q, lane_of(mass));
    }
    c.qd = wrench_add(c.qd, c.qd);
    return c;
}
