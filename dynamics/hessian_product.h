/* hessian_product.h - declares the kernels of Hessian-vector products of inverse dynamics, of forward dynamics and of
 * one step of integration: rates of gradients along directions, without computing matrices.
 *
 * Arrays, lanes and blocks follow the rules of dynamics.h. Directions are those of directional.h, gradients those of
 * gradient.h. Wrenches in their axes, their points, and multipliers without given rates are constant. So entry j of a
 * product is the sum over k of entry (j, k) of a matrix of dyn_hessian times entry k of the direction. Gradients and
 * directions by a joint with a quaternion are along its axes, which rotate with the body: derivatives along two of
 * these axes do not commute. */
#pragma once
#include "directional.h"
#include "gradient.h"

/* Rates of the gradients of dyn_gradient along n directions of q, qd and qdd. */
typedef struct dyn_hessian_product {
    const double *q, *qd, *qdd, *wrenches;
    const double *multipliers; /* nv; must not be NULL */
    size_t        n;
    const double *direction_q, *direction_qd, *direction_qdd; /* n x nv; NULL: zero */
    double       *product_q, *product_qd, *product_qdd;       /* n x nv; must not be NULL */
} dyn_hessian_product;

/* Rates of the gradients of dyn_forward_gradient along n directions of q, qd and tau. */
typedef struct dyn_forward_hessian_product {
    const double *q, *qd, *tau, *wrenches;
    const double *multipliers; /* nv; must not be NULL */
    size_t        n;
    const double *direction_q, *direction_qd, *direction_tau; /* n x nv; NULL: zero */
    const double *multiplier_rates;                           /* n x nv: rates of the multipliers; NULL: zero */
    double       *product_q, *product_qd, *product_tau;       /* n x nv; must not be NULL */
    double       *rates;                                      /* n x nv: rates of qdd; must not be NULL */
    double       *qdd;                                        /* nv; must not be NULL */
    double       *singular; /* 1: first body whose pivot of M is zero up to rounding, or -1. May be NULL */
} dyn_forward_hessian_product;

/* Rates of the gradients of dyn_step_gradient along n directions of q, qd and tau. The multipliers have rates of their
 * own: the gradient of a cost with respect to the state after the step changes with this state. */
typedef struct dyn_step_hessian_product {
    dyn_step_gradient gradient; /* all its arrays are used; its method is not DYN_IMPLICIT_EULER */
    size_t            n;
    const double     *direction_q, *direction_qd, *direction_tau; /* n x nv; NULL: zero */
    const double     *multiplier_rates_q, *multiplier_rates_qd;   /* n x nv; must not be NULL */
    double           *product_q, *product_qd, *product_tau;       /* n x nv; must not be NULL */
    double
        *work; /* scratch of one block: `lanes` times dyn_step_tangent_work(); not NULL, and not that of `gradient` */
} dyn_step_hessian_product;
