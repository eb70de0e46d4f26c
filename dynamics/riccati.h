/* riccati.h - declares the kernel of one step of the Riccati recursion, the backward pass of LQR and iLQR.
 *
 * One value function is in memory at a time: the lanes of this kernel are columns of its matrices, not states. A matrix
 * with n columns is row-major, and its rows are dyn_riccati_width(n) numbers apart, of which those after the n-th are
 * zero. All arrays are aligned to DYN_ALIGN. No entry depends on the number of lanes.
 *
 * States are homogeneous: z = (x, 1) with a last entry of 1, so that V = 1/2 zT V z has the gradient of the value in
 * its last column. The last row of A is the unit vector (0, ..., 0, 1), and that of B is zero. */
#pragma once
#include "dynamics.h"

/* With z+ = A z + B u, the cost of the step 1/2 uT Q_uu u + uT Q_ux z and the value V of z+: the minimum over u, which
 * u = K z attains, and the value of z. */
typedef struct dyn_riccati {
    size_t        n, m;    /* entries of z and of u */
    const double *A, *B;   /* n x n, n x m */
    double       *Q_ux;    /* m x n; in: matrix of the step's cost; out: with the contribution of the value */
    double       *Q_uu;    /* m x m; as Q_ux; destroyed */
    double        damping; /* is added to the diagonal of Q_uu, for K only */
    double       *V;       /* n x n, symmetric; in: value of z+; out: value of z under u = K z */
    double       *K;       /* m x n */
    double       *work;    /* dyn_riccati_work(n, m) numbers */
    double       *scale;   /* 1: the largest size of an entry of the diagonal of Q_uu, without the damping */
    /* True: a pivot of Q_uu with its damping is not positive beyond rounding, and K and V are not written. */
    bool *indefinite;
} dyn_riccati;

/* Returns the distance of the rows of a matrix with n columns. */
static inline size_t dyn_riccati_width(size_t n)
{
    return (n + DYN_MAX_LANES - 1) / DYN_MAX_LANES * DYN_MAX_LANES;
}

/* Returns the numbers of `work`: V A and V B. */
static inline size_t dyn_riccati_work(size_t n, size_t m)
{
    return n * (dyn_riccati_width(n) + dyn_riccati_width(m));
}
