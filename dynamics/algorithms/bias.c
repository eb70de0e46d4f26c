/* bias.c - computes single terms of the equation of motion.
 *
 * bias = tau(q, qd, 0); C qd = tau(q, qd, 0) without gravity, friction, springs and wrenches; g = tau(q, 0, 0) with
 * gravity only. These are three calls of inverse dynamics (Walker & Orin 1982). Friction is computed joint by joint. */
#include "kernels.h"
#include "dynamics/joint/joint_forces.h"
#include "dynamics/recursion/workspace.h"

size_t LANE_NAME(bias_size)(const dyn_model *m)
{
    return LANE_NAME(inverse_dynamics_size)(m);
}

static void friction(const dyn_scene *scene, const lane *qd, lane *out)
{
    const dyn_model *m = scene->model;
    for (int v = 0; v < m->nv; v++)
        out[v] = lane_of(0);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.has_friction && (scene->terms & DYN_FRICTION))
            out[b->joint.v] += coordinate_effort(b, joint_friction(b, joint_rate(b, qd)));
    }
}

void LANE_NAME(bias)(const dyn_scene *scene, void *memory, const dyn_bias *io, size_t blocks)
{
    size_t    nv      = (size_t)scene->model->nv;
    dyn_scene gravity = {.model = scene->model, .gravity = {scene->gravity[0], scene->gravity[1], scene->gravity[2]}};
    dyn_scene nothing = {.model = scene->model};
    if (io->bias) LANE_NAME(inverse_dynamics)
    (scene, memory, &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .wrenches = io->wrenches, .tau = io->bias},
     blocks);
    if (io->coriolis) LANE_NAME(inverse_dynamics)
    (&nothing, memory, &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .tau = io->coriolis}, blocks);
    if (io->gravity) LANE_NAME(inverse_dynamics)
    (&gravity, memory, &(dyn_inverse_dynamics){.q = io->q, .tau = io->gravity}, blocks);
    for (size_t block = 0; io->friction && block < blocks; block++)
        friction(scene, block_in(io->qd, block, nv), block_out(io->friction, block, nv));
}
