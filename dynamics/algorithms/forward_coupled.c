/* forward_coupled.c - computes forward dynamics of a coupled model (dyn_model_is_coupled): solves M qdd = tau - bias.
 *
 * Joints that share a coordinate connect branches of the tree, and a motor of a coupled transmission adds inertia
 * between joints. The articulated body algorithm can represent neither. M and the bias come from their own kernels
 * (Walker & Orin 1982, method 3). The bias includes the prescribed accelerations of driven coordinates, which are
 * locked in M. */
#include "kernels.h"
#include "dynamics/recursion/mass_factor.h"

typedef struct workspace {
    factor factor;
    lane  *M;      /* [nv x nv] */
    void  *memory; /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t mass = LANE_NAME(mass_matrix_size)(m), inverse = LANE_NAME(inverse_dynamics_size)(m);
    return (workspace){.factor = factor_place(a, m),
                       .M      = arena_take(a, (size_t)m->nv * (size_t)m->nv, sizeof(lane)),
                       .memory = arena_take(a, mass > inverse ? mass : inverse, 1)};
}

size_t LANE_NAME(forward_coupled_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Locks coordinate v in M alpha = y: an infinite diagonal entry makes alpha_v zero. */
static void lock(const dyn_model *m, lane *M, lane *y, int v)
{
    size_t nv = (size_t)m->nv, k = (size_t)v;
    for (size_t i = 0; i < nv; i++)
        M[i * nv + k] = M[k * nv + i] = lane_of(0);
    M[k * nv + k] = lane_of(DBL_MAX);
    y[k]          = lane_of(0);
}

/* Computes one block. The array qdd first receives the bias at the prescribed accelerations, then the solution. At the
 * end driven coordinates get their prescribed qdd. */
void LANE_NAME(forward_coupled)(const dyn_scene *scene, void *memory, const dyn_forward_dynamics *io)
{
    const dyn_model *m          = scene->model;
    arena            a          = {.base = memory};
    workspace        ws         = place(&a, m);
    const lane      *tau        = block_in(io->tau, 0, (size_t)m->nv);
    lane            *qdd        = block_out(io->qdd, 0, (size_t)m->nv);
    const lane      *driven_qdd = block_in(io->driven_qdd, 0, (size_t)m->nv);
    /* M, and bias = ID(q, qd, qdd of the driven coordinates, W) */
    LANE_NAME(mass_matrix)(scene, ws.memory, &(dyn_mass_matrix){.q = io->q, .mass_matrix = (double *)(void *)ws.M}, 1);
    LANE_NAME(inverse_dynamics)
    (scene, ws.memory,
     &(dyn_inverse_dynamics){.q = io->q, .qd = io->qd, .qdd = io->driven_qdd, .wrenches = io->wrenches, .tau = io->qdd},
     1);
    /* M qdd = tau - bias, with M = L^T D L */
    for (int v = 0; v < m->nv; v++) {
        qdd[v] = (tau ? tau[v] : lane_of(0)) - qdd[v];
        if (io->driven && io->driven[v]) lock(m, ws.M, qdd, v);
    }
    coordinate_tree_prepare(m, &ws.factor.tree);
    ws.factor.deadline = scene->deadline;
    lane singular      = factor_make(m, &ws.factor, ws.M);
    factor_solve(m, &ws.factor, qdd);
    for (int v = 0; v < m->nv; v++)
        if (io->driven && io->driven[v]) qdd[v] = driven_qdd ? driven_qdd[v] : lane_of(0);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
}

void LANE_NAME(accelerate_coupled_at_rest)(const dyn_model *m, void *memory, const lane *effort, lane *qdd)
{
    arena           a  = {.base = memory};
    const workspace ws = place(&a, m);
    for (int v = 0; v < m->nv; v++)
        qdd[v] = effort[v];
    factor_solve(m, &ws.factor, qdd);
}
