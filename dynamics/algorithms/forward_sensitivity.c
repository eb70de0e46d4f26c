/* forward_sensitivity.c - computes derivatives of forward dynamics from those of inverse dynamics.
 *
 * tau = ID(q, qd, qdd, W) remains true under any variation. With constant tau, M dqdd/dx = -dID/dx at the qdd that tau
 * produces, and dqdd/dtau = M^-1 (Carpentier & Mansard 2018). Factors, inverse and products leave out the zeros that
 * follow from the tree.
 *
 * With friction that depends on the load, the equation without friction gives T(tau, qd) (load_friction.h). At constant
 * tau, dT/dqd = -(f' + g' |T|) / a for each coordinate, and dT/dtau = 1 / a. */
#include "kernels.h"
#include "dynamics/joint/free_joint_forces.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/mass_solve.h"
#include "dynamics/recursion/world_fixed.h"
#include <string.h>

typedef struct workspace {
    mass_blocks    blocks;
    lane          *mass, *by_q, *by_qd; /* [nv x nv] each: M, dtau/dq and dtau/dqd */
    lane          *by_wrench;           /* [nv x 6] derivative of tau with respect to one external wrench */
    load_friction *friction; /* [nv] friction of each coordinate; `friction` and T are set only if the friction of the
                                model depends on the load */
    lane *T;                 /* [nv] efforts without friction that give the same motion as tau */
    void *memory;            /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv, forward = LANE_NAME(forward_dynamics_size)(m), inverse = LANE_NAME(sensitivity_size)(m);
    const size_t square = nv * nv + PACK; /* vector loads (pack.h) read beyond the last row */
    return (workspace){.blocks    = mass_blocks_place(a, m),
                       .mass      = arena_take(a, square, sizeof(lane)),
                       .by_q      = arena_take(a, square, sizeof(lane)),
                       .by_qd     = arena_take(a, square, sizeof(lane)),
                       .by_wrench = arena_take(a, nv * 6 + PACK, sizeof(lane)),
                       .friction  = arena_take(a, m->has_load ? nv : 0, sizeof(load_friction)),
                       .T         = arena_take(a, m->has_load ? nv : 0, sizeof(lane)),
                       .memory    = arena_take(a, forward > inverse ? forward : inverse, 1)};
}

