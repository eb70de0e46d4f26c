/* joint_forces.h - computes forces within a joint: friction, a spring, and the elasticity between joint and motor.
 *
 * Friction and spring depend on the joint's own position s and rate sd, not on the coordinate q (joint.h). All efforts
 * are terms on the left side of the equation of motion; tau must balance them. */
#pragma once
#include "joint.h"

/* coulomb_magnitude is the magnitude for the direction of motion, stribeck_excess what Stribeck's curve adds to it at
 * the rate sd: (breakaway - coulomb) exp(-(sd / stribeck_velocity)^2). */
LANE_INLINE lane coulomb_magnitude(const dyn_friction *f, lane sd)
{
    return lane_select(lane_less(sd, lane_of(0)), lane_of(f->negative), lane_of(f->positive));
}
LANE_INLINE lane stribeck_excess_of(const dyn_friction *f, lane sd, lane sense)
{
    lane at_rest = lane_select(lane_less(sense, lane_of(0)), lane_of(f->breakaway_negative - f->negative),
                               lane_of(f->breakaway_positive - f->positive));
    return at_rest * lane_gauss(sd / f->stribeck_velocity);
}
LANE_INLINE lane stribeck_excess(const dyn_friction *f, lane sd)
{
    return stribeck_excess_of(f, sd, sd);
}
/* Returns the friction effort for a given sense of motion (friction_sense): viscous sd + magnitude(sd) sense. */
LANE_INLINE lane friction_effort_of(const dyn_friction *f, lane sd, lane sense)
{
    lane magnitude = coulomb_magnitude(f, sense);
    if (f->stribeck_velocity > 0) magnitude += stribeck_excess_of(f, sd, sense);
    return add_mul(magnitude * sense, f->viscous, sd);
}
/* Returns the friction effort at the rate sd: viscous sd + magnitude(sd) sense(sd). */
LANE_INLINE lane friction_effort(const dyn_friction *f, lane sd)
{
    return friction_effort_of(f, sd, f->coulomb_velocity > 0 ? lane_tanh(sd / f->coulomb_velocity) : lane_sign(sd));
}
LANE_INLINE lane joint_friction(const dyn_body *b, lane sd)
{
    return friction_effort(&b->joint.friction, sd);
}
/* Returns the spring effort of a joint at position s and rate sd: stiffness x + damping sd with x = s - rest, and the
 * terms with higher powers of dyn_spring. */
LANE_INLINE lane joint_spring(const dyn_body *b, lane s, lane sd)
{
    const dyn_spring *k = &b->joint.spring;
    const lane        x = s - k->rest, linear = add_mul(k->damping * sd, k->stiffness, x);
    if (!b->joint.has_nonlinear_spring) return linear;
    const lane of_spring = x * x * add_mul(lane_of(k->stiffness2), k->stiffness3, x);
    return linear + of_spring + sd * sd * add_mul(k->damping2 * lane_sign(sd), k->damping3, sd);
}
/* Derivatives of the spring effort with respect to s and to sd, and the derivative of each of these with respect to the
 * same argument. The derivative of sign(sd) is taken as zero, like that of friction. */
typedef struct spring_slopes {
    lane by_s, by_sd;
} spring_slopes;
LANE_INLINE spring_slopes joint_spring_slopes(const dyn_body *b, const lane *q, const lane *qd)
{
    const dyn_spring *k = &b->joint.spring;
    spring_slopes     c = {lane_of(k->stiffness), lane_of(k->damping)};
    if (!b->joint.has_nonlinear_spring) return c;
    const lane x = joint_position(b, q) - k->rest, v = joint_rate(b, qd);
    c.by_s  = add_mul(c.by_s, x, add_mul(lane_of(2 * k->stiffness2), 3 * k->stiffness3, x));
    c.by_sd = add_mul(c.by_sd, v, add_mul(2 * k->damping2 * lane_sign(v), 3 * k->damping3, v));
    return c;
}
LANE_INLINE spring_slopes joint_spring_curvatures(const dyn_body *b, const lane *q, const lane *qd)
{
    const dyn_spring *k = &b->joint.spring;
    const lane        x = joint_position(b, q) - k->rest, v = joint_rate(b, qd);
    return (spring_slopes){add_mul(lane_of(2 * k->stiffness2), 6 * k->stiffness3, x),
                           add_mul(2 * k->damping2 * lane_sign(v), 6 * k->damping3, v)};
}
/* Adds the second derivatives of u . (spring effort), where u are the multipliers, to matrices nv x nv. They are
 * nonzero for springs with coefficients of higher powers. NULL: not wanted. */
static inline void springs_add_curvatures(const dyn_scene *scene, const lane *q, const lane *qd,
                                          const lane *multipliers, lane *q_q, lane *qd_qd)
{
    const dyn_model *m = scene->model;
    for (size_t i = m->floating; (scene->terms & DYN_SPRINGS) && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.has_nonlinear_spring) continue;
        const spring_slopes c    = joint_spring_curvatures(b, q, qd);
        const size_t        e    = (size_t)b->joint.v * (size_t)(m->nv + 1);
        const double        cube = b->joint.ratio * b->joint.ratio * b->joint.ratio;
        if (q_q) q_q[e] += cube * multipliers[b->joint.v] * c.by_s;
        if (qd_qd) qd_qd[e] += cube * multipliers[b->joint.v] * c.by_sd;
    }
}

