/* loop_workspace.c - allocates the workspace of the loop kernels (loop_kernels.h) and reports why the
 * loops of a state are open. */
#include "loop_workspace.h"
#include <math.h>

typedef struct allocation {
    dyn_memory   memory;
    size_t       W;
    bool         succeeded;
    dyn_deadline deadline;
} allocation;

static double *take(allocation *t, size_t entries)
{
    return dyn_take_zeroed_until(t->memory, entries * t->W, t->deadline, &t->succeeded);
}

static void take_state(dyn_loop_workspace *c, allocation *t)
{
    c->line_start = take(t, c->loops->nq), c->line_end = take(t, c->loops->nq);
    c->loop_wrenches = take(t, 6 * c->loops->n);
    c->Jd = take(t, c->closure.layout.entries), c->Jdd = take(t, c->closure.layout.entries);
    c->G = take(t, c->nvt * c->nv), c->Gd = take(t, c->nvt * c->nv);
}

static void take_rates(dyn_loop_workspace *c, allocation *t)
{
    c->qd = take(t, c->nvt), c->qdd = take(t, c->nvt), c->qddd = take(t, c->nvt);
    c->tau = take(t, c->nvt), c->tau_dot = take(t, c->nvt);
    c->lambda = take(t, c->nr), c->lambda_dot = take(t, c->nr);
    c->rows[0] = take(t, c->nr), c->rows[1] = take(t, c->nr);
    c->row_matrix = take(t, c->nr * c->nv);
    c->known      = take(t, c->closure.layout.most_m * c->closure.layout.most_actuated);
    c->change     = take(t, c->closure.layout.most_n * c->closure.layout.most_actuated);
    c->unknown    = take(t, c->closure.layout.most_m * c->closure.layout.most_n);
    for (int i = 0; i < DYN_LOOP_SQUARE_MATRICES; i++)
        c->square[i] = take(t, c->nvt * c->nvt);
    for (int i = 0; i < DYN_LOOP_WIDE_MATRICES; i++)
        c->wide[i] = take(t, c->nvt * c->nv);
    for (int i = 0; i < DYN_LOOP_VECTORS; i++)
        c->vector[i] = take(t, c->nvt);
    c->Jk = take(t, c->closure.layout.entries);
    for (int i = 0; i < 2; i++)
        c->jacobian_work[i] = take(t, 6 * (c->nvt + c->loops->n));
}

static void take_wrenches(dyn_loop_workspace *c, allocation *t, size_t n_wrenches)
{
    size_t n        = n_wrenches + 2 * c->loops->n;
    c->wrenches     = take(t, 9 * n);
    c->wrench_rates = take(t, 6 * n);
    c->sites        = dyn_take(t->memory, n * sizeof *c->sites);
    t->succeeded    = t->succeeded && c->sites;
}

/* Allocates the arrays that hold one state instead of one state per lane. */
static void take_dense(dyn_loop_workspace *c, allocation *t)
{
    allocation one = {t->memory, 1, true, t->deadline};
    c->dense       = take(&one, c->nv * (c->nv + 1));
    c->solution    = take(&one, c->nv);
    c->curve_q     = take(&one, c->mechanism.nq);
    t->succeeded   = t->succeeded && one.succeeded;
}

static bool take_closure(dyn_memory memory, dyn_loop_workspace *c, dyn_deadline deadline)
{
    const dyn_loops *l = c->loops;
    c->closure         = (dyn_closure_solver){.equations    = {.mechanism = c->mechanism,
                                                               .pair      = l->pair,
                                                               .n_pairs   = l->n,
                                                               .rows      = l->rows,
                                                               .unknowns  = l->n_passive,
                                                               .unknown   = l->passive_v},
                                              .loops        = l,
                                              .tree         = c->tree,
                                              .workspace    = c->workspace,
                                              .W            = c->W,
                                              .nv           = l->nv,
                                              .most_columns = c->nv,
                                              .deadline     = deadline};
    if (!dyn_closure_open(memory, &c->closure)) return false;
    c->q             = c->closure.q;
    c->pair_position = c->closure.pair_position;
    c->pair_rotation = c->closure.pair_rotation;
    c->J             = c->closure.J;
    return true;
}