size_t LANE_NAME(forward_sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Returns the equations of columns first to end - 1 of a system with several right sides. */
static mass_system columns_of(mass_system all, int first, int end)
{
    return (mass_system){all.A + first, all.X + first, all.stride, first, end, all.zeros_are_set};
}

/* Computes dqdd/dx = -M^-1 dtau/dx for x = q, qd. The columns of the pose and linear velocity of a floating base need
 * no elimination (solve_floating_base). A wrench in world axes does not rotate with the base: the columns of its
 * orientation are then solved for like those of other joints. */
static void solve_by_state(const dyn_scene *scene, const workspace *ws, const dyn_forward_sensitivity *io)
{
    const dyn_model  *m      = scene->model;
    const size_t      nv     = (size_t)m->nv;
    const mass_system by_q   = {ws->by_q, block_out(io->dqdd_dq, 0, 0), nv, 0, m->nv, io->zeros_are_set};
    const mass_system by_qd  = {ws->by_qd, block_out(io->dqdd_dqd, 0, 0), nv, 0, m->nv, io->zeros_are_set};
    const bool        floats = m->floating && m->body[0].joint.v == 0 && !m->dense && !has_free_forces(&m->body[0]);
    const int         pose   = !floats                                                      ? 0
                               : scene_has_world_fixed(scene, block_in(io->wrenches, 0, 0)) ? 3
                                                                                            : 6,
              velocity       = floats ? 3 : 0;
    if (floats) {
        solve_floating_base(&ws->blocks, columns_of(by_q, 0, pose), ws->mass[0]);
        solve_floating_base(&ws->blocks, columns_of(by_qd, 0, velocity), ws->mass[0]);
    }
    solve_derivative(&ws->blocks, nv, columns_of(by_q, pose, m->nv));
    solve_derivative(&ws->blocks, nv, columns_of(by_qd, velocity, m->nv));
}

/* Computes dqdd/dW = -M^-1 dtau/dW for each external wrench W (nv x 6). `derivative` holds dtau/dW on entry and is
 * overwritten. */
static void solve_wrenches(const dyn_scene *scene, const workspace *ws, double *derivative)
{
    const size_t nv = (size_t)scene->model->nv;
    for (size_t n = 0; derivative && n < scene->n_wrenches && goes_on(scene->deadline, nv); n++) {
        const mass_system of_wrench = {ws->by_wrench, block_out(derivative, n, nv * 6), 6, 0, 6, false};
        memcpy(of_wrench.A, of_wrench.X, nv * 6 * sizeof(lane));
        solve_wrench(scene->model, &ws->blocks, of_wrench, scene->wrench[n].body);
    }
}

/* Sets ws->T, the efforts without friction that belong to io->tau, and ws->friction of all coordinates. */
static void set_transmitted(const dyn_scene *scene, const workspace *ws, const dyn_forward_sensitivity *io)
{
    const lane *tau = block_in(io->tau, 0, 0);
    load_friction_set(scene->model, block_in(io->qd, 0, 0), ws->friction);
    for (int v = 0; v < scene->model->nv; v++)
        ws->T[v] = load_transmitted(&ws->friction[v], tau ? tau[v] : lane_of(0));
}

/* Turns the derivative with respect to T into that with respect to tau: dqdd/dtau = dqdd/dT / a, with the load factor a
 * of each coordinate. */
static void scale_columns(const dyn_model *m, const workspace *ws, lane *by_tau)
{
    const size_t nv = (size_t)m->nv;
    for (size_t i = 0; by_tau && i < nv; i++)
        for (size_t v = 0; v < nv; v++)
            by_tau[i * nv + v] = by_tau[i * nv + v] / load_factor(&ws->friction[v], ws->T[v]);
}

/* Computes one block. `loaded`: friction depends on the load, so io->tau is the effort T without friction, and the
 * derivative with respect to T is converted to the one with respect to tau. */
static void one_block(const dyn_scene *scene, const workspace *ws, const dyn_forward_sensitivity *io, bool loaded)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    /* qdd = FD(q, qd, tau, W) */
    LANE_NAME(forward_dynamics)
    (scene, ws->memory,
     &(dyn_forward_dynamics){.q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd}, 1);
    /* dtau/dx = dID/dx for x = q, qd, W, and M = dtau/dqdd, at the qdd that tau produces. Entries that are zero in
     * every state are not read. */
    LANE_NAME(sensitivity)
    (scene, ws->memory,
     &(dyn_sensitivity){.q             = io->q,
                        .qd            = io->qd,
                        .qdd           = io->qdd,
                        .wrenches      = io->wrenches,
                        .zeros_are_set = true,
                        .dtau_dq       = (double *)(void *)ws->by_q,
                        .dtau_dqd      = (double *)(void *)ws->by_qd,
                        .dtau_dqdd     = (double *)(void *)ws->mass,
                        .dtau_dwrench  = io->dqdd_dwrench},
     1);
    if (loaded) load_add_slopes(m, ws->friction, ws->T, block_in(io->qd, 0, 0), true, ws->by_qd);
    lane singular = mass_blocks_factor(m, &ws->blocks, ws->mass);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
    /* dqdd/dtau = M^-1,  dqdd/dx = -M^-1 dtau/dx for x = q, qd */
    if (io->dqdd_dtau) mass_blocks_invert(&ws->blocks, nv, io->zeros_are_set, block_out(io->dqdd_dtau, 0, 0));
    solve_by_state(scene, ws, io);
    solve_wrenches(scene, ws, io->dqdd_dwrench);
    if (loaded) scale_columns(m, ws, block_out(io->dqdd_dtau, 0, 0));
}

void LANE_NAME(forward_sensitivity)(const dyn_scene *scene, void *memory, const dyn_forward_sensitivity *io,
                                    size_t blocks)
{
    size_t          nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    arena           a      = {.base = memory};
    workspace       ws     = place(&a, scene->model);
    const bool      loaded = scene_has_load(scene);
    const dyn_scene rigid  = loaded ? scene_without_friction(scene) : *scene;
    mass_blocks_prepare(scene, &ws.blocks);
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_sensitivity one = {.q        = (const double *)block_in(io->q, block, nq),
                                       .qd       = (const double *)block_in(io->qd, block, nv),
                                       .tau      = (const double *)block_in(io->tau, block, nv),
                                       .wrenches = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                       .zeros_are_set = io->zeros_are_set,
                                       .qdd           = (double *)block_out(io->qdd, block, nv),
                                       .dqdd_dq       = (double *)block_out(io->dqdd_dq, block, nv * nv),
                                       .dqdd_dqd      = (double *)block_out(io->dqdd_dqd, block, nv * nv),
                                       .dqdd_dtau     = (double *)block_out(io->dqdd_dtau, block, nv * nv),
                                       .dqdd_dwrench =
                                           nw ? (double *)block_out(io->dqdd_dwrench, block, nw * nv * 6) : NULL,
                                       .singular = (double *)block_out(io->singular, block, 1)};
        if (loaded) {
            set_transmitted(scene, &ws, &one);
            one.tau = (const double *)ws.T;
        }
        one_block(&rigid, &ws, &one, loaded);
    }
}
