/* newton_euler_motion.h - computes the motion of a body from that of its parent, and the rate of this step: the time
 * derivative, or the derivative along a direction of the state.
 *
 * Luh, Walker & Paul (1980) in the form of Khalil (2010), eqs. 18-31: classical accelerations, in the axes of each
 * body. Gravity is an acceleration -g of the world. U = [wd x] + [w x]^2 maps a point of a body to its acceleration
 * relative to the origin. The rates are those of the components, equation by equation (Guarino Lo Bianco 2009).
 *
 * A direction gives each joint of one coordinate the rates e, g, j of its position, rate and acceleration, and a joint
 * with a quaternion six of each. The body's axes rotate at e, the rate of the position. The time derivative is the
 * direction e = sd, g = sdd, j = sddd, along which the components of w have the rate dw = wd.
 *
 * Points of a body have constant components in its axes. Therefore the equations within a body, such as the wrench from
 * the mass moments, are linear functions whose rates are the same functions of the rates. Only the rotations between
 * bodies add terms: the rate of R^T x contains -e z x R^T x in the forward pass, and the rate of R f contains R (e z x
 * f) in the backward pass. */
#pragma once
#include "acceleration_matrix.h"

typedef struct motion { /* motion of a body, in its axes */
    vec3 w, wd;         /* angular velocity and acceleration */
    vec3 a;             /* classical acceleration of the origin, minus gravity */
} motion;

typedef struct motion_rate { /* rates of the components of wd and a */
    vec3 wdd, ad;
} motion_rate;

/* The motion of a body with its acceleration matrix U, and the rates of both, which are set only if a call computes
 * rates. */
typedef struct motion_state {
    motion              motion;
    acceleration_matrix U;
    motion_rate         rate;
    acceleration_matrix Ud;
    vec3                dw; /* rate of the components of w; only set along a direction */
} motion_state;

/* Rate sd and acceleration sdd of a joint with one coordinate, and the rates e, g, j of its position, rate and
 * acceleration. */
typedef struct joint_rates {
    lane sd, sdd, e, g, j;
} joint_rates;

/* Velocity v and acceleration a of a joint with a quaternion, in the body's axes, and the rates e, g, j of its
 * position, velocity and acceleration. The equations below call the linear velocity u and the angular velocity y. */
typedef struct free_joint_rates {
    twist v, a, e, g, j;
} free_joint_rates;

/* Returns rate - e (z x x), the rate of the components of a vector x in axes that rotate about z at e. `rate`:
 * components of the rate of x itself. */
LANE_INLINE vec3 subtract_spin(vec3 rate, vec3 x, lane e)
{
    return (vec3){add_mul(rate.x, e, x.y), sub_mul(rate.y, e, x.x), rate.z};
}
/* Returns rate + e (z x x), the rate of a vector x itself. `rate`: rate of the components of x in axes that rotate
 * about z at e. */
LANE_INLINE vec3 add_spin(vec3 rate, vec3 x, lane e)
{
    return (vec3){sub_mul(rate.x, e, x.y), add_mul(rate.y, e, x.x), rate.z};
}

LANE_INLINE motion world_motion(const double gravity[3])
{
    return (motion){vec3_zero(), vec3_zero(), {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])}};
}

/* --- from the parent's origin to the body's, in the parent's axes ------------------------------------------- */

/* Returns the acceleration, in the parent's axes, of the point fixed to the parent at the body's origin: a_p + U_p p,
 * with p the body's origin in the parent's frame. */
LANE_INLINE vec3 acceleration_at_child(link_transform X, vec3 a, const acceleration_matrix *U)
{
    if (X.joint != DYN_REVOLUTE) return acceleration_of_point(a, U, origin_in_parent(X));
    return acceleration_of_offset(a, U, X.b->pose.p_pc, X.b->pose.offsets);
}

/* Returns the rate of acceleration_at_child: a_p' + U_p' p + U_p p', with p the body's origin in the parent's frame.
 * Only for a prismatic joint p' = e z is not zero. */
LANE_INLINE vec3 acceleration_rate_at_child(link_transform X, const motion_state *parent, lane e)
{
    const vec3 ad = acceleration_at_child(X, parent->rate.ad, &parent->Ud);
    if (X.joint != DYN_PRISMATIC) return ad;
    double z[3];
    axis_in_parent(X.b, z);
    return acceleration_of_point(ad, &parent->U, scale(vec3_of(z), e));
}

/* --- to the body's axes, and the joint's own motion: revolute and prismatic --------------------------------- */

/* Rotates the motion k to the body's axes: R^T w, R^T wd, R^T a. */
LANE_INLINE motion motion_to_child(link_transform X, motion k)
{
    return (motion){.a = to_child(X, k.a), .w = to_child(X, k.w), .wd = to_child(X, k.wd)};
}

