/* hessian_product.h - declares the kernels of Hessian-vector products of inverse and forward dynamics: rates of
 * gradients along directions, without matrices.
 *
 * Arrays, lanes and blocks follow the rules of dynamics.h. Directions are those of directional.h, gradients those of
 * gradient.h; multipliers, wrenches in their axes and their points are constant. So entry j of a product is the sum
 * over k of entry (j, k) of a matrix of dyn_hessian times the direction. The entries of gradients and directions that
 * belong to a joint with a quaternion are along its axes, which turn with the body: derivatives along two of these axes
 * do not commute. */
#pragma once
#include "dynamics.h"

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
    double       *product_q, *product_qd, *product_tau;       /* n x nv; must not be NULL */
    double       *rates;                                      /* n x nv, those of qdd; must not be NULL */
    double       *qdd;                                        /* nv; must not be NULL */
    double       *singular; /* 1: first body whose pivot of M is zero up to rounding, or -1. May be NULL */
} dyn_forward_hessian_product;
