/* inverse_dynamics.c - computes tau and the joint wrenches: newton_euler.h without rates. */
#include "kernels.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/newton_euler.h"

size_t LANE_NAME(inverse_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    newton_euler_place(&a, m, false);
    return LANE_NAME(load_size)(m, 0, a.used);
}

void LANE_NAME(inverse_dynamics)(const dyn_scene *scene, void *memory, const dyn_inverse_dynamics *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_inverse_dynamics)(scene, memory, io, blocks);
        return;
    }
    const dyn_model       *m  = scene->model;
    size_t                 nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    arena                  a  = {.base = memory};
    newton_euler_workspace ws = newton_euler_place(&a, m, false);
    for (size_t block = 0; block < blocks; block++) {
        newton_euler_io one = {.q              = block_in(io->q, block, nq),
                               .qd             = block_in(io->qd, block, nv),
                               .qdd            = block_in(io->qdd, block, nv),
                               .wrenches       = nw ? block_in(io->wrenches, block, 9 * nw) : NULL,
                               .tau            = block_out(io->tau, block, nv),
                               .joint_wrenches = block_out(io->joint_wrenches, block, 6 * m->n_rows)};
        newton_euler(scene, &ws, &one, false);
    }
}
