/* closure_change.c - measures how much a component of the closure equations has changed since an earlier position
 * (dynamics/closure_kernels.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/closure_kernels.h"
#include "dynamics/recursion/workspace.h"
#include "lane_product.h"

size_t LANE_NAME(closure_change_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

/* Computes the product C = A B described by `p`, in tiles of rows. Past the deadline rows are not computed. */
static void multiply_tiles(const dyn_scene *scene, const lane_product *p)
{
    size_t i = 0;
    for (; i + PRODUCT_ROWS <= p->m && goes_on(scene->deadline, p->k); i += PRODUCT_ROWS)
        multiply_rows_of_tile(p, i, PRODUCT_ROWS);
    for (; i < p->m && goes_on(scene->deadline, p->k); i++)
        multiply_rows_of_tile(p, i, 1);
}

static void multiply_by_itself(const dyn_scene *scene, size_t n, const lane *M, lane *to)
{
    multiply_tiles(scene, &(lane_product){.m = n, .k = n, .n = n, .A = M, .row = n, .inner = 1, .B = M, .C = to});
}

static lane sum_squares(size_t n, const lane *x)
{
    lane sum = lane_of(0);
    for (size_t e = 0; e < n; e++)
        sum = add_mul(sum, x[e], x[e]);
    return sum;
}

void LANE_NAME(closure_change)(const dyn_scene *scene, void *memory, const dyn_closure_change *io, size_t blocks)
{
    (void)memory, (void)blocks; /* `blocks` is always 1 */
    const size_t m = io->block->m, n = io->block->n;
    const lane  *J = block_in(io->jacobian, 0, 0), *K = block_in(io->inverse, 0, 0), *scale = block_in(io->scale, 0, 0);
    lane        *A = block_out(io->work, 0, 0), *M = A + m * n, *M2 = M + n * n;
    for (size_t e = 0; e < m * n; e++)
        A[e] = io->block->entry[e] < 0 ? lane_of(0) : J[io->block->entry[e]];
    multiply_tiles(scene, &(lane_product){.m = n, .k = m, .n = n, .A = K, .row = m, .inner = 1, .B = A, .C = M});
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i * n + j] = scale[i] / scale[j] * (M[i * n + j] - (i == j ? 1.0 : 0.0));
    *block_out(io->change, 0, 0) = sum_squares(n * n, M);
    if (!io->fourth) return;
    multiply_by_itself(scene, n, M, M2);
    multiply_by_itself(scene, n, M2, M);
    *block_out(io->fourth, 0, 0) = sum_squares(n * n, M);
}
