/* load_friction.h - computes friction that grows with the load of a joint, its inverse and its derivatives.
 *
 * Hamon, Gautier & Garrec (2010), "Dynamic identification of robots with a dry friction model depending on load and
 * velocity". T is the effort of a coordinate without friction: rigid bodies, rotor, springs and external wrenches. With
 * f(qd) the friction that does not depend on the load, and g(qd) the sum of load sense(qd) over joint and motor,
 *
 *     tau = T + f + g |T|,  and, since |g| < 1,  T = (tau - f) / (1 + g sign(tau - f)).
 *
 * With a = 1 + g sign(T) a derivative of tau is a dT, plus f' + g' |T| by the coordinate's own velocity. |T| has a kink
 * at T = 0: its derivative is that of the side of T, and 0 at T = 0. */
#pragma once
#include "joint_forces.h"

/* Friction of one coordinate at a velocity, with derivatives by it: value + factor |T|. */
typedef struct load_friction {
    lane value, slope, curvature;
    lane factor, factor_slope, factor_curvature;
} load_friction;

/* True if friction depends on the load in this scene. */
LANE_INLINE bool scene_has_load(const dyn_scene *scene)
{
    return scene->model->has_load && (scene->terms & DYN_FRICTION);
}

/* The scene that gives T. */
LANE_INLINE dyn_scene scene_without_friction(const dyn_scene *scene)
{
    dyn_scene rigid = *scene;
    rigid.terms &= ~(unsigned)DYN_FRICTION;
    return rigid;
}

/* Adds the friction of a joint or motor at its rate r qd. The effort is r times that at the joint, and so is |T|:
 * r (load |T / r| sense(r qd)). */
LANE_INLINE void load_friction_add(const dyn_body *b, const lane *qd, load_friction *to)
{
    const double r = b->joint.ratio, size = r < 0 ? -r : r, load = b->joint.friction.load;
    const lane   rate = joint_rate(b, qd);
    to->value += coordinate_effort(b, joint_friction(b, rate));
    to->slope += r * r * joint_friction_slope(b, rate);
    to->curvature += r * r * r * joint_friction_slope_rate(b, rate, lane_of(1));
    const friction_sense sense = sense_of(&b->joint.friction, rate);
    to->factor += (r < 0 ? -load : load) * sense.value;
    to->factor_slope += load * size * sense.slope;
    to->factor_curvature += load * size * r * sense.curvature;
}

/* Sets the friction of all coordinates at qd; NULL means zeros. */
static inline void load_friction_set(const dyn_model *m, const lane *qd, load_friction *of)
{
    for (int v = 0; v < m->nv; v++)
        of[v] = (load_friction){.value = lane_of(0)};
    for (size_t i = 0; i < m->n_bodies; i++)
        if (m->body[i].joint.has_friction) load_friction_add(&m->body[i], qd, &of[m->body[i].joint.v]);
}

/* d tau / d T = a */
LANE_INLINE lane load_factor(const load_friction *f, lane T)
{
    return add_mul(1.0, f->factor, lane_sign(T));
}
/* tau from T. */
LANE_INLINE lane load_effort(const load_friction *f, lane T)
{
    return add_mul(T + f->value, f->factor, lane_abs(T));
}
/* T from tau. */
LANE_INLINE lane load_transmitted(const load_friction *f, lane tau)
{
    const lane net = tau - f->value;
    return net / load_factor(f, net);
}
/* The derivative of friction by the coordinate's own velocity at constant T, and the derivative of that. */
LANE_INLINE lane load_slope(const load_friction *f, lane T)
{
    return add_mul(f->slope, f->factor_slope, lane_abs(T));
}
LANE_INLINE lane load_curvature(const load_friction *f, lane T)
{
    return add_mul(f->curvature, f->factor_curvature, lane_abs(T));
}
/* Time derivatives of a, and of the slope: T_dot and qdd are those of T and qd. */
LANE_INLINE lane load_factor_rate(const load_friction *f, lane T, lane qdd)
{
    return f->factor_slope * qdd * lane_sign(T);
}
LANE_INLINE lane load_slope_rate(const load_friction *f, lane T, lane T_dot, lane qdd)
{
    return add_mul(load_curvature(f, T) * qdd, f->factor_slope * lane_sign(T), T_dot);
}
