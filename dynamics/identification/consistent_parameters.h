/* consistent_parameters.h - finds physically consistent parameters of a robot from its base parameters.
 *
 * Many parameter vectors pi give the same base parameters beta = P pi. The chosen one departs least from a reference,
 * the parameters of the model or of a supposed payload. With beta' the base parameters estimated from the data, and
 * (R/s)T (R/s) the inverse of their covariance,
 *
 *     minimise  1/2 |R/s (P pi - beta')|^2 + c ( sum over bodies d(J, J0) + sum over rotors d(r, r0)
 *                                                + sum over friction parameters 1/2 (f - f0)^2 ),
 *     d(J, J0) = trace(J0^-1 J) - log det(J0^-1 J) - dim J,
 *
 * with the pseudo-inertia J of a body, 4 x 4, and J0 of the reference (Wensing, Kim, Slotine 2018; the divergence d:
 * Lee, Wensing, Park 2020), rotor inertias r and friction parameters f. d is infinite unless J is positive definite,
 * hence masses are positive and inertias possible. The problem is convex and smooth. It is solved by Newton's method,
 * each step a linear least squares problem, for a decreasing sequence of weights c that ends at DYN_CONSISTENT_WEIGHT.
 * This last weight corresponds to a standard deviation of ten times the reference's value for bodies and rotors, and of
 * 10 SI units for friction. */
#pragma once
#include "base_parameters.h"

#define DYN_CONSISTENT_WEIGHT 0.01

/* Values of `row`: the parameters of all bodies are found, or of none. */
enum { DYN_ALL_BODIES = -1, DYN_NO_BODY = -2 };

typedef struct dyn_consistent {
    const dyn_model *tree;
    const dyn_base  *base;
    unsigned with; /* the flags DYN_BASE_ROTORS and DYN_BASE_FRICTION with which `base` was made: these joint parameters
                      are found, the others keep their values */
    int row;       /* row (dyn_model.row_body) of the only body whose parameters are found; or DYN_ALL_BODIES
                      or DYN_NO_BODY */
    const double *R;    /* factor of dyn_qr_add_rows over base->n + 1 columns; its last row and column are not read */
    double        s;    /* standard deviation of the rows of R; > 0 */
    const double *beta; /* [base->n] beta', the base parameters estimated from data */
    double       *parameters; /* [dyn_parameter_count] on entry the reference, on return the consistent parameters */
    /* Called with `arg` before every Newton step; false ends the search. */
    bool (*go_on)(void *arg);
    void *arg;
} dyn_consistent;

/* Returns the number of doubles of scratch that dyn_consistent_find needs. LAPACK allocates a little more from the
 * heap. */
size_t dyn_consistent_scratch(const dyn_model *tree, const dyn_base *base, unsigned with);

/* Finds the consistent parameters c->parameters. Returns false if go_on returned false, there is no memory, or numbers
 * overflow. */
bool dyn_consistent_find(const dyn_consistent *c, double *scratch);
