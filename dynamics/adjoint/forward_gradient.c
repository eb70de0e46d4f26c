/* forward_gradient.c - computes the derivatives of multipliers . qdd with respect to q, qd, tau, inertial parameters,
 * external wrenches and gravity, in O(n): the adjoint of forward dynamics.
 *
 * tau = ID(q, qd, qdd) remains true under any variation (forward_sensitivity.c), so with mu = M^-1 multipliers
 *
 *     d(multipliers . qdd) = mu . (dtau - dID at constant qdd).
 *
 * mu is the acceleration of the robot at rest under the efforts `multipliers`, without gravity and any other force. The
 * pivots that forward dynamics has stored give mu (forward_dynamics.c). The gradient with respect to tau is mu.
 * gradient.c with the multipliers -mu gives all other gradients. With friction that depends on the load, dID/dqdd is M
 * with row v multiplied by the load factor a_v of its coordinate (load_friction.h). Then mu_v = (M^-1 multipliers)_v /
 * a_v. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/gradient.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    lane *multipliers, *unused; /* [nv] each: -mu; the gradient with respect to qdd, which is not an output here */
    load_friction *friction;    /* [nv] friction of each coordinate; only if it depends on the load */
    void          *memory;      /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv, forward = LANE_NAME(forward_dynamics_size)(m),
                 gradient = LANE_NAME(gradient_size)(m);
    return (workspace){.multipliers = arena_take(a, nv, sizeof(lane)),
                       .unused      = arena_take(a, nv, sizeof(lane)),
                       .friction    = arena_take(a, m->has_load ? nv : 0, sizeof(load_friction)),
                       .memory      = arena_take(a, forward > gradient ? forward : gradient, 1)};
}

size_t LANE_NAME(forward_gradient_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_forward_gradient forward_block_io(const dyn_scene *scene, const dyn_forward_gradient *io, size_t block)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    return (dyn_forward_gradient){
        .q                   = (const double *)block_in(io->q, block, nq),
        .qd                  = (const double *)block_in(io->qd, block, nv),
        .tau                 = (const double *)block_in(io->tau, block, nv),
        .wrenches            = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
        .multipliers         = (const double *)block_in(io->multipliers, block, nv),
        .qdd                 = (double *)block_out(io->qdd, block, nv),
        .gradient_q          = (double *)block_out(io->gradient_q, block, nv),
        .gradient_qd         = (double *)block_out(io->gradient_qd, block, nv),
        .gradient_tau        = (double *)block_out(io->gradient_tau, block, nv),
        .gradient_parameters = (double *)block_out(io->gradient_parameters, block, 10 * m->n_rows),
        .gradient_wrenches   = nw ? (double *)block_out(io->gradient_wrenches, block, 6 * nw) : NULL,
        .gradient_gravity    = (double *)block_out(io->gradient_gravity, block, 3),
        .singular            = (double *)block_out(io->singular, block, 1)};
}

/* Divides mu, entry by entry, by the load factor a of the coordinate. */
static void divide_by_load_factors(const dyn_scene *scene, const workspace *ws, const dyn_forward_gradient *io,
                                   lane *mu)
{
    const lane *tau = block_in(io->tau, 0, 0);
    load_friction_set(scene->model, block_in(io->qd, 0, 0), ws->friction);
    for (int v = 0; v < scene->model->nv; v++) {
        const load_friction *f = &ws->friction[v];
        mu[v]                  = mu[v] / load_factor(f, load_transmitted(f, tau ? tau[v] : lane_of(0)));
    }
}

/* Computes the gradients of one block. io->qdd must hold the accelerations already. `factors` may be ws->memory, which
 * the call of `gradient` overwrites: `factors` is read before this call only. */
static void put_forward_gradients(const dyn_scene *scene, const workspace *ws, void *factors,
                                  const dyn_forward_gradient *io)
{
    lane *mu = block_out(io->gradient_tau, 0, 0);
    LANE_NAME(accelerate_at_rest)(scene, factors, block_in(io->multipliers, 0, 0), mu);
    if (scene_has_load(scene)) divide_by_load_factors(scene, ws, io, mu);
    for (int v = 0; v < scene->model->nv; v++)
        ws->multipliers[v] = -mu[v];
    LANE_NAME(gradient)
    (scene, ws->memory,
     &(dyn_gradient){.q                   = io->q,
                     .qd                  = io->qd,
                     .qdd                 = io->qdd,
                     .wrenches            = io->wrenches,
                     .multipliers         = (const double *)ws->multipliers,
                     .gradient_q          = io->gradient_q,
                     .gradient_qd         = io->gradient_qd,
                     .gradient_qdd        = (double *)ws->unused,
                     .gradient_parameters = io->gradient_parameters,
                     .gradient_wrenches   = io->gradient_wrenches,
                     .gradient_gravity    = io->gradient_gravity},
     1);
}

void LANE_NAME(forward_gradient_from)(const dyn_scene *scene, void *memory, void *factors,
                                      const dyn_forward_gradient *io)
{
    arena           a  = {.base = memory};
    const workspace ws = place(&a, scene->model);
    put_forward_gradients(scene, &ws, factors, io);
}

void LANE_NAME(forward_gradient)(const dyn_scene *scene, void *memory, const dyn_forward_gradient *io, size_t blocks)
{
    arena           a  = {.base = memory};
    const workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_forward_gradient one = forward_block_io(scene, io, block);
        LANE_NAME(forward_dynamics)
        (scene, ws.memory,
         &(dyn_forward_dynamics){.q        = one.q,
                                 .qd       = one.qd,
                                 .tau      = one.tau,
                                 .wrenches = one.wrenches,
                                 .qdd      = one.qdd,
                                 .singular = one.singular},
         1);
        put_forward_gradients(scene, &ws, ws.memory, &one);
    }
}
