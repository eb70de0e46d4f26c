/* newton_euler_motion.h - computes the motion of a body from that of its parent, and the time derivative of that step.
 *
 * Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31: classical accelerations, in the axes of each
 * body. Gravity is an acceleration -g of the world. U = [wd x] + [w x]^2 maps a point of a body to its acceleration
 * relative to the origin. The derivatives are those of the components, equation by equation (Guarino Lo Bianco 2009).
 */
#pragma once
#include "acceleration_matrix.h"

typedef struct motion { /* motion of a body, in its axes */
    vec3 w, wd;         /* angular velocity and acceleration */
    vec3 a;             /* classical acceleration of the origin, minus gravity */
} motion;

typedef struct motion_rate { /* time derivatives of the components of wd and a */
    vec3 wdd, ad;
} motion_rate;

/* The motion of a body with U, and the rates of both. The rates are not set if a call computes no rates. */
typedef struct motion_state {
    motion              motion;
    acceleration_matrix U;
    motion_rate         rate;
    acceleration_matrix Ud;
} motion_state;

/* Rate, acceleration and jerk of a joint with one coordinate. */
typedef struct joint_rates {
    lane sd, sdd, sddd;
} joint_rates;

/* Linear (u) and angular (y) velocity, acceleration and jerk of a joint with a quaternion, in the body's axes. */
typedef struct free_joint_rates {
    twist v, a, jerk;
} free_joint_rates;

/* Returns rate - sd (z x x): the rate of the components of a vector x in axes that turn about z at sd, rad/s. `rate`:
 * the rate of x itself. */
LANE_INLINE vec3 subtract_spin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){add_mul(rate.x, sd, x.y), sub_mul(rate.y, sd, x.x), rate.z};
}
/* Returns rate + sd (z x x): the rate of a vector x itself. `rate`: that of its components in axes that turn about z at
 * sd, rad/s. */
LANE_INLINE vec3 add_spin(vec3 rate, vec3 x, lane sd)
{
    return (vec3){sub_mul(rate.x, sd, x.y), add_mul(rate.y, sd, x.x), rate.z};
}

LANE_INLINE motion world_motion(const double gravity[3])
{
    return (motion){vec3_zero(), vec3_zero(), {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])}};
}

/* --- from the parent's origin to the body's, in the parent's axes ------------------------------------------- */

/* The acceleration, at the body's origin, of the point fixed to the parent: a_p + U_p p, with p the origin's position
 * in the parent's frame. */
LANE_INLINE vec3 acceleration_at_child(link_transform X, vec3 a, const acceleration_matrix *U)
{
    if (X.joint != DYN_REVOLUTE) return acceleration_of_point(a, U, origin_in_parent(X));
    return acceleration_of_offset(a, U, X.b->pose.p_pc, X.b->pose.offsets);
}

/* The time derivative of acceleration_at_child: a_p' + U_p' p + U_p p', with U as in the first comment and p the body's
 * origin in the parent's frame. Only a prismatic joint has p' = sd z. */
LANE_INLINE vec3 acceleration_rate_at_child(link_transform X, const motion_state *parent, lane sd)
{
    const vec3 ad = acceleration_at_child(X, parent->rate.ad, &parent->Ud);
    if (X.joint != DYN_PRISMATIC) return ad;
    double z[3];
    axis_in_parent(X.b, z);
    return acceleration_of_point(ad, &parent->U, scale(vec3_of(z), sd));
}

/* --- to the body's axes, and the joint's own motion: revolute and prismatic --------------------------------- */

/* Rotates the motion k to the body's axes: R^T w, R^T wd, R^T a. */
LANE_INLINE motion motion_to_child(link_transform X, motion k)
{
    return (motion){.a = to_child(X, k.a), .w = to_child(X, k.w), .wd = to_child(X, k.wd)};
}

/* Rotates the rates d of the parent's motion to the body's axes, which turn about z at sd. The components of R^T x, for
 * x = a and wd, have the rate R^T x' - sd z x R^T x; k holds R^T a and R^T wd. */
LANE_INLINE motion_rate motion_rate_to_child(link_transform X, motion_rate d, const motion *k, lane sd)
{
    d = (motion_rate){.ad = to_child(X, d.ad), .wdd = to_child(X, d.wdd)};
    if (X.joint != DYN_REVOLUTE) return d;
    return (motion_rate){.ad = subtract_spin(d.ad, k->a, sd), .wdd = subtract_spin(d.wdd, k->wd, sd)};
}

