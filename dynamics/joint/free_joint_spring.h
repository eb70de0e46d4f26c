/* free_joint_spring.h - computes the moment of the spring of a spherical joint, and its derivatives.
 *
 * The spring has the moment k theta towards the position without rotation, where theta, |theta| <= pi, is the rotation
 * vector of the joint, the same in the axes of both frames. With R <- R exp(e),
 *
 *     d theta = G e,   G = 1 + [theta] / 2 + c(y) [theta]^2,   y = theta . theta,
 *     c(y) = (1 - (phi/2) cot(phi/2)) / phi^2 with phi^2 = y,  = sum over j >= 1 of 2 zeta(2j) y^(j-1) / (2 pi)^(2j).
 *
 * |y| / (2 pi)^2 <= 1/4, so that the series converges, and is used near y = 0 as well. */
#pragma once
#include "joint.h"

/* Coefficients of c(y), 2 zeta(2j) / (2 pi)^(2j). */
enum { SPRING_TERMS = 29 };
static const double spring_terms[SPRING_TERMS] = {
    0.083333333333333333,   0.0013888888888888889,  3.3068783068783069e-5,  8.2671957671957672e-7,
    2.0876756987868099e-8,  5.2841901386874932e-10, 1.3382536530684679e-11, 3.3896802963225829e-13,
    8.5860620562778446e-15, 2.1748686985580619e-16, 5.5090028283602295e-18, 1.3954464685812523e-19,
    3.5347070396294675e-21, 8.9535174270375469e-23, 2.2679524523376831e-24, 5.7447906688722024e-26,
    1.4551724756148649e-27, 3.6859949406653102e-29, 9.3367342570950447e-31, 2.3650224157006299e-32,
    5.9906717624821343e-34, 1.5174548844682903e-35, 3.8437581254541882e-37, 9.736353072646691e-39,
    2.466247044200681e-40,  6.2470767418207437e-42, 1.5824030244644914e-43, 4.008273685948936e-45,
    1.0153075855569556e-46};

/* c(y) of the first comment, and dc/dy. */
typedef struct spring_curve {
    lane value, slope;
} spring_curve;
LANE_INLINE spring_curve spring_curve_at(lane y)
{
    spring_curve c = {lane_of(0), lane_of(0)};
    for (int j = SPRING_TERMS; j-- > 0;) {
        c.slope = add_mul(c.value, y, c.slope);
        c.value = add_mul(spring_terms[j], y, c.value);
    }
    return c;
}

/* Returns the rotation vector theta of the unit quaternion (x, w) of a spherical joint. With tan(phi/4) = |x| / (1 +
 * |w|) and the half-angle formula applied once more, atan is its Taylor series on 0 to tan(pi/8); all terms are even in
 * |x|, which therefore needs no root. */
LANE_INLINE vec3 joint_rotation_vector(const lane *q)
{
    enum { TERMS = 22 };
    const lane_mask negative = lane_less(q[3], lane_of(0));
    const lane      sign = lane_select(negative, lane_of(-1), lane_of(1)), w = sign * q[3];
    const vec3      x       = load3(q);
    const lane      quarter = 1.0 / (w + 1.0), square = dot(x, x); /* tan(phi/4) / |x| */
    const lane      eighth = quarter / (lane_sqrt(add_mul(1.0, square, quarter * quarter)) + 1.0);
    const lane      z      = square * eighth * eighth;
    lane            sum    = lane_of(0);
    for (int k = TERMS; k-- > 0;) /* atan(u) / u = 1 - u^2 / 3 + u^4 / 5 - ... */
        sum = sub_mul(1.0 / (2 * k + 1), z, sum);
    return scale(x, 8.0 * sign * eighth * sum);
}

LANE_INLINE bool has_free_spring(const dyn_body *b, unsigned terms)
{
    return b->joint.kind == DYN_SPHERICAL && b->joint.spring.stiffness != 0 && (terms & DYN_SPRINGS);
}

/* Returns k theta, the moment of the joint's spring. */
LANE_INLINE vec3 free_spring(const dyn_body *b, const lane *q)
{
    return times(b->joint.spring.stiffness, joint_rotation_vector(q + b->joint.q));
}

