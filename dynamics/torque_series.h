/* torque_series.h - declares the kernel that computes tau with its time derivatives of any order.
 *
 * Arrays, lanes and blocks of the kernel follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

enum { DYN_MAX_DERIVATIVE = 24 /* highest order of a time derivative of q */ };

/* Inverse dynamics along a motion, with all terms of the scene. The given components of wrenches, and their points, are
 * constant; sharp Coulomb friction has the derivative 0. */
typedef struct dyn_torque_series {
    int           order;  /* order of the highest derivative of tau, 0 to DYN_MAX_DERIVATIVE - 2 */
    const double *motion; /* nq + (order + 2) nv: q, qd, qdd, ... up to derivative order + 2; must not be NULL */
    const double *wrenches;
    double       *tau;  /* (order + 1) x nv: tau and its time derivatives; must not be NULL */
    double       *work; /* dyn_torque_series_work() per state, for all blocks; not NULL */
} dyn_torque_series;

enum { DYN_BODY_SERIES = 21, DYN_SCRATCH_SERIES = 21 }; /* series in `work`: of each body and the world, for scratch */

/* Returns the number of doubles per state of `work` of dyn_torque_series. */
static inline size_t dyn_torque_series_work(const dyn_model *model, int order)
{
    return (DYN_BODY_SERIES * (model->n_bodies + 1) + DYN_SCRATCH_SERIES) * (size_t)(order + 3);
}
