/* complex_step.h - differentiates the kernels, exact to rounding.
 *
 * The kernels compiled with complex numbers for lanes evaluate f(x + i h dx). The imaginary part over h is the
 * derivative of f along dx, without a difference of nearby values (Squire & Trapp 1998). h is so small that h^2 is lost
 * to rounding.
 *
 * Ownership: complex_state_make allocates, complex_state_free frees. */
#pragma once
#include "trial.h"
#include <complex.h>

extern const dyn_kernels dyn_kernels_complex;

#define COMPLEX_STEP 1e-40

/* One state of a trial as complex numbers, with all inputs and room for results. */
typedef struct complex_state {
    const trial     *t;
    void            *workspace;
    double _Complex *q, *qd, *qdd, *qddd, *tau, *wrenches;
} complex_state;

complex_state complex_state_make(const trial *t, size_t row);
void          complex_state_free(complex_state *s);

/* Rates of the entries of q at velocities qd. For most joints these are qd itself; for joints with a quaternion p' = R
 * v, R' = R [w]. */
void position_rates(const dyn_model *m, const double *q, const double *qd, double *rate);

/* Moves q by i h along a direction of velocities. */
void complex_state_move(complex_state *s, const double *direction);
/* Row 0 of the trial, moved along coordinate j only. */
complex_state complex_state_along(const trial *t, size_t j);
/* x + i h dx for n numbers */
void complex_add(size_t n, double _Complex *x, const double *dx);

/* n complex numbers aligned for the kernels; free() frees. */
double _Complex *complex_array(size_t n);
/* The derivative that a result has in its imaginary part, n entries. */
void complex_derivative(size_t n, const double _Complex *x, double *derivative);

/* The kernels' structs have pointers to double; these functions convert complex arrays. */
static inline double *as_lanes(double _Complex *x)
{
    return (double *)x;
}
