/* load_gradient.c - computes gradients of models whose friction depends on the load (load_friction.h).
 *
 * T are the efforts without friction, and f(qd), g(qd) the friction of a coordinate. tau = T + f + g |T| has dtau = a
 * dT + (f' + g' |T|) dqd, with the load factor a = 1 + g sign(T). So the derivatives of m . tau, with multipliers m,
 * are those of T with the multipliers a m, plus those of the friction at constant T. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/gradient.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    load_friction *friction;        /* [nv] friction as a function of the load |T| */
    lane          *T, *multipliers; /* [nv]; efforts without friction; their multipliers a m */
    void          *memory;          /* workspace of the kernels without friction */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (workspace){.friction    = arena_take(a, nv, sizeof(load_friction)),
                       .T           = arena_take(a, nv, sizeof(lane)),
                       .multipliers = arena_take(a, nv, sizeof(lane)),
                       .memory      = arena_take(a, 0, 1)};
}

size_t LANE_NAME(load_gradient_size)(const dyn_model *m, size_t inner)
{
    arena a = {0};
    if (!m->has_load) return inner;
    place(&a, m);
    return a.used + inner;
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_gradient loaded_gradient_block(const dyn_scene *scene, const dyn_gradient *io, size_t block)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    return (dyn_gradient){.q                   = (const double *)block_in(io->q, block, nq),
                          .qd                  = (const double *)block_in(io->qd, block, nv),
                          .qdd                 = (const double *)block_in(io->qdd, block, nv),
                          .wrenches            = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                          .multipliers         = (const double *)block_in(io->multipliers, block, nv),
                          .tau                 = (double *)block_out(io->tau, block, nv),
                          .gradient_q          = (double *)block_out(io->gradient_q, block, nv),
                          .gradient_qd         = (double *)block_out(io->gradient_qd, block, nv),
                          .gradient_qdd        = (double *)block_out(io->gradient_qdd, block, nv),
                          .gradient_parameters = (double *)block_out(io->gradient_parameters, block, 10 * m->n_rows),
                          .gradient_wrenches   = nw ? (double *)block_out(io->gradient_wrenches, block, 6 * nw) : NULL,
                          .gradient_gravity    = (double *)block_out(io->gradient_gravity, block, 3)};
}

/* Adds the derivatives of the friction with respect to qd at constant T. */
static void add_slopes(const dyn_model *m, const workspace *ws, const lane *qd, const lane *multipliers, lane *by_qd)
{
    for (int v = 0; v < m->nv; v++)
        by_qd[v] = add_mul(by_qd[v], load_slope(&ws->friction[v], ws->T[v]), multipliers[v]);
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d = &m->drive[k];
        drive_put(d, friction_slope(&d->friction, drive_sum(d, qd)) * drive_sum(d, multipliers), 1, by_qd);
    }
}

void LANE_NAME(loaded_gradient)(const dyn_scene *scene, void *memory, const dyn_gradient *io, size_t blocks)
{
    arena            a     = {.base = memory};
    const dyn_model *m     = scene->model;
    const dyn_scene  rigid = scene_without_friction(scene);
    const workspace  ws    = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        dyn_gradient one         = loaded_gradient_block(scene, io, block);
        const lane  *multipliers = block_in(one.multipliers, 0, 0), *qd = block_in(one.qd, 0, 0);
        lane        *tau = block_out(one.tau, 0, 0);
        LANE_NAME(inverse_dynamics)
        (&rigid, ws.memory,
         &(dyn_inverse_dynamics){
             .q = one.q, .qd = one.qd, .qdd = one.qdd, .wrenches = one.wrenches, .tau = (double *)ws.T},
         1);
        load_friction_set(m, qd, ws.friction);
        for (int v = 0; v < m->nv; v++)
            ws.multipliers[v] = load_factor(&ws.friction[v], ws.T[v]) * multipliers[v];
        one.multipliers = (const double *)ws.multipliers;
        one.tau         = NULL;
        LANE_NAME(gradient)(&rigid, ws.memory, &one, 1);
        add_slopes(m, &ws, qd, multipliers, block_out(one.gradient_qd, 0, 0));
        for (int v = 0; tau && v < m->nv; v++)
            tau[v] = load_effort(&ws.friction[v], ws.T[v]);
    }
}
