/* step_displacement.h - moves the coordinates of joints by a displacement u, and differentiates the result.
 *
 * A joint of one coordinate has q+ = q + u. A joint with a quaternion, with position p and rotation R, moves for one
 * unit of time with the constant twist u = (v, w) in the axes of its body to p+, R+ (Lynch & Park 2017, ch. 3):
 *
 *     R+ = R E,  p+ = p + R V v,  E = 1 + A [w] + B [w]^2,  V = 1 + B [w] + C [w]^2,
 *     A = sin t / t,  B = (1 - cos t) / t^2,  C = (t - sin t) / t^3,  t = |w|.
 *
 * With tangents (e_v, e_w), p <- p + R e_v and R <- R exp(e_w) as in NOTATION.md, the displaced pose changes by
 *
 *     e_w+ = E^T e_w + J dw,  e_v+ = E^T (e_v + e_w x V v + d(V v)/dw dw) + J dv,
 *
 * where J = E^T V = 1 - B [w] + C [w]^2 is the right Jacobian of rotations. */
#pragma once
#include "dynamics/recursion/workspace.h"

/* Derivatives of the displaced coordinates of one joint, n x n for n velocities: a change e of the coordinates and a
 * change du of the displacement give the change e+ = by_q e + by_u du of the displaced coordinates. */
typedef struct displacement_rates {
    int  n;
    lane by_q[6][6], by_u[6][6];
} displacement_rates;

/* Functions of the rotation by the vector w, with t = |w|: A, B and C of the top of this file, and B_s and C_s, the
 * derivatives of B and C with respect to t^2. */
typedef struct turn {
    vec3 w;
    lane A, B, C, B_s, C_s;
    lane half_sine, half_cosine; /* sin(t/2) / t and cos(t/2) */
} turn;

enum { TURN_TERMS = 9 };

/* Returns the sum of c[k] s^k, for 0 <= s < 1. */
LANE_INLINE lane turn_series(const double c[TURN_TERMS], lane s)
{
    lane sum = lane_of(c[TURN_TERMS - 1]);
    for (int k = TURN_TERMS - 2; k >= 0; k--)
        sum = add_mul(c[k], s, sum);
    return sum;
}

/* Sets the functions of s = t^2 by their Taylor series, which have all digits for t < 1. */
LANE_INLINE void set_small_turn(turn *r, lane s)
{
    static const double B[TURN_TERMS]   = {1 / 2.0,          -1 / 24.0,          1 / 720.0,
                                           -1 / 40320.0,     1 / 3628800.0,      -1 / 479001600.0,
                                           1 / 87178291200., -1 / 20922789888e3, 1 / 6402373705728e3};
    static const double B_s[TURN_TERMS] = {-1 / 24.0,       2 / 720.0,        -3 / 40320.0,       4 / 3628800.0,
                                           -5 / 479001600., 6 / 87178291200., -7 / 20922789888e3, 8 / 6402373705728e3};
    static const double C[TURN_TERMS]   = {1 / 6.0,          -1 / 120.0,          1 / 5040.0,
                                           -1 / 362880.0,    1 / 39916800.0,      -1 / 6227020800.0,
                                           1 / 1307674368e3, -1 / 355687428096e3, 1 / 121645100408832e3};
    static const double C_s[TURN_TERMS] = {-1 / 120.0,          2 / 5040.0,           -3 / 362880.0,
                                           4 / 39916800.0,      -5 / 6227020800.0,    6 / 1307674368e3,
                                           -7 / 355687428096e3, 8 / 121645100408832e3};
    r->B                                = turn_series(B, s);
    r->C                                = turn_series(C, s);
    r->B_s                              = turn_series(B_s, s);
    r->C_s                              = turn_series(C_s, s);
    r->A                                = sub_mul(1.0, s, r->C);
    /* sin(t/2) / t = 1/2 sin(t/2) / (t/2) */
    r->half_sine = 0.5 * sub_mul(1.0, 0.25 * s, turn_series(C, 0.25 * s));
}

LANE_INLINE turn turn_by(vec3 w)
{
    lane         s = dot(w, w), t = lane_sqrt(s), half[TRIG_ANGLES], cs[2 * TRIG_ANGLES];
    const double zeros[TRIG_ANGLES] = {0};
    double       rounder[TRIG_ANGLES];
    for (int k = 0; k < TRIG_ANGLES; k++) {
        half[k]    = 0.5 * t;
        rounder[k] = DYN_ROUNDER;
    }
    lane_cosine_sine(half, zeros, rounder, cs);
    turn small = {.w = w, .half_cosine = cs[0]}, r = small;
    set_small_turn(&small, s);
    r.half_sine = cs[1] / t;
    r.A         = 2.0 * r.half_sine * cs[0];
    r.B         = 2.0 * r.half_sine * r.half_sine;
    r.C         = (1.0 - r.A) / s;
    r.B_s       = sub_mul(r.A, 2.0, r.B) / (2.0 * s);
    r.C_s       = sub_mul(r.B, 3.0, r.C) / (2.0 * s);
    /* the quotients are not finite at s = 0, where the series are selected */
    lane_mask is_small = lane_less(s, lane_of(1));
    r.half_sine        = lane_select(is_small, small.half_sine, r.half_sine);
    r.A                = lane_select(is_small, small.A, r.A);
    r.B                = lane_select(is_small, small.B, r.B);
    r.C                = lane_select(is_small, small.C, r.C);
    r.B_s              = lane_select(is_small, small.B_s, r.B_s);
    r.C_s              = lane_select(is_small, small.C_s, r.C_s);
    return r;
}