/* Returns the friction and spring effort at the joint, as far as the scene's terms include them. */
LANE_INLINE lane joint_passive(const dyn_body *b, unsigned terms, const lane *q, const lane *qd)
{
    lane effort = lane_of(0);
    if (b->joint.has_friction && (terms & DYN_FRICTION)) effort += joint_friction(b, joint_rate(b, qd));
    if (b->joint.has_spring && (terms & DYN_SPRINGS))
        effort += joint_spring(b, joint_position(b, q), joint_rate(b, qd));
    return effort;
}
/* The sense of the motion as a function of sd with its derivatives: sign(sd), whose derivatives are taken as zero, or t
 * = tanh(sd / v), with t' = (1 - t^2) / v and t'' = -2 t t' / v. */
typedef struct friction_sense {
    lane value, slope, curvature;
} friction_sense;
LANE_INLINE friction_sense sense_of(const dyn_friction *f, lane sd)
{
    if (!(f->coulomb_velocity > 0)) return (friction_sense){lane_sign(sd), lane_of(0), lane_of(0)};
    lane t = lane_tanh(sd / f->coulomb_velocity), slope = sub_mul(1.0, t, t) / f->coulomb_velocity;
    return (friction_sense){t, slope, -2.0 * t * (slope / f->coulomb_velocity)};
}
/* Returns d friction / d sd = viscous + magnitude sense' + magnitude' sense. With the excess x and u = sd /
 * stribeck_velocity, magnitude' = -2 u x / stribeck_velocity. */
LANE_INLINE lane friction_slope(const dyn_friction *f, lane sd)
{
    if (!(f->coulomb_velocity > 0) && !(f->stribeck_velocity > 0)) return lane_of(f->viscous);
    friction_sense sense = sense_of(f, sd);
    lane           slope = add_mul(f->viscous, coulomb_magnitude(f, sd), sense.slope);
    if (!(f->stribeck_velocity > 0)) return slope;
    lane x = stribeck_excess(f, sd), u = sd / f->stribeck_velocity;
    return add_mul(slope, x, sub_mul(sense.slope, 2.0 * u, sense.value / f->stribeck_velocity));
}
LANE_INLINE lane joint_friction_slope(const dyn_body *b, lane sd)
{
    return friction_slope(&b->joint.friction, sd);
}
/* Time derivative of d friction / d sd: (magnitude sense'' + 2 magnitude' sense' + magnitude'' sense) sdd, where
 * magnitude'' = (4 u^2 - 2) x / stribeck_velocity^2. */
LANE_INLINE lane friction_slope_rate(const dyn_friction *f, lane sd, lane sdd)
{
    if (!(f->coulomb_velocity > 0) && !(f->stribeck_velocity > 0)) return lane_of(0);
    friction_sense sense     = sense_of(f, sd);
    lane           curvature = coulomb_magnitude(f, sd) * sense.curvature;
    if (f->stribeck_velocity > 0) {
        lane u = sd / f->stribeck_velocity, by_rate = 1.0 / f->stribeck_velocity - lane_of(0);
        lane both = sub_mul(sense.curvature, 4.0 * u, sense.slope * by_rate);
        curvature = add_mul(curvature, stribeck_excess(f, sd),
                            add_mul(both, sub_mul(4.0 * u * u, 2.0, lane_of(1)), sense.value * by_rate * by_rate));
    }
    return curvature * sdd;
}
LANE_INLINE lane joint_friction_slope_rate(const dyn_body *b, lane sd, lane sdd)
{
    return friction_slope_rate(&b->joint.friction, sd, sdd);
}
/* Returns the rate, along a direction, of the friction and spring effort at the joint, as far as the scene's terms
 * include them. */
LANE_INLINE lane joint_passive_rate(const dyn_body *b, unsigned terms, const lane *q, const lane *qd, direction along)
{
    lane g = joint_rate(b, along.qd), rate = lane_of(0);
    if (b->joint.has_friction && (terms & DYN_FRICTION))
        rate = add_mul(rate, joint_friction_slope(b, joint_rate(b, qd)), g);
    if (b->joint.has_spring && (terms & DYN_SPRINGS)) {
        const spring_slopes c = joint_spring_slopes(b, q, qd);
        rate += add_mul(c.by_sd * g, c.by_s, joint_rate(b, along.q));
    }
    return rate;
}

/* --- elastic joints ------------------------------------------------------------------------------------------- */

/* Effort of an elastic joint, R = stiffness (q - theta - rest) + damping (qd - theta_d), and its time derivative. */
LANE_INLINE lane coupling_effort(const dyn_coupling *c, const lane *q, const lane *qd)
{
    lane effort = c->spring.stiffness * (q[c->q] - q[c->theta] - c->spring.rest);
    return qd ? add_mul(effort, c->spring.damping, qd[c->v] - qd[c->v_theta]) : effort;
}
LANE_INLINE lane coupling_effort_rate(const dyn_coupling *c, const lane *qd, const lane *qdd)
{
    lane rate = qd ? c->spring.stiffness * (qd[c->v] - qd[c->v_theta]) : lane_of(0);
    return qdd ? add_mul(rate, c->spring.damping, qdd[c->v] - qdd[c->v_theta]) : rate;
}
/* Adds `sign` times the effort R of each elastic joint to tau of the joint's coordinate, and subtracts it from tau of
 * the motor coordinate. */
LANE_INLINE void couplings_add(const dyn_scene *scene, const lane *q, const lane *qd, double sign, lane *tau)
{
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c = &scene->model->coupling[i];
        lane                R = sign * coupling_effort(c, q, qd);
        tau[c->v] += R;
        tau[c->v_theta] -= R;
    }
}
LANE_INLINE void couplings_add_rates(const dyn_scene *scene, const lane *qd, const lane *qdd, lane *tau_dot)
{
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < scene->model->n_couplings; i++) {
        const dyn_coupling *c = &scene->model->coupling[i];
        lane                R = coupling_effort_rate(c, qd, qdd);
        tau_dot[c->v] += R;
        tau_dot[c->v_theta] -= R;
    }
}
