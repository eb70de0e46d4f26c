/* riccati.h - declares the kernel of one step of the Riccati recursion, the backward pass of LQR and iLQR.
 *
 * The lanes of this kernel are columns of the matrices of one problem, not states. A matrix with n columns is
 * row-major, and its rows are dyn_riccati_width(n) numbers apart; the numbers after the n-th are zero. All arrays are
 * aligned to DYN_ALIGN. No entry depends on the number of lanes.
 *
 * States are homogeneous: z = (x, 1) with a last entry of 1, so that the value 1/2 zT V z has the gradient with respect
 * to x in the last column of V. The last row of A is the unit vector (0, ..., 0, 1), and that of B is zero. */
#pragma once
#include "dynamics.h"

/* Finds the minimum over u of the cost of a step, 1/2 uT Q_uu u + uT Q_ux z, plus the value 1/2 z+T V z+ of the next
 * state z+ = A z + B u. The minimum is attained at u = K z; V becomes the value of z. */
typedef struct dyn_riccati {
    size_t        n, m;    /* entries of z and of u */
    const double *A, *B;   /* n x n, n x m */
    double       *Q_ux;    /* m x n; in: matrix of the step's cost; out: BT V A added */
    double       *Q_uu;    /* m x m; in: matrix of the step's cost; overwritten */
    double        damping; /* added to the diagonal of Q_uu, only for K */
    double       *V;       /* n x n, symmetric; in: value of z+; out: value of z under u = K z */
    double       *K;       /* m x n */
    double       *work;    /* dyn_riccati_work(n, m) numbers of scratch */
    double       *scale;   /* 1: the largest absolute entry of the diagonal of Q_uu, without the damping */
    /* Result, true: a pivot of the damped Q_uu is not positive beyond rounding; then K and V are not written. */
    bool *indefinite;
} dyn_riccati;

/* Returns the distance, in numbers, of the rows of a matrix with n columns. */
static inline size_t dyn_riccati_width(size_t n)
{
    return (n + DYN_MAX_LANES - 1) / DYN_MAX_LANES * DYN_MAX_LANES;
}

/* Returns the number of doubles of `work`: V A and V B. */
static inline size_t dyn_riccati_work(size_t n, size_t m)
{
    return n * (dyn_riccati_width(n) + dyn_riccati_width(m));
}
