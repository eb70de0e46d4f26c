/* joint_forces.h - computes forces within a joint: friction, a spring, and the elasticity between joint and motor.
 *
 * Friction and spring depend on the joint's own position s and rate sd, not on the coordinate q (joint.h). All efforts
 * are terms on the left side of the equation of motion; tau must balance them. */
#pragma once
#include "joint.h"

/* Friction effort of a joint: viscous sd + coulomb(sd) */
LANE_INLINE lane joint_friction(const dyn_body *b, lane sd)
{
    const dyn_friction *f         = &b->joint.friction;
    lane                magnitude = lane_select(lane_less(sd, lane_of(0)), lane_of(f->negative), lane_of(f->positive));
    lane                sense     = f->coulomb_velocity > 0 ? lane_tanh(sd / f->coulomb_velocity) : lane_sign(sd);
    return add_mul(magnitude * sense, f->viscous, sd);
}
/* Spring effort of a joint: stiffness (s - rest) + damping sd */
LANE_INLINE lane joint_spring(const dyn_body *b, lane s, lane sd)
{
    return add_mul(b->joint.spring.damping * sd, b->joint.spring.stiffness, s - b->joint.spring.rest);
}
/* Friction and spring effort at the joint, as far as the scene's terms include them. */
LANE_INLINE lane joint_passive(const dyn_body *b, unsigned terms, const lane *q, const lane *qd)
{
    lane effort = lane_of(0);
    if (b->joint.has_friction && (terms & DYN_FRICTION)) effort += joint_friction(b, joint_rate(b, qd));
    if (b->joint.has_spring && (terms & DYN_SPRINGS))
        effort += joint_spring(b, joint_position(b, q), joint_rate(b, qd));
    return effort;
}
/* d friction / d sd. The derivative of sign() is taken as zero; that of tanh(sd / v) is (1 - tanh^2) / v. */
LANE_INLINE lane joint_friction_slope(const dyn_body *b, lane sd)
{
    const dyn_friction *f = &b->joint.friction;
    if (!(f->coulomb_velocity > 0)) return lane_of(f->viscous);
    lane magnitude = lane_select(lane_less(sd, lane_of(0)), lane_of(f->negative), lane_of(f->positive));
    lane t         = lane_tanh(sd / f->coulomb_velocity);
    return add_mul(f->viscous, magnitude, sub_mul(1.0, t, t) / f->coulomb_velocity);
}
/* Time derivative of d friction / d sd. Only tanh contributes: (1 - tanh^2)' = -2 tanh tanh'. */
LANE_INLINE lane joint_friction_slope_rate(const dyn_body *b, lane sd, lane sdd)
{
    const dyn_friction *f = &b->joint.friction;
    if (!(f->coulomb_velocity > 0)) return lane_of(0);
    lane magnitude = lane_select(lane_less(sd, lane_of(0)), lane_of(f->negative), lane_of(f->positive));
    lane t         = lane_tanh(sd / f->coulomb_velocity);
    return -2.0 * magnitude * t * (sub_mul(1.0, t, t) / f->coulomb_velocity) * (sdd / f->coulomb_velocity);
}
/* Time derivative of the friction and spring effort at the joint, as far as the scene's terms include them. */
LANE_INLINE lane joint_passive_rate(const dyn_body *b, unsigned terms, const lane *qd, const lane *qdd)
{
    lane sd = joint_rate(b, qd), sdd = joint_rate(b, qdd), rate = lane_of(0);
    if (b->joint.has_friction && (terms & DYN_FRICTION)) rate = add_mul(rate, joint_friction_slope(b, sd), sdd);
    if (b->joint.has_spring && (terms & DYN_SPRINGS))
        rate += add_mul(b->joint.spring.damping * sdd, b->joint.spring.stiffness, sd);
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
