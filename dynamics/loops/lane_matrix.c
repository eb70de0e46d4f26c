/* lane_matrix.c - multiplies small matrices in lanes (lane_matrix.h). */
#include "lane_matrix.h"
#include "dynamics/closure_kernels.h"

static void multiply_lanes(const dyn_lanes *lanes, const dyn_matrix_product *io)
{
    const dyn_scene scene = {.deadline = lanes->deadline};
    lanes->kernels->matrix_product(&scene, NULL, io, 1);
}

void dyn_matrix_mul(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B, int add,
                    double *C)
{
    multiply_lanes(
        lanes, &(dyn_matrix_product){.m = m, .k = k, .n = n, .A = A, .row = k, .inner = 1, .B = B, .add = add, .C = C});
}

void dyn_matrix_mul_transposed(const dyn_lanes *lanes, size_t m, size_t k, size_t n, const double *A, const double *B,
                               int add, double *C)
{
    multiply_lanes(
        lanes, &(dyn_matrix_product){.m = m, .k = k, .n = n, .A = A, .row = 1, .inner = m, .B = B, .add = add, .C = C});
}