/* Adds the joint's motion to the parent's motion k, which is at the body's origin, in the body's axes.
 *     revolute:   w += sd z,  wd += sdd z + w x sd z
 *     prismatic:  a += sdd z + 2 w x sd z */
LANE_INLINE motion add_joint_motion(link_transform X, motion k, joint_rates s)
{
    if (X.joint == DYN_PRISMATIC) {
        const lane twice = s.sd + s.sd;
        k.a              = (vec3){add_mul(k.a.x, k.w.y, twice), sub_mul(k.a.y, k.w.x, twice), k.a.z + s.sdd};
    } else {
        k.wd = (vec3){add_mul(k.wd.x, k.w.y, s.sd), sub_mul(k.wd.y, k.w.x, s.sd), k.wd.z + s.sdd};
        k.w.z += s.sd;
    }
    return k;
}

/* The time derivative of add_joint_motion. `body` is its result, k the motion before it.
 *     revolute:   wdd += sddd z + w' x sd z + w x sdd z
 *     prismatic:  a' += sddd z + 2 wd x sd z + 2 w x sdd z
 * For a revolute joint w' = wd + w x sd z, the rate of the components of w, has the x and y of the body's wd. */
LANE_INLINE motion_rate add_joint_motion_rate(link_transform X, motion_rate d, const motion *k, const motion *body,
                                              joint_rates s)
{
    if (X.joint == DYN_PRISMATIC) {
        const lane twice = s.sd + s.sd, twice_sdd = s.sdd + s.sdd;
        d.ad.x = add_mul(add_mul(d.ad.x, k->wd.y, twice), k->w.y, twice_sdd);
        d.ad.y = sub_mul(sub_mul(d.ad.y, k->wd.x, twice), k->w.x, twice_sdd);
        d.ad.z += s.sddd;
    } else {
        d.wdd.x = add_mul(add_mul(d.wdd.x, body->wd.y, s.sd), k->w.y, s.sdd);
        d.wdd.y = sub_mul(sub_mul(d.wdd.y, body->wd.x, s.sd), k->w.x, s.sdd);
        d.wdd.z += s.sddd;
    }
    return d;
}

/* --- the joint's own motion: joints with a quaternion -------------------------------------------------------- */

/* Adds the joint's linear and angular velocity u, y and acceleration to the parent's motion k (at the body's origin):
 *     w_c = w + y,  wd_c = wd + yd + w x y,  a_c = a + ud + (2 w + y) x u. */
LANE_INLINE motion add_free_motion(motion k, const free_joint_rates *s)
{
    const vec3 u = s->v.v, y = s->v.w;
    return (motion){.w  = add(k.w, y),
                    .wd = cross_add(add(k.wd, s->a.w), k.w, y),
                    .a  = cross_add(add(k.a, s->a.v), add(add(k.w, k.w), y), u)};
}

/* The time derivative of add_free_motion. Components R^T x have the rate R^T x' - y x R^T x; d contains R^T x' only.
 * With the rate w' = wd + w x y of the components of w,
 *     wdd_c = wdd + wd x y + ydd + w' x y + w x yd,
 *     a_c'  = a' + a x y + udd + (2 w' + yd) x u + (2 w + y) x ud. */
LANE_INLINE motion_rate add_free_motion_rate(motion_rate d, const motion *k, const free_joint_rates *s)
{
    const vec3 u = s->v.v, y = s->v.w, ud = s->a.v, yd = s->a.w, udd = s->jerk.v, ydd = s->jerk.w;
    const vec3 w_rate = cross_add(k->wd, k->w, y), two_w = add(add(k->w, k->w), y),
               two_w_rate = add(add(w_rate, w_rate), yd);
    const vec3 wdd        = cross_add(cross_add(add(ydd, d.wdd), k->wd, y), w_rate, y);
    const vec3 ad         = add(cross_add(d.ad, k->a, y), udd);
    return (motion_rate){.wdd = cross_add(wdd, k->w, yd), .ad = cross_add(cross_add(ad, two_w_rate, u), two_w, ud)};
}
