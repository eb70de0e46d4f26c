/* closure_kernels.h - declares the kernels that solve the closure equations of mechanisms: the rows of their Jacobian,
 * the pseudoinverse of a block of it, its change between two positions, and products of small matrices.
 *
 * Arrays and lanes follow the rules of dynamics.h, but the kernels compute one block: `blocks` is 1. The kernels read
 * no model; scene->deadline ends them early. A Jacobian is stored row by row, with the columns of the row's pair of
 * frames (dyn_pair_columns). With A the entries of a component (dynamics/loops/closure_layout.h), m rows and n
 * unknowns, m >= n, and D the lengths of A's columns,
 *
 *     A D^-1 = Q [R; 0],    A^+ = D^-1 R^-1 Q_1^T
 *
 * by Householder reflections (Golub & Van Loan 2013, 5.2.2), with Q_1 the first n columns of Q. Since Q_1 has
 * orthonormal columns, the Frobenius norm of D A^+ is that of R^-1: an upper bound of 1 / s, with s the least singular
 * value of A D^-1. */
#pragma once
#include "dynamics.h"

/* One row of a Jacobian: a combination of the six rows of the Jacobian of its pair. */
typedef struct dyn_closure_row {
    double E[6];
    size_t pair;     /* index of the first entry of the pair's Jacobian */
    size_t first, n; /* index of the row's first entry; its columns */
} dyn_closure_row;

/* Computes rows from the Jacobians of pairs. Where the six numbers E are zero the row is zero. */
typedef struct dyn_closure_rows {
    size_t                 n;
    const dyn_closure_row *row;      /* [n] */
    const double          *jacobian; /* the Jacobians of all pairs, as dyn_closure writes them */
    double                *rows;
} dyn_closure_rows;

/* A component of a Jacobian: the entries of its m rows in n columns. */
typedef struct dyn_closure_block {
    size_t     m, n;
    const int *entry; /* [m x n] index of an entry among those of the Jacobian; -1: it is zero */
} dyn_closure_block;

/* A column shorter than this (loop error per rad or m) is rounding error, for example that of a joint whose axis passes
 * through the point where the loop closes. */
#define DYN_CLOSURE_NEGLIGIBLE 1e-9

/* Finds the pseudoinverse of a component. Negligible columns count as zero and have the length 1; then `pivot` is 0.
 * Where `pivot` is 0 or an entry is not finite, the other results are undefined. */
typedef struct dyn_closure_factor {
    const dyn_closure_block *block; /* m >= n */
    const double            *jacobian;
    double                  *work;    /* dyn_closure_factor_work */
    double                  *inverse; /* n x m: A^+ */
    double                  *scale;   /* n: D */
    double                  *pivot;   /* 1: the least |R_ii| */
    double                  *norm;    /* 1: Frobenius norm of D A^+ */
} dyn_closure_factor;

static inline size_t dyn_closure_factor_work(size_t m, size_t n)
{
    return m * (n + m) + m;
}

/* Computes the relative change of a component, M = D (A_0^+ A - 1) D^-1, with A_0^+ and D of an earlier position. */
typedef struct dyn_closure_change {
    const dyn_closure_block *block;
    const double            *jacobian, *inverse, *scale; /* the entries of A; A_0^+ and D */
    double                  *work;                       /* dyn_closure_change_work */
    double                  *change;                     /* 1: the sum of squares of the entries of M */
    double                  *fourth; /* 1: the sum of squares of the entries of M^4; NULL: not wanted */
} dyn_closure_change;

static inline size_t dyn_closure_change_work(size_t m, size_t n)
{
    return m * n + 2 * n * n;
}

/* Computes C = A B, with A m x k and B k x n. Entries (i, l) of A are i row + l inner apart from the first; B and C are
 * row-major. add > 0: C += A B, add < 0: C -= A B, 0: C = A B. Each entry is a sum in the order of l. */
typedef struct dyn_matrix_product {
    size_t        m, k, n;
    const double *A;
    size_t        row, inner;
    const double *B;
    int           add;
    double       *C;
} dyn_matrix_product;
