/* hessian.h - declares the kernels of second derivatives of inverse and forward dynamics.
 *
 * Arrays, lanes and blocks of the kernels follow the rules of dynamics.h. */
#pragma once
#include "dynamics.h"

/* Second derivatives of tau, contracted with multipliers m: entry (j, k) of x_y, such as q_qd, is the derivative with
 * respect to y_k of the derivative of m . tau with respect to x_j. Derivatives with respect to q are taken along the
 * directions of dyn_sensitivity; in q_q, those of one joint with a quaternion do not commute. qd_qdd is zero except for
 * rows of coordinates with friction that depends on the load; second derivatives with respect to qdd twice are zero.
 * Results that are NULL are not computed. */
typedef struct dyn_hessian {
    const double *q, *qd, *qdd, *wrenches;
    const double *multipliers;   /* nv; NULL: each result has nv matrices, and matrix i has the derivatives of tau_i */
    bool          zeros_are_set; /* true: the results below already hold those of another state, see dyn_mass_matrix */
    double       *q_q, *q_qd, *q_qdd, *qd_qd, *qd_qdd; /* nv x nv, or nv x nv x nv */
} dyn_hessian;

/* Second derivatives of qdd, contracted with multipliers m, as in dyn_hessian: those of m . qdd with respect to q, qd
 * and tau. qd_tau is zero without friction that depends on the load; second derivatives with respect to tau twice are
 * zero. */
typedef struct dyn_forward_hessian {
    const double *q, *qd, *tau, *wrenches;
    const double *multipliers; /* nv; NULL: each result has nv matrices, and matrix i has the derivatives of qdd_i */
    size_t        first, n;    /* only without multipliers: the n matrices from number `first` on are computed */
    double       *q_q, *q_qd, *qd_qd, *q_tau, *qd_tau; /* nv x nv, or nv x nv x nv */
    double       *work;     /* dyn_forward_hessian_work() per state, for all blocks; not NULL */
    double       *singular; /* 1: first body whose pivot of M is zero up to rounding, or -1 */
} dyn_forward_hessian;

/* Returns the number of doubles per state of `work` of dyn_forward_hessian. */
static inline size_t dyn_forward_hessian_work(const dyn_model *model)
{
    return ((model->has_load ? 6 : 5) * (size_t)model->nv + 2) * (size_t)model->nv;
}
