/* closure_rows.c - combines the Jacobians of pairs of frames into rows of the closure equations
 * (dynamics/closure_kernels.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/closure_kernels.h"
#include "dynamics/math/pack.h"
#include "dynamics/recursion/workspace.h"

size_t LANE_NAME(closure_rows_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

/* Adds `factor` times n entries to a row; sets the row to this if it is `empty`. */
LANE_INLINE void add_row(lane *to, const lane *from, size_t n, double factor, bool empty)
{
    const pack scale = pack_of(lane_of(factor));
    size_t     e     = 0;
    for (; e + PACK <= n; e += PACK)
        pack_store(to + e,
                   empty ? scale * pack_load(from + e) : pack_add_mul(pack_load(to + e), scale, pack_load(from + e)));
    for (; PACK > 1 && e < n; e++)
        to[e] = empty ? factor * from[e] : add_mul(to[e], factor, from[e]);
}

void LANE_NAME(closure_rows)(const dyn_scene *scene, void *memory, const dyn_closure_rows *io, size_t blocks)
{
    (void)scene, (void)memory, (void)blocks; /* `blocks` is always 1 */
    const lane *raw = block_in(io->jacobian, 0, 0);
    lane       *to  = block_out(io->rows, 0, 0);
    for (size_t r = 0; r < io->n; r++) {
        const dyn_closure_row *row   = &io->row[r];
        bool                   empty = true;
        for (size_t i = 0; i < 6; i++) {
            if (row->E[i] == 0) continue;
            add_row(to + row->first, raw + row->pair + i * row->n, row->n, row->E[i], empty);
            empty = false;
        }
        for (size_t e = 0; empty && e < row->n; e++)
            to[row->first + e] = lane_of(0);
    }
}