/* Returns theta x (theta x v). */
LANE_INLINE vec3 cross_twice(vec3 theta, vec3 v)
{
    return cross(theta, cross(theta, v));
}

/* Returns G v, the rate of theta for the angular velocity v; c: c(theta . theta). */
LANE_INLINE vec3 spring_turn(vec3 theta, lane c, vec3 v)
{
    return add_scaled(add(v, times(0.5, cross(theta, v))), cross_twice(theta, v), c);
}

/* Returns k G w, the time derivative of the spring's moment at the angular velocity w in qd. */
LANE_INLINE vec3 free_spring_rate(const dyn_body *b, const lane *q, const lane *qd)
{
    const vec3 theta = joint_rotation_vector(q + b->joint.q);
    const lane c     = spring_curve_at(dot(theta, theta)).value;
    return times(b->joint.spring.stiffness, spring_turn(theta, c, joint_angular(b, qd)));
}

/* Returns the change of G v where theta changes by d, at constant v: [d] v / 2 + 2 c' (theta . d) [theta]^2 v + c
 * ([d][theta] + [theta][d]) v. */
LANE_INLINE vec3 spring_turn_change(vec3 theta, spring_curve c, vec3 d, vec3 v)
{
    const vec3 mixed = add(cross(d, cross(theta, v)), cross(theta, cross(d, v)));
    const vec3 bent  = scale(cross_twice(theta, v), 2.0 * c.slope * dot(theta, d));
    return add_scaled(add(times(0.5, cross(d, v)), bent), mixed, c.value);
}

LANE_INLINE vec3 spring_axis(int k)
{
    return (vec3){lane_of(k == 0), lane_of(k == 1), lane_of(k == 2)};
}

/* Adds k G to the block of the joint in an nv x nv matrix. */
static inline void free_add_stiffness(const dyn_body *b, size_t nv, const lane *q, lane *matrix)
{
    const size_t v     = (size_t)b->joint.v;
    const vec3   theta = joint_rotation_vector(q + b->joint.q);
    const lane   c     = spring_curve_at(dot(theta, theta)).value;
    for (size_t k = 0; k < 3; k++) {
        lane column[3];
        store3(column, times(b->joint.spring.stiffness, spring_turn(theta, c, spring_axis((int)k))));
        for (size_t i = 0; i < 3; i++)
            matrix[(v + i) * nv + v + k] += column[i];
    }
}

/* Adds the time derivative of the matrix k G to the block of the joint. */
static inline void free_add_stiffness_rate(const dyn_body *b, size_t nv, const lane *q, const lane *qd, lane *matrix)
{
    const size_t       v     = (size_t)b->joint.v;
    const vec3         theta = joint_rotation_vector(q + b->joint.q);
    const spring_curve c     = spring_curve_at(dot(theta, theta));
    const vec3         rate  = spring_turn(theta, c.value, joint_angular(b, qd));
    for (size_t k = 0; k < 3; k++) {
        lane column[3];
        store3(column, times(b->joint.spring.stiffness, spring_turn_change(theta, c, rate, spring_axis((int)k))));
        for (size_t i = 0; i < 3; i++)
            matrix[(v + i) * nv + v + k] += column[i];
    }
}

/* Adds the second derivatives of u . k theta, where u are the multipliers: entry (j, k) is the change of u . k G e_j
 * along e_k. */
static inline void free_add_spring_curvature(const dyn_body *b, size_t nv, const lane *q, const lane *multipliers,
                                             lane *q_q)
{
    const size_t       v     = (size_t)b->joint.v;
    const vec3         theta = joint_rotation_vector(q + b->joint.q);
    const spring_curve c     = spring_curve_at(dot(theta, theta));
    const vec3         u     = times(b->joint.spring.stiffness, joint_angular(b, multipliers));
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 3; k++) {
            const vec3 d = spring_turn(theta, c.value, spring_axis((int)k));
            q_q[(v + j) * nv + v + k] += dot(u, spring_turn_change(theta, c, d, spring_axis((int)j)));
        }
}
