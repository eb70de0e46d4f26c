/* lane_matrix.h - products of small matrices, W of each side by side: entry (i, j) of a matrix of n columns stands at
 * a[(i n + j) W + lane]. Sums run in order, lane by lane: the same bits for every W. */
#pragma once
#include <stddef.h>

/* C = A B, of m x k and k x n; A^T B of k x m and k x n. `add`: C += that, -1 for C -= it, 0: C = it. */
void api_matrix_mul(size_t W, size_t m, size_t k, size_t n, const double *A, const double *B, int add, double *C);
void api_matrix_mul_transposed(size_t W, size_t m, size_t k, size_t n, const double *A, const double *B, int add,
                               double *C);
