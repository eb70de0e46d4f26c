/* gradient.h - declares the kernels of gradients: products of multipliers with the derivatives of inverse dynamics, of
 * forward dynamics and of one step of integration, without computing the matrices.
 *
 * Arrays, lanes and blocks follow the rules of dynamics.h. A gradient with respect to q has nv entries, along the
 * directions of dyn_sensitivity. The derivative of the sign of sharp Coulomb friction is 0. */
#pragma once
#include "step.h"

/* Derivatives of the sum of multipliers . tau, where tau is the result of dyn_inverse_dynamics. */
typedef struct dyn_gradient {
    const double *q, *qd, *qdd, *wrenches;
    const double *multipliers;                             /* nv; must not be NULL */
    double       *tau;                                     /* nv, with the bits of dyn_inverse_dynamics */
    double       *gradient_q, *gradient_qd, *gradient_qdd; /* nv; must not be NULL */
    double       *gradient_parameters;                     /* 10 n_rows, in the order of dyn_regressor */
    double       *gradient_wrenches; /* n_wrenches x 6: with respect to force and torque, in the axes of the wrench */
    double       *gradient_gravity;  /* 3, world axes */
} dyn_gradient;

/* Derivatives of the sum of multipliers . qdd, where qdd is the result of dyn_forward_dynamics without driven
 * coordinates. */
typedef struct dyn_forward_gradient {
    const double *q, *qd, *tau, *wrenches;
    const double *multipliers;                                                /* nv; must not be NULL */
    double       *qdd;                                                        /* nv; must not be NULL */
    double       *gradient_q, *gradient_qd, *gradient_tau;                    /* nv; must not be NULL */
    double       *gradient_parameters, *gradient_wrenches, *gradient_gravity; /* see dyn_gradient */
    double       *singular; /* [1] first body whose pivot of M is zero up to rounding, or -1. May be NULL */
} dyn_forward_gradient;

/* Derivatives of the sum of multipliers_q . q+ and multipliers_qd . qd+, where (q+, qd+) is the state after one step of
 * dyn_step without held frames. multipliers_q has the nv entries of a gradient with respect to q+. */
typedef struct dyn_step_gradient {
    const double   *q, *qd, *tau, *wrenches;
    const double   *multipliers_q, *multipliers_qd; /* nv; must not be NULL */
    dyn_step_method method;
    double          h;                                                          /* s */
    double         *gradient_q, *gradient_qd, *gradient_tau;                    /* nv; must not be NULL */
    double         *gradient_parameters, *gradient_wrenches, *gradient_gravity; /* see dyn_gradient */
    double *work; /* scratch of one block, whatever their number: `lanes` times dyn_step_gradient_work(). Not NULL */
    double *singular, *unsolved;       /* 1, see dyn_step; must not be NULL */
    bool (*may_continue)(void *clock); /* see dyn_step */
    void *clock;
} dyn_step_gradient;

/* Returns the number of doubles per state of `work` of dyn_step_gradient. */
static inline size_t dyn_step_gradient_work(const dyn_scene *scene, dyn_step_method method)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, stages = method == DYN_RK4 ? 4 : 1;
    const size_t     implicit = method == DYN_IMPLICIT_EULER ? 4 * nv * nv + dyn_step_work(m, method, nv) : 0;
    return stages * (nq + 6 * nv) + nq + 6 * nv + 10 * m->n_rows + 6 * scene->n_wrenches + 4 + implicit;
}
