/* forward_sensitivity.c - derivatives of forward dynamics from those of inverse dynamics.
 *
 * tau = ID(q, qd, qdd, W) holds along any change: with tau fixed, M dqdd/dx = -dID/dx at the qdd that tau gives, and
 * dqdd/dtau = M^-1 (Carpentier & Mansard 2018). */
#include "kernels.h"

typedef struct workspace {
    lane *x;      /* [nv] */
    void *memory; /* of the kernels called */
} workspace;

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static workspace place(arena *a, const dyn_model *m)
{
    size_t called =
        most(LANE_NAME(forward_dynamics_size)(m), most(LANE_NAME(sensitivity_size)(m), LANE_NAME(mass_matrix_size)(m)));
    return (workspace){.x = arena_take(a, (size_t)m->nv, sizeof(lane)), .memory = arena_take(a, called, 1)};
}

size_t LANE_NAME(forward_sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* X <- -M^-1 X, nv x columns, M^-1 symmetric */
static void solve(const dyn_model *m, const lane *inverse, lane *x, lane *X, size_t columns)
{
    size_t nv = (size_t)m->nv;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < nv; i++) {
            lane sum = lane_of(0);
            for (size_t k = 0; k < nv; k++)
                sum -= inverse[i * nv + k] * X[k * columns + c];
            x[i] = sum;
        }
        for (size_t i = 0; i < nv; i++)
            X[i * columns + c] = x[i];
    }
}

static void one_block(const dyn_scene *scene, const workspace *ws, const dyn_forward_sensitivity *io)
{
    const dyn_model *m       = scene->model;
    size_t           nv      = (size_t)m->nv;
    lane            *inverse = block_out(io->dqdd_dtau, 0, 0);
    LANE_NAME(forward_dynamics)
    (scene, ws->memory,
     &(dyn_forward_dynamics){.q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd}, 1);
    LANE_NAME(sensitivity) /* its third matrix, M, makes room for the inverse */
    (scene, ws->memory,
     &(dyn_sensitivity){.q            = io->q,
                        .qd           = io->qd,
                        .qdd          = io->qdd,
                        .wrenches     = io->wrenches,
                        .dtau_dq      = io->dqdd_dq,
                        .dtau_dqd     = io->dqdd_dqd,
                        .dtau_dqdd    = io->dqdd_dtau,
                        .dtau_dwrench = io->dqdd_dwrench},
     1);
    LANE_NAME(mass_matrix)
    (scene, ws->memory,
     &(dyn_mass_matrix){.q = io->q, .mass_matrix = io->dqdd_dtau, .inverse = io->dqdd_dtau, .singular = io->singular},
     1);
    solve(m, inverse, ws->x, block_out(io->dqdd_dq, 0, 0), nv);
    solve(m, inverse, ws->x, block_out(io->dqdd_dqd, 0, 0), nv);
    for (size_t n = 0; io->dqdd_dwrench && n < scene->n_wrenches; n++)
        solve(m, inverse, ws->x, block_out(io->dqdd_dwrench, n, nv * 6), 6);
}

void LANE_NAME(forward_sensitivity)(const dyn_scene *scene, void *memory, const dyn_forward_sensitivity *io,
                                    size_t blocks)
{
    size_t    nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_sensitivity one = {.q         = (const double *)block_in(io->q, block, nq),
                                       .qd        = (const double *)block_in(io->qd, block, nv),
                                       .tau       = (const double *)block_in(io->tau, block, nv),
                                       .wrenches  = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                       .qdd       = (double *)block_out(io->qdd, block, nv),
                                       .dqdd_dq   = (double *)block_out(io->dqdd_dq, block, nv * nv),
                                       .dqdd_dqd  = (double *)block_out(io->dqdd_dqd, block, nv * nv),
                                       .dqdd_dtau = (double *)block_out(io->dqdd_dtau, block, nv * nv),
                                       .dqdd_dwrench =
                                           nw ? (double *)block_out(io->dqdd_dwrench, block, nw * nv * 6) : NULL,
                                       .singular = (double *)block_out(io->singular, block, 1)};
        one_block(scene, &ws, &one);
    }
}
