/* drive_forces.h - computes the efforts of the motors of coupled transmissions (dyn_drive), with their derivatives.
 *
 * A motor has the rate sd = w . qd with constant weights w, rotor inertia J and friction f(sd). Its effort at the
 * joints and the derivatives are
 *
 *     tau = w (J sdd + f),  dtau/dqdd = J w w^T,  dtau/dqd = f' w w^T,  tau' = w (J sddd + f' sdd).
 *
 * The inertia is constant, so it adds no Coriolis term. */
#pragma once
#include "joint_forces.h"

/* Returns w . x for an array x with an entry per velocity coordinate, the motor's rate sd, sdd or sddd from qd, qdd or
 * qddd. NULL means zeros. */
LANE_INLINE lane drive_sum(const dyn_drive *d, const lane *x)
{
    lane sum = lane_of(0);
    for (size_t j = 0; x && j < d->n; j++)
        sum = add_mul(sum, d->weight[j], x[d->joint[j]]);
    return sum;
}

/* Adds w * effort to tau: the effort of a motor at its joints. Entry v of tau is at tau[v * stride]. */
LANE_INLINE void drive_put(const dyn_drive *d, lane effort, size_t stride, lane *tau)
{
    for (size_t j = 0; j < d->n; j++) {
        lane *entry = &tau[(size_t)d->joint[j] * stride];
        *entry      = add_mul(*entry, d->weight[j], effort);
    }
}

/* Adds x w w^T to a matrix A, nv x nv, with the weights w of the motor. */
LANE_INLINE void drive_put_square(const dyn_drive *d, size_t nv, lane x, lane *A)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t j = 0; j < d->n; j++) {
            lane *entry = &A[(size_t)d->joint[i] * nv + (size_t)d->joint[j]];
            *entry      = add_mul(*entry, d->weight[i] * d->weight[j], x);
        }
}

static inline bool drive_has_friction(const dyn_scene *scene)
{
    return scene->terms & DYN_FRICTION;
}

/* Adds the efforts of all motors to tau (nv). qd, qdd NULL: zeros. */
static inline void drives_add(const dyn_scene *scene, const lane *qd, const lane *qdd, lane *tau)
{
    for (size_t k = 0; k < scene->model->n_drives; k++) {
        const dyn_drive *d      = &scene->model->drive[k];
        lane             effort = d->rotor_inertia * drive_sum(d, qdd);
        if (drive_has_friction(scene)) effort += friction_effort(&d->friction, drive_sum(d, qd));
        drive_put(d, effort, 1, tau);
    }
}

/* Adds the friction of all motors only. */
static inline void drives_add_friction(const dyn_scene *scene, const lane *qd, lane *tau)
{
    for (size_t k = 0; drive_has_friction(scene) && k < scene->model->n_drives; k++) {
        const dyn_drive *d = &scene->model->drive[k];
        drive_put(d, friction_effort(&d->friction, drive_sum(d, qd)), 1, tau);
    }
}

/* Adds the time derivatives of the friction of all motors only. */
static inline void drives_add_friction_rates(const dyn_scene *scene, const lane *qd, const lane *qdd, lane *tau_dot)
{
    for (size_t k = 0; drive_has_friction(scene) && k < scene->model->n_drives; k++) {
        const dyn_drive *d = &scene->model->drive[k];
        drive_put(d, friction_slope(&d->friction, drive_sum(d, qd)) * drive_sum(d, qdd), 1, tau_dot);
    }
}

/* Adds the time derivatives of the efforts of all motors. */
static inline void drives_add_rates(const dyn_scene *scene, const lane *qd, const lane *qdd, const lane *qddd,
                                    lane *tau_dot)
{
    for (size_t k = 0; k < scene->model->n_drives; k++) {
        const dyn_drive *d    = &scene->model->drive[k];
        lane             rate = d->rotor_inertia * drive_sum(d, qddd);
        if (drive_has_friction(scene))
            rate = add_mul(rate, friction_slope(&d->friction, drive_sum(d, qd)), drive_sum(d, qdd));
        drive_put(d, rate, 1, tau_dot);
    }
}

/* Adds the rates of the derivatives of multipliers . friction with respect to qd, along the direction `along` of qd. */
static inline void drives_add_slope_rates(const dyn_model *m, const lane *qd, const lane *along,
                                          const lane *multipliers, lane *by_qd)
{
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d    = &m->drive[k];
        const lane       rate = friction_slope_rate(&d->friction, drive_sum(d, qd), drive_sum(d, along));
        drive_put(d, rate * drive_sum(d, multipliers), 1, by_qd);
    }
}

/* Adds J w w^T of all motors to the mass matrix M (nv x nv). */
static inline void drives_add_inertia(const dyn_model *m, lane *M)
{
    for (size_t k = 0; k < m->n_drives; k++)
        drive_put_square(&m->drive[k], (size_t)m->nv, lane_of(m->drive[k].rotor_inertia), M);
}

/* Adds the second derivatives of multipliers . friction with respect to the rates to an nv x nv matrix. */
static inline void drives_add_friction_curvature(const dyn_model *m, const lane *qd, const lane *multipliers,
                                                 lane *qd_qd)
{
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d         = &m->drive[k];
        const lane       curvature = friction_slope_rate(&d->friction, drive_sum(d, qd), lane_of(1));
        drive_put_square(d, (size_t)m->nv, drive_sum(d, multipliers) * curvature, qd_qd);
    }
}
