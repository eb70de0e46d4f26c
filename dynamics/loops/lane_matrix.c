/* lane_matrix.c - multiplies small matrices in lanes (lane_matrix.h). */
#include "lane_matrix.h"
#include "dynamics/dynamics.h"

enum { LARGE = 4096 /* products a row from which on each row asks the deadline */ };

/* C_ij = sum_l A[i, l] B[l, j]; entries of A are `row` apart in i and `inner` apart in l. */
static inline __attribute__((always_inline)) void mul_by(const dyn_lanes *lanes, const size_t W, size_t m, size_t k,
                                                         size_t n, const double *A, size_t row, size_t inner,
                                                         const double *B, int add, double *C)
{
    for (size_t i = 0; i < m && (k * n < LARGE || dyn_may_continue(lanes->deadline)); i++)
        for (size_t j = 0; j < n; j++, C += W) {
            double sum[DYN_MAX_LANES] = {0};
            for (size_t l = 0; l < k; l++)
                for (size_t lane = 0; lane < W; lane++)
                    sum[lane] += A[(i * row + l * inner) * W + lane] * B[(l * n + j) * W + lane];
            for (size_t lane = 0; lane < W; lane++)
                C[lane] = add > 0 ? C[lane] + sum[lane] : add < 0 ? C[lane] - sum[lane] : sum[lane];
        }
}

/* Calls mul_by with the number of lanes as a constant, so that the compiler can unroll its loops over lanes. */
static void mul(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, size_t row, size_t inner,
                const double *B, int add, double *C)
{
    switch (lanes->W) {
    case 8: mul_by(lanes, 8, m, k, n, A, row, inner, B, add, C); break;
    case 4: mul_by(lanes, 4, m, k, n, A, row, inner, B, add, C); break;
    case 2: mul_by(lanes, 2, m, k, n, A, row, inner, B, add, C); break;
    default: mul_by(lanes, lanes->W, m, k, n, A, row, inner, B, add, C); break;
    }
}

void dyn_matrix_mul(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B, int add,
                    double *C)
{
    mul(lanes, m, k, n, A, k, 1, B, add, C);
}

void dyn_matrix_mul_transposed(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B,
                               int add, double *C)
{
    mul(lanes, m, k, n, A, 1, m, B, add, C);
}
