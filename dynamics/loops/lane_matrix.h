/* lane_matrix.h - multiplies small row-major matrices of W states at once, one state in each lane, by the kernel
 * matrix_product. Entry (i, j) of a matrix of n columns is a[(i n + j) W + lane]. Sums are taken in the same order in
 * each lane, so that results have the same bits for every W. */
#pragma once
#include "dynamics/dynamics.h"

/* The kernels, and the deadline after which products of large matrices stay incomplete. */
typedef struct dyn_lanes {
    const dyn_kernels *kernels;
    dyn_deadline       deadline;
} dyn_lanes;

/* dyn_matrix_mul computes C = A B, with A m x k and B k x n. dyn_matrix_mul_transposed computes C = A^T B, with A k x m
 * and B k x n. add > 0: C += product, add < 0: C -= product, 0: C = product. */
void dyn_matrix_mul(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B, int add,
                    double *C);
void dyn_matrix_mul_transposed(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B,
                               int add, double *C);
