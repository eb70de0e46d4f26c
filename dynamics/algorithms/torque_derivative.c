/* torque_derivative.c - computes tau, the joint wrenches and their time derivatives: newton_euler.h with rates. */
#include "kernels.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/newton_euler.h"

size_t LANE_NAME(torque_derivative_size)(const dyn_model *m)
{
    arena a = {0};
    newton_euler_place(&a, m, true);
    return LANE_NAME(load_size)(m, 0, a.used);
}

void LANE_NAME(torque_derivative)(const dyn_scene *scene, void *memory, const dyn_torque_derivative *io, size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_torque_derivative)(scene, memory, io, blocks);
        return;
    }
    const dyn_model       *m  = scene->model;
    size_t                 nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = 6 * m->n_rows;
    arena                  a  = {.base = memory};
    newton_euler_workspace ws = newton_euler_place(&a, m, true);
    for (size_t block = 0; block < blocks; block++) {
        newton_euler_io one = {.q                  = block_in(io->q, block, nq),
                               .qd                 = block_in(io->qd, block, nv),
                               .qdd                = block_in(io->qdd, block, nv),
                               .along.qdd          = block_in(io->qddd, block, nv),
                               .wrenches           = nw ? block_in(io->wrenches, block, 9 * nw) : NULL,
                               .wrench_rates       = nw ? block_in(io->wrench_rates, block, 6 * nw) : NULL,
                               .tau                = block_out(io->tau, block, nv),
                               .tau_dot            = block_out(io->tau_dot, block, nv),
                               .joint_wrenches     = block_out(io->joint_wrenches, block, nj),
                               .joint_wrench_rates = block_out(io->joint_wrench_rates, block, nj)};
        newton_euler(scene, &ws, &one, true);
    }
}
