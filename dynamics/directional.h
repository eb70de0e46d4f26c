/* directional.h - declares the kernels of directional derivatives: products of given directions with the derivatives of
 * inverse dynamics, of forward dynamics and of one step of integration, without computing the matrices.
 *
 * Arrays, lanes and blocks follow the rules of dynamics.h. A direction of q has nv entries, along the directions of
 * dyn_sensitivity. The derivative of the sign of sharp Coulomb friction is 0. Wrenches are constant in their axes, and
 * so are their points in the link frame. */
#pragma once
#include "gradient.h"

/* Rates of tau (the result of dyn_inverse_dynamics) along n directions, at least one. The rates along one direction
 * have the same bits whatever the other directions are. */
typedef struct dyn_directional {
    const double *q, *qd, *qdd, *wrenches;
    size_t        n;
    const double *direction_q, *direction_qd, *direction_qdd; /* n x nv; NULL: zero */
    double       *rates;                                      /* n x nv; must not be NULL */
    double       *tau; /* nv, with the bits of dyn_inverse_dynamics, computed together with the first rates */
} dyn_directional;

/* Rates of qdd (the result of dyn_forward_dynamics without driven coordinates) along n directions. */
typedef struct dyn_forward_directional {
    const double *q, *qd, *tau, *wrenches;
    size_t        n;
    const double *direction_q, *direction_qd, *direction_tau; /* n x nv; NULL: zero */
    double       *rates;                                      /* n x nv; must not be NULL */
    double       *qdd;                                        /* nv; must not be NULL */
    double       *singular; /* 1: first body whose pivot of M is zero up to rounding, or -1. May be NULL */
} dyn_forward_directional;

/* Rates of (q+, qd+), the state after one step of dyn_step without held frames, along n directions. A rate of q+ has
 * nv entries, as a direction of q. */
typedef struct dyn_step_directional {
    const double   *q, *qd, *tau, *wrenches;
    dyn_step_method method; /* not DYN_IMPLICIT_EULER */
    double          h;      /* s */
    size_t          n;
    const double   *direction_q, *direction_qd, *direction_tau; /* n x nv; NULL: zero */
    double         *rates_q, *rates_qd;                         /* n x nv; must not be NULL */
    /* Scratch of one block: `lanes` times the sum of dyn_step_gradient_work() and dyn_step_tangent_work(). Not NULL */
    double *work;
    double *singular; /* 1, see dyn_step; must not be NULL */
} dyn_step_directional;

/* Returns the number of doubles per state that the rates of a step add to `work`. */
static inline size_t dyn_step_tangent_work(const dyn_scene *scene, dyn_step_method method)
{
    const size_t nv = (size_t)scene->model->nv, stages = method == DYN_RK4 ? 4 : 1;
    return (6 * stages + 8) * nv;
}
