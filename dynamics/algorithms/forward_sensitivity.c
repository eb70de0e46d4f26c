/* forward_sensitivity.c - computes derivatives of forward dynamics from those of inverse dynamics.
 *
 * tau = ID(q, qd, qdd, W) remains true under any variation. With constant tau, M dqdd/dx = -dID/dx at the qdd that tau
 * produces, and dqdd/dtau = M^-1 (Carpentier & Mansard 2018). Factors, inverse and products leave out the zeros that
 * follow from the tree. */
#include "kernels.h"
#include "dynamics/recursion/mass_solve.h"

typedef struct workspace {
    factor factor;
    panels derivative, unit; /* the columns of dtau/dq, dtau/dqd, and of the unit matrix */
    panel  wrench;           /* the columns of dtau/dW for one wrench */
    lane  *strip;
    lane  *mass;   /* [nv x nv] M, if dqdd_dtau is not requested */
    bool  *mark;   /* [nv] scratch memory */
    void  *memory; /* workspace of the kernels that this one calls */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv, forward = LANE_NAME(forward_dynamics_size)(m), inverse = LANE_NAME(sensitivity_size)(m);
    return (workspace){
        .factor     = factor_place(a, m),
        .derivative = panels_place(a, m, PANEL),
        .unit       = panels_place(a, m, UNIT_PANEL),
        .wrench = {.columns = 6, .related = arena_take(a, nv, sizeof(int)), .reached = arena_take(a, nv, sizeof(bool))},
        .strip  = strip_place(a, m),
        .mass   = arena_take(a, nv * nv, sizeof(lane)),
        .mark   = arena_take(a, nv, sizeof(bool)),
        .memory = arena_take(a, forward > inverse ? forward : inverse, 1)};
}

static void prepare(const dyn_model *m, workspace *ws, bool inverse)
{
    factor_prepare(m, &ws->factor);
    panels_prepare(m, &ws->factor, &ws->derivative, PANEL, relate_derivative, ws->mark);
    if (inverse) panels_prepare(m, &ws->factor, &ws->unit, UNIT_PANEL, relate_unit, ws->mark);
}

size_t LANE_NAME(forward_sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

static void one_block(const dyn_scene *scene, workspace *ws, const dyn_forward_sensitivity *io)
{
    const dyn_model *m  = scene->model;
    size_t           nv = (size_t)m->nv;
    lane            *M  = io->dqdd_dtau ? block_out(io->dqdd_dtau, 0, 0) : ws->mass;
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
                        .dtau_dqdd    = (double *)(void *)M,
                        .dtau_dwrench = io->dqdd_dwrench},
     1);
    /* M = L^T D L,  dqdd/dtau = M^-1, which replaces M */
    lane singular = factor_make(m, &ws->factor, M);
    if (io->singular) *block_out(io->singular, 0, 1) = singular;
    if (io->dqdd_dtau) invert_mass(&ws->factor, nv, &ws->unit, ws->strip, M);
    /* dqdd/dx = -M^-1 dtau/dx */
    lane *const by_state[] = {block_out(io->dqdd_dq, 0, 0), block_out(io->dqdd_dqd, 0, 0)};
    for (size_t i = 0; i < ws->derivative.n; i++)
        solve_panel(&ws->factor, nv, &ws->derivative.panel[i], 2, by_state, nv, ws->strip);
    for (size_t n = 0; io->dqdd_dwrench && n < scene->n_wrenches; n++) {
        lane *const by_wrench[] = {block_out(io->dqdd_dwrench, n, nv * 6)};
        relate_wrench(m, &ws->factor, scene->wrench[n].body, &ws->wrench, ws->mark);
        solve_panel(&ws->factor, nv, &ws->wrench, 1, by_wrench, 6, ws->strip);
    }
}

void LANE_NAME(forward_sensitivity)(const dyn_scene *scene, void *memory, const dyn_forward_sensitivity *io,
                                    size_t blocks)
{
    size_t    nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    prepare(scene->model, &ws, io->dqdd_dtau);
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
