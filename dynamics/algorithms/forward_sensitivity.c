/* forward_sensitivity.c - computes derivatives of forward dynamics from those of inverse dynamics.
 *
 * tau = ID(q, qd, qdd, W) remains true under any variation. With constant tau, M dqdd/dx = -dID/dx at the qdd that tau
 * produces, and dqdd/dtau = M^-1 (Carpentier & Mansard 2018). The systems are solved with M = L^T D L, which keeps the
 * zeros of a tree. */
#include "kernels.h"
#include "dynamics/recursion/mass_factor.h"

typedef struct workspace {
    factor factor;
    lane  *x;      /* [nv] scratch memory */
    lane  *d;      /* [nv] -1 / D */
    void  *memory; /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv, forward = LANE_NAME(forward_dynamics_size)(m), inverse = LANE_NAME(sensitivity_size)(m);
    return (workspace){.factor = factor_place(a, m),
                       .x      = arena_take(a, nv, sizeof(lane)),
                       .d      = arena_take(a, nv, sizeof(lane)),
                       .memory = arena_take(a, forward > inverse ? forward : inverse, 1)};
}

size_t LANE_NAME(forward_sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Replaces `n` columns of X by -M^-1 X: L^T Z = X, then L X = -D^-1 Z. */
LANE_INLINE void solve_columns(const dyn_model *m, const workspace *ws, lane *X, size_t columns, size_t n)
{
    const size_t nv = (size_t)m->nv;
    const int   *up = ws->factor.ancestor;
    lane         x[4];
    for (int k = m->nv - 1; k >= 0; k--) {
        const lane *L = ws->factor.L + (size_t)k * nv;
        for (size_t c = 0; c < n; c++)
            x[c] = X[(size_t)k * columns + c];
        for (int i = up[k]; i >= 0; i = up[i])
            for (size_t c = 0; c < n; c++)
                X[(size_t)i * columns + c] = sub_mul(X[(size_t)i * columns + c], L[i], x[c]);
    }
    for (int k = 0; k < m->nv; k++) {
        const lane *L = ws->factor.L + (size_t)k * nv;
        for (size_t c = 0; c < n; c++)
            x[c] = X[(size_t)k * columns + c] * ws->d[k];
        for (int i = up[k]; i >= 0; i = up[i])
            for (size_t c = 0; c < n; c++)
                x[c] = sub_mul(x[c], L[i], X[(size_t)i * columns + c]);
        for (size_t c = 0; c < n; c++)
            X[(size_t)k * columns + c] = x[c];
    }
}

/* Replaces X, nv x columns, by -M^-1 X. Solves several columns at a time, so that L is read less often. */
static void solve(const dyn_model *m, const workspace *ws, lane *X, size_t columns)
{
    size_t c = 0;
    for (; c + 4 <= columns; c += 4)
        solve_columns(m, ws, X + c, columns, 4);
    for (; c + 2 <= columns; c += 2)
        solve_columns(m, ws, X + c, columns, 2);
    if (c < columns) solve_columns(m, ws, X + c, columns, 1);
}

static void one_block(const dyn_scene *scene, const workspace *ws, const dyn_forward_sensitivity *io)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    lane            *M  = block_out(io->dqdd_dtau, 0, 0); /* receives M first, then its inverse */
    /* qdd = FD(q, qd, tau, W) */
    LANE_NAME(forward_dynamics)
    (scene, ws->memory,
     &(dyn_forward_dynamics){.q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd}, 1);
    /* dtau/dx = dID/dx for x = q, qd, W, and M = dtau/dqdd, at the qdd that tau produces */
    LANE_NAME(sensitivity)
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
    /* M = L^T D L,  dqdd/dtau = M^-1 */
    lane singular = factor_make(m, &ws->factor, M);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
    for (size_t v = 0; v < nv; v++)
        ws->d[v] = -1.0 / ws->factor.L[v * nv + v];
    factor_invert(m, &ws->factor, ws->x, M);
    /* dqdd/dx = -M^-1 dtau/dx */
    solve(m, ws, block_out(io->dqdd_dq, 0, 0), nv);
    solve(m, ws, block_out(io->dqdd_dqd, 0, 0), nv);
    for (size_t n = 0; io->dqdd_dwrench && n < scene->n_wrenches; n++)
        solve(m, ws, block_out(io->dqdd_dwrench, n, nv * 6), 6);
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
