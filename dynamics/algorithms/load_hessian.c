/* load_hessian.c - computes second derivatives of tau of models whose friction depends on the load (load_friction.h).
 *
 * With the load factor a = 1 + g sign(T), the second derivatives of tau = T + f + g |T| of one coordinate with respect
 * to x and y are
 *
 *     a d2T/dx dy + g' sign(T) (dT/dx dqd/dy + dT/dy dqd/dx) + (f'' + g'' |T|) dqd/dx dqd/dy,
 *
 * where qd is the coordinate's own velocity. The friction of the motors of coupled transmissions adds terms of its own
 * (drive_forces.h). The first term is computed by hessian.c with the multipliers m a, where m are those of tau. */
#include "kernels.h"
#include "dynamics/hessian.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    load_friction *friction; /* [nv] friction of each coordinate at qd */
    lane *T, *multipliers; /* [nv] each: efforts without friction; their multipliers m a, with m those of tau and a the
                              load factor */
    lane *by_q, *by_qd, *by_qdd; /* nv x nv each: derivatives of T with respect to q, qd and qdd */
    void *memory;                /* workspace of the kernels without friction */
} workspace;

/* Lays out the workspace. hessian_size calls load_size with 3 matrices, to count by_q, by_qd and by_qdd. */
static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (workspace){.friction    = arena_take(a, nv, sizeof(load_friction)),
                       .T           = arena_take(a, nv, sizeof(lane)),
                       .multipliers = arena_take(a, nv, sizeof(lane)),
                       .by_q        = arena_take(a, nv * nv, sizeof(lane)),
                       .by_qd       = arena_take(a, nv * nv, sizeof(lane)),
                       .by_qdd      = arena_take(a, nv * nv, sizeof(lane)),
                       .memory      = arena_take(a, 0, 1)};
}

/* Results of one block, nv x nv each; NULL: not requested. */
enum { Q_Q, Q_QD, Q_QDD, QD_QD, QD_QDD, RESULTS };

typedef struct results {
    lane *x[RESULTS];
} results;

/* Returns pointers to matrix number `index` of each result of `io`: the second derivatives of the effort of coordinate
 * `index`. */
static results results_of(const dyn_hessian *io, size_t index, size_t n)
{
    return (results){{[Q_Q]    = block_out(io->q_q, index, n),
                      [Q_QD]   = block_out(io->q_qd, index, n),
                      [Q_QDD]  = block_out(io->q_qdd, index, n),
                      [QD_QD]  = block_out(io->qd_qd, index, n),
                      [QD_QDD] = block_out(io->qd_qdd, index, n)}};
}

/* Adds to `out` the terms with derivatives of the friction of coordinate v (first comment), times its multiplier. */
static void add_friction_terms(const workspace *ws, size_t nv, size_t v, lane multiplier, const results *out)
{
    const load_friction *f    = &ws->friction[v];
    const lane           rate = multiplier * (f->factor_slope * lane_sign(ws->T[v]));
    for (size_t j = 0, row = v * nv; j < nv; j++) {
        const size_t down = j * nv + v, across = row + j;
        if (out->x[Q_QD]) out->x[Q_QD][down] = add_mul(out->x[Q_QD][down], rate, ws->by_q[across]);
        if (out->x[QD_QDD]) out->x[QD_QDD][across] = add_mul(out->x[QD_QDD][across], rate, ws->by_qdd[across]);
        if (!out->x[QD_QD]) continue;
        out->x[QD_QD][down]   = add_mul(out->x[QD_QD][down], rate, ws->by_qd[across]);
        out->x[QD_QD][across] = add_mul(out->x[QD_QD][across], rate, ws->by_qd[across]);
    }
    if (out->x[QD_QD])
        out->x[QD_QD][v * (nv + 1)] = add_mul(out->x[QD_QD][v * (nv + 1)], multiplier, load_curvature(f, ws->T[v]));
}

