/* friction_map.c - maps the efforts of coordinates without friction to those with it, and back (load_friction.h). */
#include "dynamics/friction_map.h"
#include "kernels.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

size_t LANE_NAME(friction_map_size)(const dyn_model *m)
{
    arena a = {0};
    arena_take(&a, (size_t)m->nv, sizeof(load_friction));
    return a.used;
}

/* Computes io->result and the requested derivatives of one block; `of` is the friction of each coordinate at io->qd. */
static void map_block(const dyn_model *m, const load_friction *of, const dyn_friction_map *io)
{
    const size_t nv  = (size_t)m->nv;
    const lane  *tau = block_in(io->tau, 0, 0), *T = block_in(io->T, 0, 0);
    lane        *result = block_out(io->result, 0, 0), *factor = block_out(io->factor, 0, 0),
         *slope = block_out(io->slope, 0, 0), *factor_slope = block_out(io->factor_slope, 0, 0);
    for (size_t v = 0; tau && v < nv; v++)
        result[v] = load_transmitted(&of[v], tau[v]);
    if (tau) T = result;
    for (size_t v = 0; factor_slope && v < nv; v++)
        factor_slope[v] = load_factor_rate(&of[v], T[v], lane_of(1));
    for (size_t v = 0; factor && v < nv; v++)
        factor[v] = load_factor(&of[v], T[v]);
    if (slope) {
        clear(slope, nv * nv);
        load_add_slopes(m, of, T, block_in(io->qd, 0, 0), false, slope);
    }
    for (size_t v = 0; !tau && v < nv; v++)
        result[v] = load_effort(&of[v], T[v]);
}

void LANE_NAME(friction_map)(const dyn_scene *scene, void *memory, const dyn_friction_map *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    const size_t     nv = (size_t)m->nv;
    load_friction   *of = memory;
    for (size_t block = 0; block < blocks; block++) {
        const dyn_friction_map one = {.qd           = (const double *)block_in(io->qd, block, nv),
                                      .side         = (const double *)block_in(io->side, block, nv),
                                      .tau          = (const double *)block_in(io->tau, block, nv),
                                      .T            = (const double *)block_in(io->T, block, nv),
                                      .result       = (double *)block_out(io->result, block, nv),
                                      .factor       = (double *)block_out(io->factor, block, nv),
                                      .factor_slope = (double *)block_out(io->factor_slope, block, nv),
                                      .slope        = (double *)block_out(io->slope, block, nv * nv)};
        load_friction_set_sides(m, block_in(one.qd, 0, 0), block_in(one.side, 0, 0), of);
        map_block(m, of, &one);
    }
}
