/* matrix_product.c - multiplies small matrices of several states side by side (dynamics/closure_kernels.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/closure_kernels.h"
#include "dynamics/recursion/workspace.h"
#include "lane_product.h"

enum { LARGE = 4096 /* multiplications per row of C, from which on the deadline is checked between rows */ };

size_t LANE_NAME(matrix_product_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

void LANE_NAME(matrix_product)(const dyn_scene *scene, void *memory, const dyn_matrix_product *io, size_t blocks)
{
    (void)memory, (void)blocks; /* `blocks` is always 1 */
    const lane_product p     = {.m     = io->m,
                                .k     = io->k,
                                .n     = io->n,
                                .A     = block_in(io->A, 0, 0),
                                .row   = io->row,
                                .inner = io->inner,
                                .B     = block_in(io->B, 0, 0),
                                .add   = io->add,
                                .C     = block_out(io->C, 0, 0)};
    const bool         large = p.k * p.n >= LARGE;
    size_t             i     = 0;
    for (; i + PRODUCT_ROWS <= p.m && (!large || dyn_may_continue(scene->deadline)); i += PRODUCT_ROWS)
        multiply_rows_of_tile(&p, i, PRODUCT_ROWS);
    for (; i < p.m && (!large || dyn_may_continue(scene->deadline)); i++)
        multiply_rows_of_tile(&p, i, 1);
}