/* Returns x + a (w x x) + b (w x (w x x)), with the rotation vector w = r->w. */
LANE_INLINE vec3 turn_polynomial(const turn *r, lane a, lane b, vec3 x)
{
    vec3 first = cross(r->w, x);
    return add_scaled(add_scaled(x, first, a), cross(r->w, first), b);
}

/* Returns E^T x: x rotated by the inverse of the displacement's rotation E. */
LANE_INLINE vec3 turn_back(const turn *r, vec3 x)
{
    return turn_polynomial(r, -r->A, r->B, x);
}

/* Returns J x, with the right Jacobian J = 1 - B [w] + C [w]^2. */
LANE_INLINE vec3 turn_right_jacobian(const turn *r, vec3 x)
{
    return turn_polynomial(r, -r->B, r->C, x);
}

/* Returns (d(V v)/dw) dw: the change of V v, the displacement of the origin, with a change dw of the rotation
 * vector. */
LANE_INLINE vec3 turn_shift_rate(const turn *r, vec3 v, vec3 dw)
{
    vec3 first = cross(r->w, v), second = cross(r->w, first), d_first = cross(dw, v);
    vec3 d_second = cross_add(cross(dw, first), r->w, d_first);
    lane ds       = 2.0 * dot(r->w, dw);
    vec3 sum      = add_scaled(scale(d_first, r->B), d_second, r->C);
    return add_scaled(add_scaled(sum, first, r->B_s * ds), second, r->C_s * ds);
}

/* Writes the quaternion x y z w of the orientation r displaced by E, with unit norm and w >= 0. */
LANE_INLINE void turn_quaternion(const turn *t, const lane *r, lane *to)
{
    vec3 x = load3(r), k = scale(t->w, t->half_sine);
    vec3 vector = cross_add(add_scaled(scale(k, r[3]), x, t->half_cosine), x, k);
    lane scalar = r[3] * t->half_cosine - dot(x, k);
    lane unit   = 1.0 / lane_sqrt(add_mul(dot(vector, vector), scalar, scalar));
    unit        = lane_select(lane_less(scalar, lane_of(0)), -unit, unit);
    store3(to, scale(vector, unit));
    to[3] = scalar * unit;
}

LANE_INLINE vec3 unit_vector(int axis)
{
    return (vec3){lane_of(axis == 0), lane_of(axis == 1), lane_of(axis == 2)};
}

LANE_INLINE void set_column(lane M[6][6], int row, int column, vec3 x)
{
    M[row][column]     = x.x;
    M[row + 1][column] = x.y;
    M[row + 2][column] = x.z;
}

/* Sets the matrices by_q and by_u of a joint with a quaternion, column by column. `shift` is V v. `first`: number of
 * linear coordinates, 3 if the joint has a position, else 0. */
static inline void set_free_rates(const turn *t, vec3 v, vec3 shift, int first, displacement_rates *rates)
{
    *rates = (displacement_rates){.n = first + 3};
    for (int axis = 0; axis < 3; axis++) {
        vec3 e = unit_vector(axis), back = turn_back(t, e), right = turn_right_jacobian(t, e);
        set_column(rates->by_q, first, first + axis, back);
        set_column(rates->by_u, first, first + axis, right);
        if (first == 0) continue;
        set_column(rates->by_q, 0, axis, back);
        set_column(rates->by_u, 0, axis, right);
        set_column(rates->by_q, 0, 3 + axis, turn_back(t, cross(e, shift)));
        set_column(rates->by_u, 0, 3 + axis, turn_back(t, turn_shift_rate(t, v, e)));
    }
}

/* Displaces a joint with a quaternion; q, u and q_after are arrays of the whole model. */
static inline void displace_free_joint(const dyn_body *b, const lane *q, const lane *u, lane *q_after,
                                       displacement_rates *rates)
{
    const int   first = b->joint.kind == DYN_FLOATING ? 3 : 0;
    const lane *r     = q + b->joint.q + first;
    vec3        v = joint_linear(b, u), shift = vec3_zero();
    turn        t = turn_by(joint_angular(b, u));
    if (first > 0) {
        mat3 R = quaternion_rotation(r);
        shift  = turn_polynomial(&t, t.B, t.C, v);
        store3(q_after + b->joint.q, add(load3(q + b->joint.q), mat3_mul(&R, shift)));
    }
    turn_quaternion(&t, r, q_after + b->joint.q + first);
    if (rates) set_free_rates(&t, v, shift, first, rates);
}

/* Displaces the joint of a body that is no mimic: q_after = q exp(u). Sets the derivatives unless `rates` is NULL. */
LANE_INLINE void displace_joint(const dyn_body *b, const lane *q, const lane *u, lane *q_after,
                                displacement_rates *rates)
{
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        displace_free_joint(b, q, u, q_after, rates);
        return;
    }
    q_after[b->joint.q] = q[b->joint.q] + u[b->joint.v];
    if (!rates) return;
    rates->n          = 1;
    rates->by_q[0][0] = rates->by_u[0][0] = lane_of(1);
}