dyn_loop_workspace *dyn_loop_workspace_open(dyn_memory memory, const dyn_mechanism *mechanism, const dyn_kernels *tree,
                                            dyn_deadline deadline, size_t n_wrenches, size_t extra)
{
    const dyn_loops    *l      = mechanism->loops;
    allocation          t      = {memory, (size_t)tree->lanes, true, deadline};
    const size_t        motion = 4 * 6 * l->nv; /* entries of one frame: held frames are always differentiated */
    dyn_loop_workspace *c      = dyn_take(memory, sizeof *c);
    if (!c) return NULL;
    *c = (dyn_loop_workspace){.mechanism = *mechanism, .loops = l, .tree = tree, .lanes = {tree, deadline}, .W = t.W};
    c->nv        = mechanism->nv;
    c->nvt       = l->nv;
    c->np        = l->n_passive;
    c->nr        = l->rows;
    c->workspace = dyn_take(memory, tree->workspace_size(mechanism->tree));
    if (!c->workspace || !take_closure(memory, c, deadline)) return NULL;
    take_state(c, &t);
    take_rates(c, &t);
    take_wrenches(c, &t, n_wrenches);
    take_dense(c, &t);
    c->extra = take(&t, extra > motion ? extra : motion);
    return t.succeeded && dyn_loop_load_open(memory, c) ? c : NULL;
}

dyn_kernels dyn_loop_kernels(const dyn_kernels *tree)
{
    return (dyn_kernels){
        .target              = tree->target,
        .lanes               = tree->lanes,
        .inverse_dynamics    = dyn_loop_inverse_dynamics,
        .forward_dynamics    = dyn_loop_forward_dynamics,
        .mass_matrix         = dyn_loop_mass_matrix,
        .bias                = dyn_loop_bias,
        .kinematics          = dyn_loop_kinematics,
        .energy              = dyn_loop_energy,
        .centroidal          = dyn_loop_centroidal,
        .energy_regressor    = dyn_loop_energy_regressor,
        .torque_derivative   = dyn_loop_torque_derivative,
        .sensitivity         = dyn_loop_sensitivity,
        .forward_sensitivity = dyn_loop_forward_sensitivity,
        .coriolis            = dyn_loop_coriolis,
        .reference_dynamics  = dyn_model_loops_dynamics,
        .regressor           = dyn_loop_regressor,
        .frame_sensitivity   = dyn_loop_frame_sensitivity,
        .friction_map        = dyn_loop_friction_map,
        .constraint_factor   = dyn_loop_constraint_factor,
        .constraint_solution = dyn_loop_constraint_solution,
        .constraint_inertia  = dyn_loop_constraint_inertia,
        .held_balance        = tree->held_balance,
        .matrix_product      = tree->matrix_product,
    };
}

/* --- status ------------------------------------------------------------------------------------------------------- */

dyn_loop_status dyn_loop_status_of(const dyn_loop_workspace *c, size_t lane)
{
    return c->status[lane];
}

bool dyn_loop_may_continue(const dyn_loop_workspace *c)
{
    return dyn_may_continue(c->closure.deadline);
}

const double *dyn_loop_tree_q(const dyn_loop_workspace *c)
{
    return c->q;
}

const dyn_kernels *dyn_loop_tree_kernels(const dyn_loop_workspace *c)
{
    return c->tree;
}

void *dyn_loop_tree_workspace(const dyn_loop_workspace *c)
{
    return c->workspace;
}

const double *dyn_loop_error(const dyn_loop_workspace *c)
{
    return c->closure.error_norm;
}

const double *dyn_loop_tree_qd(const dyn_loop_workspace *c)
{
    return c->qd;
}

const double *dyn_loop_G(const dyn_loop_workspace *c)
{
    return c->G;
}

void dyn_loop_tree_state(dyn_loop_workspace *c, const double *parts[6])
{
    dyn_loop_wrenches(c, c->lambda, c->loop_wrenches);
    parts[0] = c->q, parts[1] = c->qd, parts[2] = c->qdd;
    parts[3] = c->G, parts[4] = c->loop_wrenches, parts[5] = c->closure.error_norm;
}

static dyn_loop_route route_of(const dyn_loop_workspace *c)
{
    const dyn_approach *from = &c->approach;
    if (c->solving_platform) return c->platform_guessed ? DYN_ROUTE_OF_GUESS : DYN_ROUTE_OF_PLATFORM;
    if (from->guess) return DYN_ROUTE_OF_GUESS;
    if (!from->q) return DYN_ROUTE_FROM_REFERENCE;
    return from->curve ? DYN_ROUTE_OF_CURVE : DYN_ROUTE_FROM_STATE;
}

dyn_loop_failure dyn_loop_failure_of(const dyn_loop_workspace *c, size_t lane)
{
    const dyn_closure_solver *s = c->solving_platform ? &c->platform : &c->closure;
    return (dyn_loop_failure){.status      = c->status[lane],
                              .loops       = c->loops,
                              .platform    = c->solving_platform,
                              .route       = route_of(c),
                              .error       = s->error_norm[lane],
                              .worst       = s->worst_pair[lane],
                              .worst_error = s->worst_error[lane],
                              .fraction    = s->reached[lane],
                              .found       = s->rank[lane],
                              .unknowns    = c->status[lane] == DYN_LOOPS_ACTUATED_DEPENDENT ? c->nv
                                             : c->solving_platform                           ? c->nvt
                                                                                             : c->np};
}
