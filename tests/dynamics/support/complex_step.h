/* complex_step.h - differentiates the kernels with respect to the state, exact to rounding.
 *
 * The kernels are compiled a second time with complex numbers as lanes and evaluate f(x + i h dx). The imaginary part
 * over h is the derivative of f along dx, without a difference of nearby values (Squire & Trapp 1998). h is so small
 * that h^2 is lost to rounding.
 *
 * Ownership: complex_state_make allocates, complex_state_free frees. */
#pragma once
#include "trial.h"
#include <complex.h>

extern const dyn_kernels dyn_kernels_complex;

#define COMPLEX_STEP 1e-40

/* Holds one state of a trial as complex numbers: all inputs, and a workspace for the kernels. */
typedef struct complex_state {
    const trial     *t;
    void            *workspace;
    double _Complex *q, *qd, *qdd, *qddd, *tau, *wrenches;
} complex_state;

complex_state complex_state_make(const trial *t, size_t row);
void          complex_state_free(complex_state *s);

/* Computes the rates of the entries of q at velocities qd. For most joints q' = qd; for a joint with a quaternion p' =
 * R v and R' = R [w]. */
void position_rates(const dyn_model *m, const double *q, const double *qd, double *rate);

/* Adds i h times `direction`, a vector of nv velocities, to q. */
void complex_state_move(complex_state *s, const double *direction);
/* Returns row 0 of the trial with q moved by i h along velocity coordinate j only. */
complex_state complex_state_along(const trial *t, size_t j);
/* Adds i h dx to x, n numbers each. */
void complex_add(size_t n, double _Complex *x, const double *dx);

/* Allocates n complex numbers, aligned for the kernels; free() frees them. */
double _Complex *complex_array(size_t n);
/* Extracts the derivative: the imaginary parts of n results over h. */
void complex_derivative(size_t n, const double _Complex *x, double *derivative);

/* Computes the derivatives of the results of inverse dynamics at a moved state: of tau (nv) and of the joint wrenches
 * (6 bodies). */
void complex_inverse_rates(const complex_state *s, double *tau, double *joint_wrenches);

/* The kernels' structs have pointers to double; these functions convert complex arrays. */
static inline double *as_lanes(double _Complex *x)
{
    return (double *)x;
}
