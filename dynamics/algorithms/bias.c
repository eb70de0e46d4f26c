/* bias.c - computes single terms of the equation of motion.
 *
 * bias = tau(q, qd, 0); C qd = tau(q, qd, 0) without gravity, friction, springs and wrenches; g = tau(q, 0, 0) with
 * gravity only. These are three calls of inverse dynamics (Walker & Orin 1982). Friction is computed joint by joint; if
 * it depends on the load, it is that at qdd = 0. */
#include "kernels.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/load_friction.h"
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
    drives_add_friction(scene, qd, out);
}

/* Replaces `out`, the tau without friction T (nv), by the friction of each coordinate: value + factor |T|. */
static void loaded_friction(const dyn_model *m, void *memory, const lane *qd, lane *out)
{
    load_friction *of = memory;
    load_friction_set(m, qd, of);
    for (int v = 0; v < m->nv; v++)
        out[v] = add_mul(of[v].value, of[v].factor, lane_abs(out[v]));
}

void LANE_NAME(bias)(const dyn_scene *scene, void *memory, const dyn_bias *io, size_t blocks)
{
    size_t     nv      = (size_t)scene->model->nv;
    dyn_scene  gravity = {.model = scene->model, .gravity = {scene->gravity[0], scene->gravity[1], scene->gravity[2]}};
    dyn_scene  nothing = {.model = scene->model};
    const bool loaded  = scene_has_load(scene);
    const dyn_scene rigid = scene_without_friction(scene);
    if (io->bias) LANE_NAME(inverse_dynamics)
    (scene, memory, &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .wrenches = io->wrenches, .tau = io->bias},
     blocks);
    if (io->coriolis) LANE_NAME(inverse_dynamics)
    (&nothing, memory, &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .tau = io->coriolis}, blocks);
    if (io->gravity) LANE_NAME(inverse_dynamics)
    (&gravity, memory, &(dyn_inverse_dynamics){.q = io->q, .tau = io->gravity}, blocks);
    if (io->friction && loaded) LANE_NAME(inverse_dynamics)
    (&rigid, memory, &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .wrenches = io->wrenches, .tau = io->friction},
     blocks);
    for (size_t block = 0; io->friction && loaded && block < blocks; block++)
        loaded_friction(scene->model, memory, block_in(io->qd, block, nv), block_out(io->friction, block, nv));
    for (size_t block = 0; io->friction && !loaded && block < blocks; block++)
        friction(scene, block_in(io->qd, block, nv), block_out(io->friction, block, nv));
}
