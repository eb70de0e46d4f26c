/* displacement_rate.h - differentiates the derivatives by_q and by_u of step_displacement.h along a change of u (own
 * derivation).
 *
 * With the change du of u, exp(u) moves at the twist y = by_u du in its own axes, and by_q = Ad(exp(-u)) has the rate
 * -[y, by_q]. The blocks of by_u are J = 1 - B [w] + C [w]^2 and, from dw to the translation, X = E^T S with S dw = d(V
 * v)/dw dw, where B, C, E and V are those of step_displacement.h. The rate of by_u consists of J' and
 *
 *     X' = -[J w'] X + E^T S',
 *
 * where S' has the second derivatives of V v, w' is dw, and J w' is the angular part of y. */
#pragma once
#include "dynamics/algorithms/step_displacement.h"

/* Second derivatives of B and C (step_displacement.h) with respect to s = t^2, the square of the angle. */
typedef struct turn_curvature {
    lane B, C;
} turn_curvature;

static inline turn_curvature turn_curvature_of(const turn *r)
{
    static const double B[TURN_TERMS] = {2 / 720.0,        -6 / 40320.0,        12 / 3628800.0,      -20 / 479001600.,
                                         30 / 87178291200, -42 / 20922789888e3, 56 / 6402373705728e3};
    static const double C[TURN_TERMS] = {
        2 / 5040.0,        -6 / 362880.0,        12 / 39916800.0,       -20 / 6227020800.0,
        30 / 1307674368e3, -42 / 355687428096e3, 56 / 121645100408832e3};
    const lane      s        = dot(r->w, r->w);
    const lane_mask is_small = lane_less(s, lane_of(1));
    /* A_s = -(C + s C_s), and the rates of B_s = (A - 2 B) / (2 s) and C_s = (B - 3 C) / (2 s) */
    const lane A_s = -add_mul(r->C, s, r->C_s);
    return (turn_curvature){lane_select(is_small, turn_series(B, s), sub_mul(A_s, 4.0, r->B_s) / (2.0 * s)),
                            lane_select(is_small, turn_series(C, s), sub_mul(r->B_s, 5.0, r->C_s) / (2.0 * s))};
}

/* A change du of the displacement u = (v, w) of a joint with a quaternion. */
typedef struct turn_change {
    const turn    *turn;
    turn_curvature curvature;
    vec3           v, dv, dw; /* v: linear part of u; dv, dw: changes of its linear and angular part */
} turn_change;

/* Returns J' x: the change of J = 1 - B [w] + C [w]^2 along dw, times x. */
LANE_INLINE vec3 right_jacobian_change(const turn_change *c, vec3 x)
{
    const turn *r     = c->turn;
    const lane  ds    = 2.0 * dot(r->w, c->dw);
    const vec3  first = cross(r->w, x), d_first = cross(c->dw, x);
    const vec3  d_second = cross_add(cross(c->dw, first), r->w, d_first);
    const vec3  sum      = add_scaled(scale(d_first, -r->B), d_second, r->C);
    return add_scaled(add_scaled(sum, first, -(r->B_s * ds)), cross(r->w, first), r->C_s * ds);
}

/* Returns S' e: the change of S = d(V v)/dw (first comment) along dw and dv, times e. */
LANE_INLINE vec3 shift_rate_change(const turn_change *c, vec3 e)
{
    const turn *r = c->turn;
    const vec3  w = r->w, d = c->dw, v = c->v;
    const lane  along = 2.0 * dot(w, e), change = 2.0 * dot(w, d), both = 2.0 * dot(d, e);
    const vec3  wv = cross(w, v), wwv = cross(w, wv), dv = cross(d, v), ev = cross(e, v);
    const vec3  d_wwv = cross_add(cross(d, wv), w, dv), e_wwv = cross_add(cross(e, wv), w, ev),
               de_wwv = cross_add(cross(e, dv), d, ev);
    vec3 sum          = add_scaled(turn_shift_rate(r, c->dv, e), de_wwv, r->C);
    sum               = add_scaled(add_scaled(sum, ev, r->B_s * change), e_wwv, r->C_s * change);
    sum               = add_scaled(add_scaled(sum, dv, r->B_s * along), d_wwv, r->C_s * along);
    sum               = add_scaled(add_scaled(sum, wv, r->B_s * both), wwv, r->C_s * both);
    return add_scaled(add_scaled(sum, wv, c->curvature.B * along * change), wwv, c->curvature.C * along * change);
}

/* Sets M to the rate of by_u of a joint with a quaternion along the change du of its displacement. u and du are [nv],
 * those of all coordinates. */
static inline void displacement_rate_change(const dyn_body *b, const lane *u, const lane *du, lane M[6][6])
{
    const int         first = b->joint.kind == DYN_FLOATING ? 3 : 0;
    const turn        t     = turn_by(joint_angular(b, u));
    const turn_change c = {&t, turn_curvature_of(&t), joint_linear(b, u), joint_linear(b, du), joint_angular(b, du)};
    const vec3        y = turn_right_jacobian(&t, c.dw);
    for (int axis = 0; axis < 3; axis++) {
        const vec3 e = unit_vector(axis), column = right_jacobian_change(&c, e);
        set_column(M, first, first + axis, column);
        if (first == 0) continue;
        const vec3 X = turn_back(&t, turn_shift_rate(&t, c.v, e));
        set_column(M, 0, axis, column);
        set_column(M, 3, axis, vec3_zero());
        set_column(M, 0, 3 + axis, cross_add(turn_back(&t, shift_rate_change(&c, e)), X, y));
    }
}