/* Rotates the rates d of the parent's motion to the body's axes, which rotate about z at e. The components of R^T x,
 * for x = a and wd, have the rate R^T x' - e z x R^T x. `k` contains R^T a and R^T wd. */
LANE_INLINE motion_rate motion_rate_to_child(link_transform X, motion_rate d, const motion *k, lane e)
{
    d = (motion_rate){.ad = to_child(X, d.ad), .wdd = to_child(X, d.wdd)};
    if (X.joint != DYN_REVOLUTE) return d;
    return (motion_rate){.ad = subtract_spin(d.ad, k->a, e), .wdd = subtract_spin(d.wdd, k->wd, e)};
}

/* Rotates dw, the rate of the components of the parent's w, to the body's axes, like motion_rate_to_child. `k` contains
 * R^T w. */
LANE_INLINE vec3 component_rate_to_child(link_transform X, vec3 dw, const motion *k, lane e)
{
    dw = to_child(X, dw);
    return X.joint == DYN_REVOLUTE ? subtract_spin(dw, k->w, e) : dw;
}

/* Adds the joint's motion to k, the parent's motion at the body's origin in the body's axes:
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

/* Computes the rates of the results of add_joint_motion. d: rates of the parent's motion in the body's axes
 * (motion_rate_to_child); k: motion to which the joint's motion was added; dw: rate of the components of the body's w.
 *     revolute:   wdd += j z + dw x sd z + w x g z
 *     prismatic:  a' += j z + 2 dw x sd z + 2 w x g z
 * The z component of dw has no effect, so that g, the joint's part of it, may be missing. */
LANE_INLINE motion_rate add_joint_motion_rate(link_transform X, motion_rate d, const motion *k, vec3 dw, joint_rates s)
{
    if (X.joint == DYN_PRISMATIC) {
        const lane twice = s.sd + s.sd, twice_g = s.g + s.g;
        d.ad.x = add_mul(add_mul(d.ad.x, dw.y, twice), k->w.y, twice_g);
        d.ad.y = sub_mul(sub_mul(d.ad.y, dw.x, twice), k->w.x, twice_g);
        d.ad.z += s.j;
    } else {
        d.wdd.x = add_mul(add_mul(d.wdd.x, dw.y, s.sd), k->w.y, s.g);
        d.wdd.y = sub_mul(sub_mul(d.wdd.y, dw.x, s.sd), k->w.x, s.g);
        d.wdd.z += s.j;
    }
    return d;
}

/* --- the joint's own motion: joints with a quaternion -------------------------------------------------------- */

/* Adds the motion of a joint with linear and angular velocity u, y and accelerations ud, yd to k, the parent's motion
 * (w, wd, a) at the body's origin in the body's axes:
 *     w_c = w + y,  wd_c = wd + yd + w x y,  a_c = a + ud + (2 w + y) x u. */
LANE_INLINE motion add_free_motion(motion k, const free_joint_rates *s)
{
    const vec3 u = s->v.v, y = s->v.w;
    return (motion){.w  = add(k.w, y),
                    .wd = cross_add(add(k.wd, s->a.w), k.w, y),
                    .a  = cross_add(add(k.a, s->a.v), add(add(k.w, k.w), y), u)};
}

/* Returns the rates of the results of add_free_motion along a direction that displaces the joint by e (linear and
 * angular part e_v, e_w), and changes its velocity by g and its acceleration by j. Components R^T x have the rate R^T
 * x' - e_w x R^T x; d contains R^T x' only. With the rate w' = dw + w x e_w of the components of w,
 *     wdd_c = wdd + wd x e_w + j_w + w' x y + w x g_w,
 *     a_c'  = a' + a x e_w + j_v + (2 w' + g_w) x u + (2 w + y) x g_v,
 * and w_c has the rate w' + g_w. `w_rate` is w'. */
LANE_INLINE motion_rate add_free_motion_rate(motion_rate d, const motion *k, vec3 w_rate, const free_joint_rates *s)
{
    const vec3 u = s->v.v, y = s->v.w, e = s->e.w, g = s->g.w;
    const vec3 two_w = add(add(k->w, k->w), y), two_w_rate = add(add(w_rate, w_rate), g);
    const vec3 wdd = cross_add(cross_add(add(s->j.w, d.wdd), k->wd, e), w_rate, y);
    const vec3 ad  = add(cross_add(d.ad, k->a, e), s->j.v);
    return (motion_rate){.wdd = cross_add(wdd, k->w, g), .ad = cross_add(cross_add(ad, two_w_rate, u), two_w, s->g.v)};
}
