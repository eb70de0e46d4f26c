/* closure_kernels.h - declares the kernels that solve the closure equations of mechanisms: the rows of their Jacobian,
 * the pseudoinverse of a component, its change between two positions, and products of small matrices.
 *
 * Arrays and lanes follow the rules of dynamics.h, but the kernels compute one block: `blocks` is 1. The kernels read
 * no model; scene->deadline ends them early. The Jacobian of the loop error is stored row by row; a row has the columns
 * of its pair of frames (dyn_pair_columns). Let A be the entries of a component (dynamics/loops/closure_layout.h), m
 * rows and n unknowns, m >= n, and D the diagonal matrix of the lengths of A's columns. Then
 *
 *     A D^-1 = Q [R; 0],    A^+ = D^-1 R^-1 Q_1^T
 *
 * by Householder reflections (Golub & Van Loan 2013, 5.2.2), with Q_1 the first n columns of Q. Since Q_1 has
 * orthonormal columns, the Frobenius norm of D A^+ is that of R^-1: an upper bound of 1 / s, with s the least singular
 * value of A D^-1. */
#pragma once
#include "dynamics.h"

/* One row of the Jacobian of the loop error: the combination E of the six rows of the Jacobian of a frame pair. */
typedef struct dyn_closure_row {
    double E[6];
    size_t pair;     /* index of the first entry of the frame pair's Jacobian */
    size_t first, n; /* index of the row's first entry; number of its columns */
} dyn_closure_row;

/* Computes rows from the Jacobians of frame pairs. A row whose six numbers E are zero is zero. */
typedef struct dyn_closure_rows {
    size_t                 n;
    const dyn_closure_row *row;      /* [n] */
    const double          *jacobian; /* the Jacobians of all frame pairs, as dyn_closure writes them */
    double                *rows;
} dyn_closure_rows;

/* A component of the Jacobian: the entries of its m rows in n columns. */
typedef struct dyn_closure_block {
    size_t     m, n;
    const int *entry; /* [m x n] index of each entry in the stored Jacobian; -1: the entry is zero */
} dyn_closure_block;

/* Columns shorter than this (loop error per rad or m) are rounding errors, for example of a joint whose axis passes
 * through the point at which the loop closes. */
#define DYN_CLOSURE_NEGLIGIBLE 1e-9

/* Finds the pseudoinverse of the rows and passive columns of a set of connected loops. A negligible column is replaced
 * by zeros, and its `scale` is 1; then `pivot` is 0. If
 * `pivot` is 0 or an entry is not finite, the other results are undefined. */
typedef struct dyn_closure_factor {
    const dyn_closure_block *block; /* m >= n */
    const double            *jacobian;
    double                  *work;    /* dyn_closure_factor_work(m, n) lanes of scratch */
    double                  *inverse; /* n x m: A^+ */
    double                  *scale;   /* n: lengths of the columns, the diagonal of D */
    double                  *pivot;   /* [1] the least |R_ii| */
    double                  *norm;    /* [1] Frobenius norm of D A^+ */
} dyn_closure_factor;

static inline size_t dyn_closure_factor_work(size_t m, size_t n)
{
    return m * (n + m) + m;
}

/* Computes the relative change of a component since an earlier position, M = D (A_0^+ A - 1) D^-1: A_0^+ and D are
 * those of the earlier position. */
typedef struct dyn_closure_change {
    const dyn_closure_block *block;
    const double            *jacobian, *inverse, *scale; /* present entries of A; A_0^+ and D */
    double                  *work;                       /* dyn_closure_change_work(m, n) lanes of scratch */
    double                  *change;                     /* 1: the sum of squares of the entries of M */
    double                  *fourth; /* 1: the sum of squares of the entries of M^4; NULL: not wanted */
} dyn_closure_change;

static inline size_t dyn_closure_change_work(size_t m, size_t n)
{
    return m * n + 2 * n * n;
}

/* Computes C = A B, with A m x k and B k x n; add > 0: C += A B, add < 0: C -= A B, 0: C = A B. Entry (i, l) of A is at
 * the index i row + l inner; B and C are row-major. Each entry of C is a sum in the order of l. */
typedef struct dyn_matrix_product {
    size_t        m, k, n;
    const double *A;
    size_t        row, inner;
    const double *B;
    int           add;
    double       *C;
} dyn_matrix_product;
