/* consistent_parameters.h - all parameters of a robot from its base parameters, such as real bodies can have.
 *
 * Of what fits the data, the parameters are chosen that depart least from the model's own. With P the grouping (beta =
 * P pi), beta' the base parameters that the data gave and (R/s)T (R/s) the inverse of their covariance,
 *
 *     minimise  1/2 |R/s (P pi - beta')|^2 + c ( sum over bodies d(J, J0) + sum over rotors d(r, r0)
 *                                                + sum over friction parameters 1/2 (f - f0)^2 ),
 *     d(J, J0) = trace(J0^-1 J) - log det(J0^-1 J) - dim J,
 *
 * J being a body's pseudo-inertia and J0 the model's (Wensing, Kim, Slotine 2018; the divergence: Lee, Wensing, Park
 * 2020). d is infinite at the border of what is physical: masses are positive and pseudo-inertias positive definite.
 * The problem is convex and smooth: Newton's method, each step a linear least squares problem, along c falling to
 * API_CONSISTENT_WEIGHT. With that c the model's figures count as much as if each were known to ten times itself. */
#pragma once
#include "api/model/base_parameters.h"

#define API_CONSISTENT_WEIGHT 0.01

typedef struct api_consistent {
    const api_model *model;
    const api_base  *base;
    unsigned         with;       /* of what the base parameters were found: joint parameters not among it stay */
    const double    *R;          /* base->n x base->n of (base->n + 1)-long columns, as api_triangle_add leaves them */
    double           s;          /* of the rows of R; > 0 */
    const double    *beta;       /* [base->n] beta' */
    double          *parameters; /* [api_parameter_count] the answer */
    /* Asked before every step: false gives up. */
    bool (*go_on)(void *arg);
    void *arg;
} api_consistent;

/* Doubles of scratch; LAPACK takes a little from the heap besides. */
size_t api_consistent_scratch(const api_model *model, const api_base *base, unsigned with);

/* False: told to give up, no memory, or figures that overflow. */
bool api_consistent_find(const api_consistent *c, double *scratch);
