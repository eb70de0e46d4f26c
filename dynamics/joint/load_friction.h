/* load_friction.h - computes friction that grows with the load of a joint, its inverse and its derivatives.
 *
 * Hamon, Gautier & Garrec (2010), "Dynamic identification of robots with a dry friction model depending on load and
 * velocity". T is the effort of a coordinate without friction: rigid bodies, rotor, springs and external wrenches. With
 * f(qd) the friction that does not depend on the load, and g(qd) the sum of load sense(qd) over joint and motor,
 *
 *     tau = T + f + g |T|,  and, since |g| < 1,  T = (tau - f) / (1 + g sign(tau - f)).
 *
 * The friction of the motors of coupled transmissions (drive_forces.h), which does not depend on the load, is part of
 * f, and then f depends on the rates of several coordinates.
 *
 * With the load factor a = 1 + g sign(T), a derivative of tau is a dT; the derivative with respect to the coordinate's
 * own velocity has f' + g' |T| in addition, where ' is the derivative with respect to this velocity. |T| has a kink at
 * T = 0: its derivative is taken as sign(T), with 0 at T = 0. */
#pragma once
#include "drive_forces.h"

/* Friction of one coordinate at a velocity, value + factor |T|, with its first and second derivatives with respect to
 * the coordinate's own velocity. `value` includes the friction of drives, its derivatives do not. */
typedef struct load_friction {
    lane value, slope, curvature;
    lane factor, factor_slope, factor_curvature;
} load_friction;

/* True if friction depends on the load in this scene. */
LANE_INLINE bool scene_has_load(const dyn_scene *scene)
{
    return scene->model->has_load && (scene->terms & DYN_FRICTION);
}

/* Returns the scene without friction, in which efforts are T. */
LANE_INLINE dyn_scene scene_without_friction(const dyn_scene *scene)
{
    dyn_scene rigid = *scene;
    rigid.terms &= ~(unsigned)DYN_FRICTION;
    return rigid;
}

/* Adds the friction of a joint or motor at its rate r qd. The effort at the coordinate is r times the effort at the
 * joint, and T is r times the load of the joint: r (load |T / r| sense(r qd)). `side`: as in
 * load_friction_set_sides. */
LANE_INLINE void load_friction_add(const dyn_body *b, const lane *qd, const lane *side, load_friction *to)
{
    const double r = b->joint.ratio, size = r < 0 ? -r : r, load = b->joint.friction.load;
    const bool   smooth = b->joint.friction.coulomb_velocity > 0;
    const lane   rate = joint_rate(b, qd), way = side && !smooth ? (r < 0 ? -1.0 : 1.0) * side[b->joint.v] : rate;
    const lane sharp = lane_sign(way); /* the value that sense_of() has, computed here because GCC 12 cannot compile the
                                          comparison of sense_of() for two lanes */
    friction_sense sense = sense_of(&b->joint.friction, way);
    if (!smooth) sense.value = sharp;
    to->value += coordinate_effort(b, friction_effort_of(&b->joint.friction, rate, sense.value));
    to->slope += r * r * joint_friction_slope(b, rate);
    to->curvature += r * r * r * joint_friction_slope_rate(b, rate, lane_of(1));
    to->factor += (r < 0 ? -load : load) * sense.value;
    to->factor_slope += load * size * sense.slope;
    to->factor_curvature += load * size * r * sense.curvature;
}

/* Sets the friction of all coordinates at qd; NULL means zeros. `side` is the sense of the sharp friction of joints and
 * their motors, 1, -1 or 0 for each coordinate; NULL: the sign of qd. */
static inline void load_friction_set_sides(const dyn_model *m, const lane *qd, const lane *side, load_friction *of)
{
    for (int v = 0; v < m->nv; v++)
        of[v] = (load_friction){.value = lane_of(0)};
    for (size_t i = 0; i < m->n_bodies; i++)
        if (m->body[i].joint.has_friction) load_friction_add(&m->body[i], qd, side, &of[m->body[i].joint.v]);
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d        = &m->drive[k];
        const lane       friction = friction_effort(&d->friction, drive_sum(d, qd));
        for (size_t j = 0; j < d->n; j++)
            of[d->joint[j]].value = add_mul(of[d->joint[j]].value, d->weight[j], friction);
    }
}
static inline void load_friction_set(const dyn_model *m, const lane *qd, load_friction *of)
{
    load_friction_set_sides(m, qd, NULL, of);
}

/* Returns the load factor a = d tau / d T = 1 + g sign(T). */
LANE_INLINE lane load_factor(const load_friction *f, lane T)
{
    return add_mul(1.0, f->factor, lane_sign(T));
}
/* Returns the effort tau = T + f + g |T| from the effort T without friction. */
LANE_INLINE lane load_effort(const load_friction *f, lane T)
{
    return add_mul(T + f->value, f->factor, lane_abs(T));
}
/* Returns the effort T without friction from tau. */
LANE_INLINE lane load_transmitted(const load_friction *f, lane tau)
{
    const lane net = tau - f->value;
    return net / load_factor(f, net);
}
/* The derivative of the friction of joint and motor with respect to the coordinate's own velocity at constant T, and
 * the derivative of this slope. */
LANE_INLINE lane load_slope(const load_friction *f, lane T)
{
    return add_mul(f->slope, f->factor_slope, lane_abs(T));
}
LANE_INLINE lane load_curvature(const load_friction *f, lane T)
{
    return add_mul(f->curvature, f->factor_curvature, lane_abs(T));
}
/* Time derivatives of the load factor a, and of the slope; T_dot and qdd are the time derivatives of T and qd. */
LANE_INLINE lane load_factor_rate(const load_friction *f, lane T, lane qdd)
{
    return f->factor_slope * qdd * lane_sign(T);
}
LANE_INLINE lane load_slope_rate(const load_friction *f, lane T, lane T_dot, lane qdd)
{
    return add_mul(load_curvature(f, T) * qdd, f->factor_slope * lane_sign(T), T_dot);
}
/* Adds dtau/dqd at constant T to an nv x nv matrix or, if `transmitted`, -dT/dqd at constant tau. */
static inline void load_add_slopes(const dyn_model *m, const load_friction *of, const lane *T, const lane *qd,
                                   bool transmitted, lane *matrix)
{
    const size_t nv = (size_t)m->nv;
    for (size_t v = 0; v < nv; v++)
        matrix[v * nv + v] += load_slope(&of[v], T[v]) / (transmitted ? load_factor(&of[v], T[v]) : lane_of(1));
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d     = &m->drive[k];
        const lane       slope = friction_slope(&d->friction, drive_sum(d, qd));
        for (size_t i = 0; i < d->n; i++) {
            const size_t v     = (size_t)d->joint[i];
            const lane   share = slope / (transmitted ? load_factor(&of[v], T[v]) : lane_of(1));
            for (size_t j = 0; j < d->n; j++) {
                lane *entry = &matrix[v * nv + (size_t)d->joint[j]];
                *entry      = add_mul(*entry, d->weight[i] * d->weight[j], share);
            }
        }
    }
}
