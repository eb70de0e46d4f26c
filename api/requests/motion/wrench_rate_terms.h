/* wrench_rate_terms.h - add the terms of wrenches that change with time to derivatives along a motion.
 *
 * External wrenches W contribute tau_w(q, W) = -J^T W to tau: the inverse dynamics of the robot at rest without
 * gravity, friction and springs. If W changes with time, tau_dot contains tau_w(q, W'). The derivatives then contain
 * these terms beside those of a constant W, with dW/dT and dW'/dT of motion.h:
 *
 *     d tau / dT      tau_w(q, dW/dT)
 *     d tau_dot / dq  (d tau_w / dq)(q, W')
 *     d tau_dot / dT  (d tau_w / dq)(q, dW/dT) qd + tau_w(q, dW'/dT)
 *
 * With friction that depends on the load, these are terms of the efforts without friction. The terms of tau and tau_dot
 * are then multiplied by a = dtau/d(effort without friction) (dynamics/friction_map.h), and the derivative a' of a with
 * respect to qd adds
 *
 *     d tau_dot / dqd  the diagonal of a' tau_w(q, W'),
 *     d tau_dot / dT   a' qdd tau_w(q, dW/dT). */
#pragma once
#include "api/requests/evaluate/mimic_efforts.h"
#include "motion.h"

/* The terms of one block of states. The scene has external wrenches only, without gravity, friction and springs. The
 * arrays are lanes in memory of the caller; each comment begins with the numbers per state. */
typedef struct api_wrench_terms {
    const api_evaluation *e;
    dyn_scene             scene;
    size_t                block;
    const api_mimics     *followers; /* mimic joints whose efforts are after those of the coordinates */
    size_t                rows;      /* nv plus the number of these mimic joints */
    double               *follower_room;
    double               *wrenches; /* 9 for each wrench: force, torque, point */
    double               *by[3]; /* rows x nv: derivatives of the wrenches' torques tau_w with respect to q, qd, qdd */
    double               *tau;   /* rows: torques tau_w of the wrenches */
    double               *load[2];        /* nv: a and a'; not set if friction does not depend on the load */
    double               *joint_wrenches; /* 6 x bodies: joint wrenches caused by the wrenches */
} api_wrench_terms;

/* Derivatives of the results of one block with respect to the duration T, at constant q, qd, qdd and qddd, which the
 * derivatives of the spline do not contain: wrenches and efforts may depend on T. In lanes; NULL: not wanted. */
typedef struct api_duration_terms {
    double *tau, *tau_dot, *qdd; /* nv, tau and tau_dot with mimic joints after; qdd: with free coordinates */
    double *joint_wrenches;      /* 6 bodies */
} api_duration_terms;

/* api_wrench_terms_entries returns the numbers per state that the arrays need; api_wrench_terms_lay_out lays them out
 * in the lanes `room`, which have this size. */
size_t           api_wrench_terms_entries(const api_model *model, size_t n_wrenches, const api_mimics *followers);
api_wrench_terms api_wrench_terms_lay_out(const api_evaluation *e, size_t block, const api_mimics *followers,
                                          double *room);

/* Sets p->load, the factors a and a'. Call it before the other functions. */
void api_wrench_terms_find_load(api_wrench_terms *p);

/* Adds the terms of wrenches to d tau_dot / dq and d tau_dot / dqd, rows x nv in lanes. */
void api_wrench_terms_add_by_state(api_wrench_terms *p, double *dtau_dot_dq, double *dtau_dot_dqd);

/* Adds the terms of wrenches to the derivatives with respect to the duration, except that of qdd. */
void api_wrench_terms_add_by_duration(api_wrench_terms *p, const api_motion *motion,
                                      const api_duration_terms *by_duration);
