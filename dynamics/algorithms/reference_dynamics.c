/* reference_dynamics.c - computes tau = M qdd_r + C(q, qd) qd_r + g for a reference velocity qd_r and acceleration
 * qdd_r (Slotine & Li 1987), with the matrix C of coriolis.c, in one pass. This is the feed-forward of Slotine and Li's
 * controllers; qd_r is no measured velocity.
 *
 * By Echeandia & Wensing (2021) C is the sum of J^T (I J' + B J) over the bodies, with the Jacobian J of a body. So
 * with the reference motion of reference_motion.h each body and its descendants have
 *
 *     f = I a_r + B v_r - external,   tau = S . f.
 *
 * Friction and damping act at qd_r, as in the control laws that use this torque, and rotors at qdd_r. */
#include "kernels.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/reference_motion.h"

typedef struct workspace {
    joint_transform      *XJ;
    spatial_body         *body;
    dof                  *dof;
    reference_motion     *reference;
    world_fixed_wrenches *world_fixed;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ          = arena_take_joints(a, m),
                       .body        = arena_take(a, m->n_bodies, sizeof(spatial_body)),
                       .dof         = arena_take(a, dof_count(m), sizeof(dof)),
                       .reference   = arena_take(a, m->n_bodies, sizeof(reference_motion)),
                       .world_fixed = arena_take(a, m->n_bodies, sizeof(world_fixed_wrenches))};
}

size_t LANE_NAME(reference_dynamics_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return LANE_NAME(load_size)(m, 0, a.used);
}

/* Returns the force f = I a_r + B v_r of one body without its descendants, for the reference motion r. */
LANE_INLINE wrench reference_force(const dyn_body *b, const spatial_body *B, const reference_motion *r)
{
    const wrench twice = twice_coriolis_mul(B->l, &B->C, r->v.w);
    return wrench_add(inertia_mul(b->moments.mass, B->h, B->E, r->a),
                      (wrench){times(0.5, twice.f), times(0.5, twice.n)});
}

/* The inputs of one block. NULL means zeros. */
typedef struct inputs {
    const lane *q, *qd, *qd_r, *qdd_r, *wrenches;
} inputs;

static inputs inputs_of(const dyn_scene *scene, const dyn_reference_dynamics *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (inputs){.q        = block_in(io->q, block, nq),
                    .qd       = block_in(io->qd, block, nv),
                    .qd_r     = block_in(io->qd_reference, block, nv),
                    .qdd_r    = block_in(io->qdd_reference, block, nv),
                    .wrenches = nw ? block_in(io->wrenches, block, 9 * nw) : NULL};
}

/* Adds to tau the efforts of the rotor, the damper and the spring of a joint with a quaternion. */
static void add_free_effort(const dyn_scene *scene, const dyn_body *b, const inputs *x, lane *tau)
{
    const twist a   = free_reference(b, x->qd, x->qd_r, x->qdd_r);
    wrench      sum = free_efforts(b, scene->terms, a, free_rates(b, x->qd_r));
    if (has_free_spring(b, scene->terms)) sum.n = add(sum.n, free_spring(b, x->q));
    free_add_efforts(b, sum, tau);
}

/* Adds to tau the efforts within a joint with one coordinate: rotor at qdd_r, friction and damper at qd_r, spring at q.
 */
LANE_INLINE void add_joint_effort(const dyn_scene *scene, const dyn_body *b, const inputs *at, lane *tau)
{
    if (b->joint.is_ideal) return;
    if (dyn_joint_has_quaternion(b->joint.kind)) {
        if (has_free_forces(b)) add_free_effort(scene, b, at, tau);
        return;
    }
    lane effort = joint_passive(b, scene->terms, at->q, at->qd_r);
    if (b->joint.rotor_inertia != 0) effort = add_mul(effort, b->joint.rotor_inertia, joint_rate(b, at->qdd_r));
    tau[b->joint.v] += coordinate_effort(b, effort);
}

/* Sets the force of each body, I a_r + B v_r minus external wrenches (first comment). */
static void set_forces(const dyn_scene *scene, const workspace *ws, const inputs *at)
{
    for (size_t i = 0; i < scene->model->n_bodies; i++)
        ws->body[i].f = reference_force(&scene->model->body[i], &ws->body[i], &ws->reference[i]);
    if (scene_has_externals(scene, at->wrenches))
        spatial_subtract_externals(scene, at->wrenches, ws->body, ws->world_fixed);
}

/* Sets tau = S . f, from the leaves to the base, adding the force f of each body to that of its parent. */
static void gather_efforts(const dyn_scene *scene, const workspace *ws, const inputs *at, lane *tau)
{
    const dyn_model *m = scene->model;
    clear(tau, (size_t)m->nv);
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body *b = &m->body[i];
        for (size_t k = 0; k < dofs_of(b); k++)
            tau[(size_t)b->joint.v + k] += power(ws->dof[dof_first(m, i) + k].S, ws->body[i].f);
        add_joint_effort(scene, b, at, tau);
        if (b->tree.parent == DYN_WORLD) continue;
        spatial_body *P = &ws->body[b->tree.parent];
        P->f            = wrench_add(P->f, ws->body[i].f);
    }
}

void LANE_NAME(reference_dynamics)(const dyn_scene *scene, void *memory, const dyn_reference_dynamics *io,
                                   size_t blocks)
{
    if (scene_has_load(scene)) {
        LANE_NAME(loaded_reference_dynamics)(scene, memory, io, blocks);
        return;
    }
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        const inputs at  = inputs_of(scene, io, block);
        lane        *tau = block_out(io->tau, block, (size_t)scene->model->nv);
        set_joint_transforms(scene->model, at.q, ws.XJ);
        spatial_motions(scene, ws.XJ, (spatial_task){.qd = at.qd, .inertias = true}, ws.body, ws.dof);
        reference_motions(scene, ws.dof, at.qd_r, at.qdd_r, ws.reference);
        set_forces(scene, &ws, &at);
        gather_efforts(scene, &ws, &at, tau);
        couplings_add(scene, at.q, at.qd_r, 1, tau);
        drives_add(scene, at.qd_r, at.qdd_r, tau);
    }
}
