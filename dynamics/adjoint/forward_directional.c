/* forward_directional.c - computes the rates of qdd along directions of q, qd and tau, in O(n) for each direction.
 *
 * tau = ID(q, qd, qdd) remains true under any variation, so the rate of qdd is M^-1 (j - dID), with the direction j of
 * tau and the rate dID of ID along (q, qd) at constant qdd (directional.c). M^-1 x is the acceleration of the robot at
 * rest under the effort x alone, without gravity (forward_dynamics.c). With friction that depends on the load j -
 * dID is first divided by the load factor a of each coordinate (load_friction.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    lane          *effort;   /* [nv] effort under which the robot at rest has the rate of qdd as its acceleration */
    load_friction *friction; /* [nv] friction of each coordinate; only if it depends on the load */
    void          *factors;  /* workspace of forward_dynamics, whose pivots each direction uses */
    void          *memory;   /* workspace of directional */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (workspace){.effort   = arena_take(a, nv, sizeof(lane)),
                       .friction = arena_take(a, m->has_load ? nv : 0, sizeof(load_friction)),
                       .factors  = arena_take(a, LANE_NAME(forward_dynamics_size)(m), 1),
                       .memory   = arena_take(a, LANE_NAME(directional_size)(m), 1)};
}

size_t LANE_NAME(forward_directional_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_forward_directional forward_directional_block(const dyn_scene *scene, const dyn_forward_directional *io,
                                                         size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_forward_directional){.q             = (const double *)block_in(io->q, block, nq),
                                     .qd            = (const double *)block_in(io->qd, block, nv),
                                     .tau           = (const double *)block_in(io->tau, block, nv),
                                     .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                     .n             = io->n,
                                     .direction_q   = (const double *)block_in(io->direction_q, block, io->n * nv),
                                     .direction_qd  = (const double *)block_in(io->direction_qd, block, io->n * nv),
                                     .direction_tau = (const double *)block_in(io->direction_tau, block, io->n * nv),
                                     .rates         = (double *)block_out(io->rates, block, io->n * nv),
                                     .qdd           = (double *)block_out(io->qdd, block, nv),
                                     .singular      = (double *)block_out(io->singular, block, 1)};
}

/* Replaces the rate dID of inverse dynamics along direction k, at constant qdd, by the rate of qdd, M^-1 (j - dID).
 * With friction that depends on the load, j - dID is first divided by the load factor a. */
static void solve_direction(const dyn_scene *scene, const workspace *ws, const dyn_forward_directional *io, size_t k)
{
    const size_t nv    = (size_t)scene->model->nv;
    const lane  *along = block_in(io->direction_tau, k, nv), *tau = block_in(io->tau, 0, 0);
    lane        *rates = block_out(io->rates, k, nv);
    for (size_t v = 0; v < nv; v++) {
        lane effort = along ? along[v] - rates[v] : -rates[v];
        if (scene_has_load(scene)) {
            const load_friction *f = &ws->friction[v];
            effort                 = effort / load_factor(f, load_transmitted(f, tau ? tau[v] : lane_of(0)));
        }
        ws->effort[v] = effort;
    }
    LANE_NAME(accelerate_at_rest)(scene, ws->factors, ws->effort, rates);
}

/* Computes the rates of one block. io->qdd must hold the accelerations already. */
static void put_forward_rates(const dyn_scene *scene, const workspace *ws, const dyn_forward_directional *io)
{
    LANE_NAME(directional)
    (scene, ws->memory,
     &(dyn_directional){.q            = io->q,
                        .qd           = io->qd,
                        .qdd          = io->qdd,
                        .wrenches     = io->wrenches,
                        .n            = io->n,
                        .direction_q  = io->direction_q,
                        .direction_qd = io->direction_qd,
                        .rates        = io->rates},
     1);
    if (scene_has_load(scene)) load_friction_set(scene->model, block_in(io->qd, 0, 0), ws->friction);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, (size_t)scene->model->nv); k++)
        solve_direction(scene, ws, io, k);
}

void LANE_NAME(forward_directional_from)(const dyn_scene *scene, void *memory, void *factors,
                                         const dyn_forward_directional *io)
{
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    ws.factors   = factors;
    put_forward_rates(scene, &ws, io);
}

void LANE_NAME(forward_directional)(const dyn_scene *scene, void *memory, const dyn_forward_directional *io,
                                    size_t blocks)
{
    arena           a  = {.base = memory};
    const workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_forward_directional one = forward_directional_block(scene, io, block);
        LANE_NAME(forward_dynamics)
        (scene, ws.factors,
         &(dyn_forward_dynamics){.q        = one.q,
                                 .qd       = one.qd,
                                 .tau      = one.tau,
                                 .wrenches = one.wrenches,
                                 .qdd      = one.qdd,
                                 .singular = one.singular},
         1);
        put_forward_rates(scene, &ws, &one);
    }
}
