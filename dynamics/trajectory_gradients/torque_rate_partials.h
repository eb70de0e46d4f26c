/* torque_rate_partials.h - differentiates tau_dot with respect to the state.
 *
 * With dtau_dq, dtau_dqd and dtau_dqdd the derivatives of tau, and ' for the time derivatives of their entries, tau_dot
 * has the partial derivatives
 *
 *     dtau_dot/dq = dtau_dq' + dtau_dq A,  dtau_dot/dqd = dtau_dqd' + dtau_dq,
 *     dtau_dot/dqdd = dtau_dqdd' + dtau_dqd,  dtau_dot/dqddd = dtau_dqdd.
 *
 * A is zero for joints of one coordinate. At a joint with a quaternion, directions e of derivatives with respect to q
 * are velocities in moving axes, and such derivatives do not commute: A e is the Lie bracket of e and the joint's
 * velocity u. The bracket is e x u at a spherical joint, and (e_w x u_v + e_v x u_w, e_w x u_w) at a floating one, with
 * linear parts v and angular parts w. */
#pragma once
#include "motion_chain.h"

/* Completes the partial derivatives of tau_dot at the states of a block, for all rate->rows rows. On entry
 * rate->by[0] to [2] hold the time derivatives of the matrices of tau; rate->by[3] becomes tau->by[2]. qd has nv
 * numbers per state. */
void dyn_torque_rate_partials(const dyn_motion_block *b, const double *qd, const dyn_partials *tau, dyn_partials *rate);