/* Replaces the derivatives of T by those of tau. Without multipliers the results have a matrix for each coordinate. */
static void map_results(const dyn_model *m, const workspace *ws, const lane *multipliers, const dyn_hessian *one)
{
    const size_t nv = (size_t)m->nv, n = nv * nv;
    for (size_t v = 0; v < nv; v++) {
        const results out = results_of(one, multipliers ? 0 : v, n);
        const lane    a   = load_factor(&ws->friction[v], ws->T[v]);
        for (size_t r = 0; !multipliers && r < RESULTS; r++)
            for (size_t e = 0; out.x[r] && e < n; e++)
                out.x[r][e] = a * out.x[r][e];
        add_friction_terms(ws, nv, v, multipliers ? multipliers[v] : lane_of(1), &out);
        if (multipliers || !out.x[QD_QD]) continue;
        clear(ws->multipliers, nv);
        ws->multipliers[v] = lane_of(1);
        drives_add_friction_curvature(m, block_in(one->qd, 0, 0), ws->multipliers, out.x[QD_QD]);
    }
    if (multipliers && one->qd_qd)
        drives_add_friction_curvature(m, block_in(one->qd, 0, 0), multipliers, block_out(one->qd_qd, 0, 0));
}

/* Returns a copy of `io` whose arrays begin at a block. `n`: entries of its results. */
static dyn_hessian hessian_block(const dyn_scene *scene, const dyn_hessian *io, size_t block, size_t n)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_hessian){.q             = (const double *)block_in(io->q, block, nq),
                         .qd            = (const double *)block_in(io->qd, block, nv),
                         .qdd           = (const double *)block_in(io->qdd, block, nv),
                         .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                         .multipliers   = (const double *)block_in(io->multipliers, block, nv),
                         .zeros_are_set = io->zeros_are_set,
                         .q_q           = (double *)block_out(io->q_q, block, n),
                         .q_qd          = (double *)block_out(io->q_qd, block, n),
                         .q_qdd         = (double *)block_out(io->q_qdd, block, n),
                         .qd_qd         = (double *)block_out(io->qd_qd, block, n),
                         .qd_qdd        = (double *)block_out(io->qd_qdd, block, n)};
}

/* Computes T with its first derivatives, and the friction of all coordinates. */
static void prepare(const dyn_scene *rigid, const workspace *ws, const dyn_hessian *one)
{
    const dyn_inverse_dynamics efforts = {
        .q = one->q, .qd = one->qd, .qdd = one->qdd, .wrenches = one->wrenches, .tau = (double *)ws->T};
    const dyn_sensitivity derivatives = {.q         = one->q,
                                         .qd        = one->qd,
                                         .qdd       = one->qdd,
                                         .wrenches  = one->wrenches,
                                         .dtau_dq   = (double *)ws->by_q,
                                         .dtau_dqd  = (double *)ws->by_qd,
                                         .dtau_dqdd = (double *)ws->by_qdd};
    LANE_NAME(inverse_dynamics)(rigid, ws->memory, &efforts, 1);
    LANE_NAME(sensitivity)(rigid, ws->memory, &derivatives, 1);
    load_friction_set(rigid->model, block_in(one->qd, 0, 0), ws->friction);
}

void LANE_NAME(loaded_hessian)(const dyn_scene *scene, void *memory, const dyn_hessian *io, size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model);
    const size_t    nv = (size_t)scene->model->nv, n = io->multipliers ? nv * nv : nv * nv * nv;
    for (size_t block = 0; block < blocks; block++) {
        dyn_hessian one         = hessian_block(scene, io, block, n);
        const lane *multipliers = block_in(one.multipliers, 0, 0);
        prepare(&rigid, &ws, &one);
        for (size_t v = 0; multipliers && v < nv; v++)
            ws.multipliers[v] = load_factor(&ws.friction[v], ws.T[v]) * multipliers[v];
        if (multipliers) one.multipliers = (const double *)ws.multipliers;
        LANE_NAME(hessian)(&rigid, ws.memory, &one, 1);
        map_results(scene->model, &ws, multipliers, &one);
    }
}
