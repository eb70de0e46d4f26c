/* loop_workspace.c - allocates the workspace of the loop kernels (loop_kernels.h) and reports the status of its states
 * as problems. */
#include "loop_workspace.h"
#include <math.h>

typedef struct allocation {
    api_pool *pool;
    size_t    W;
    bool      succeeded;
} allocation;

static double *take(allocation *t, size_t entries)
{
    return api_take_zeroed(t->pool, entries * t->W, &t->succeeded);
}

static void take_state(api_loop_workspace *c, allocation *t)
{
    c->passive    = take(t, c->np);
    c->line_start = take(t, c->loops->nq), c->line_end = take(t, c->loops->nq);
    c->loop_wrenches = take(t, 6 * c->loops->n);
    c->Jd = take(t, c->nr * c->nvt), c->Jdd = take(t, c->nr * c->nvt);
    c->K = take(t, c->np * c->nr);
    c->G = take(t, c->nvt * c->nv), c->Gd = take(t, c->nvt * c->nv);
}

static void take_rates(api_loop_workspace *c, allocation *t)
{
    c->qd = take(t, c->nvt), c->qdd = take(t, c->nvt), c->qddd = take(t, c->nvt);
    c->tau = take(t, c->nvt), c->tau_dot = take(t, c->nvt);
    c->lambda = take(t, c->nr), c->lambda_dot = take(t, c->nr);
    c->rows[0] = take(t, c->nr), c->rows[1] = take(t, c->nr);
    c->row_matrix = take(t, c->nr * c->nv);
    for (int i = 0; i < API_LOOP_SQUARE_MATRICES; i++)
        c->square[i] = take(t, c->nvt * c->nvt);
    for (int i = 0; i < API_LOOP_WIDE_MATRICES; i++)
        c->wide[i] = take(t, c->nvt * c->nv);
    for (int i = 0; i < API_LOOP_VECTORS; i++)
        c->vector[i] = take(t, c->nvt);
    c->Jk = take(t, c->nr * c->nvt);
    for (int i = 0; i < 2; i++)
        c->jacobian_work[i] = take(t, 6 * (c->nvt + c->loops->n));
}

static void take_wrenches(api_loop_workspace *c, allocation *t, size_t n_wrenches)
{
    size_t n        = n_wrenches + 2 * c->loops->n;
    c->wrenches     = take(t, 9 * n);
    c->wrench_rates = take(t, 6 * n);
    c->sites        = api_take(t->pool, n * sizeof *c->sites);
    t->succeeded    = t->succeeded && c->sites;
}

/* Takes the arrays for one state, which are not in lanes. */
static void take_dense(api_loop_workspace *c, allocation *t)
{
    allocation one = {t->pool, 1, true};
    c->dense       = take(&one, c->nv * (c->nv + 1));
    c->solution    = take(&one, c->nv);
    c->curve_q     = take(&one, c->model->nq);
    t->succeeded   = t->succeeded && one.succeeded;
}

static bool take_closure(api_pool *pool, api_loop_workspace *c, const api_deadline *deadline)
{
    const api_loops *l = c->loops;
    c->closure         = (api_closure){.model     = c->model,
                                       .loops     = l,
                                       .tree      = c->tree,
                                       .workspace = c->workspace,
                                       .W         = c->W,
                                       .nv        = l->nv,
                                       .n_pairs   = l->n,
                                       .rows      = l->rows,
                                       .unknowns  = l->n_passive,
                                       .pair      = l->pair,
                                       .unknown   = l->passive_v,
                                       .deadline  = deadline};
    if (!api_closure_open(pool, &c->closure)) return false;
    c->q             = c->closure.q;
    c->pair_position = c->closure.pair_position;
    c->pair_rotation = c->closure.pair_rotation;
    c->pair_jacobian = c->closure.pair_jacobian;
    c->J             = c->closure.J;
    c->pair_work     = c->closure.pair_work;
    return true;
}

api_loop_workspace *api_loop_workspace_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                            const api_deadline *deadline, size_t n_wrenches, size_t extra)
{
    const api_loops    *l      = model->loops;
    allocation          t      = {pool, (size_t)tree->lanes, true};
    const size_t        motion = 4 * 6 * l->nv; /* of one frame: held frames are differentiated without a request */
    api_loop_workspace *c      = api_take(pool, sizeof *c);
    if (!c) return NULL;
    *c           = (api_loop_workspace){.model = model, .loops = l, .tree = tree, .W = t.W};
    c->nv        = model->nv;
    c->nvt       = l->nv;
    c->np        = l->n_passive;
    c->nr        = l->rows;
    c->workspace = api_take(pool, tree->workspace_size(model->dyn));
    if (!c->workspace || !take_closure(pool, c, deadline)) return NULL;
    take_state(c, &t);
    take_rates(c, &t);
    take_wrenches(c, &t, n_wrenches);
    take_dense(c, &t);
    c->extra = take(&t, extra > motion ? extra : motion);
    return t.succeeded && api_loop_load_open(pool, c) ? c : NULL;
}

dyn_kernels api_loop_kernels(const dyn_kernels *tree)
{
    return (dyn_kernels){
        .target              = tree->target,
        .lanes               = tree->lanes,
        .inverse_dynamics    = api_loop_inverse_dynamics,
        .forward_dynamics    = api_loop_forward_dynamics,
        .mass_matrix         = api_loop_mass_matrix,
        .bias                = api_loop_bias,
        .kinematics          = api_loop_kinematics,
        .energy              = api_loop_energy,
        .torque_derivative   = api_loop_torque_derivative,
        .sensitivity         = api_loop_sensitivity,
        .forward_sensitivity = api_loop_forward_sensitivity,
        .coriolis            = api_loop_coriolis,
        .reference_dynamics  = api_loop_reference_dynamics,
        .regressor           = api_loop_regressor,
    };
}

/* --- status ------------------------------------------------------------------------------------------------------- */

api_loop_status api_loop_status_of(const api_loop_workspace *c, size_t lane)
{
    return c->status[lane];
}

bool api_loop_may_continue(const api_loop_workspace *c)
{
    api_problem late;
    api_problem_clear(&late);
    return api_deadline_check(c->closure.deadline, &late);
}

const double *api_loop_tree_q(const api_loop_workspace *c)
{
    return c->q;
}

const dyn_kernels *api_loop_tree_kernels(const api_loop_workspace *c)
{
    return c->tree;
}

const double *api_loop_tree_qd(const api_loop_workspace *c)
{
    return c->qd;
}

const double *api_loop_G(const api_loop_workspace *c)
{
    return c->G;
}

void api_loop_tree_state(api_loop_workspace *c, const double *parts[6])
{
    api_loop_wrenches(c, c->lambda, c->loop_wrenches);
    parts[0] = c->q, parts[1] = c->qd, parts[2] = c->qdd;
    parts[3] = c->G, parts[4] = c->loop_wrenches, parts[5] = c->closure.error_norm;
}

static void fail_open(const api_loop_workspace *c, size_t lane, const char *pointer, api_problem *problem)
{
    const api_closure *s     = c->solving_platform ? &c->platform : &c->closure;
    size_t             k     = s->worst_pair[lane];
    const char        *which = k < c->loops->n ? c->loops->loop[k].name : "platform";
    if (!isfinite(s->error_norm[lane])) {
        api_fail(problem, API_LOOP_OPEN, pointer, "the loop error cannot be computed: a number is too large");
        return;
    }
    api_fail(
        problem, API_LOOP_OPEN, pointer,
        "no position of the %s joints was found that closes the loops: they are open by %.3g, \"%.64s\" by %.3g (in "
        "units of %.3g m, and rad); it is out of reach, or \"guess\" and \"home\" are too far",
        c->solving_platform ? "actuated and passive" : "passive", s->error_norm[lane], which, s->worst_error[lane],
        c->loops->length);
}

static void fail_crossing(const api_loop_workspace *c, size_t lane, const char *pointer, api_problem *problem)
{
    const api_closure  *s     = c->solving_platform ? &c->platform : &c->closure;
    const api_approach *from  = c->solving_platform ? NULL : &c->approach;
    const char         *along = c->solving_platform ? "the straight line from the frame's reference pose to this one"
                                : !from || !(from->q || from->guess)
                                    ? "the straight line from the model's reference to this state"
                                : from->guess ? "the path on which the guess's loop error shrinks to zero"
                                : from->curve ? "the motion from the previous sample to this one"
                                              : "the path from the previous state to this one";
    bool                guess = c->solving_platform ? c->platform_guessed : from && from->guess;
    if (c->solving_platform && guess) along = "the path on which the guess's loop error shrinks to zero";
    api_fail(problem, API_LOOP_CROSSING, pointer,
             "%s meets a singular position of the loops at %.9g of its length: it is out of reach in this assembly%s",
             along, s->reached[lane], guess ? ", or another guess is nearer" : "; a guess selects another");
    problem->fraction = s->reached[lane];
}

static void fail_undetermined(const api_loop_workspace *c, size_t lane, const char *pointer, api_problem *problem)
{
    if (c->solving_platform)
        api_fail(
            problem, API_LOOP_SINGULAR, pointer,
            "the pose of the frame does not determine the joints: %zu of the tree's %zu coordinates follow from it",
            c->platform.rank[lane], c->nvt);
    else
        api_fail(
            problem, API_LOOP_SINGULAR, pointer,
            "the loops do not determine the passive joints at this state: %zu of their %zu coordinates follow from "
            "the actuated ones",
            c->closure.rank[lane], c->np);
}

static void fail_dependent(const api_loop_workspace *c, const char *pointer, api_problem *problem)
{
    if (c->solving_platform)
        api_fail(problem, API_LOOP_SINGULAR, pointer,
                 "the loops do not allow the given velocity or acceleration of the frame");
    else
        api_fail(problem, API_LOOP_SINGULAR, pointer,
                 "the loops do not let all %zu actuated coordinates move independently: fewer joints of this mechanism "
                 "can be actuated",
                 c->nv);
}

bool api_loop_fail(const api_loop_workspace *c, size_t lane, const char *pointer, long long row, api_problem *problem)
{
    switch (c->status[lane]) {
    case API_LOOPS_CLOSED: return true;
    case API_LOOPS_OPEN: fail_open(c, lane, pointer, problem); break;
    case API_LOOPS_PATH_SINGULAR: fail_crossing(c, lane, pointer, problem); break;
    case API_LOOPS_PASSIVE_UNDETERMINED: fail_undetermined(c, lane, pointer, problem); break;
    case API_LOOPS_ACTUATED_DEPENDENT: fail_dependent(c, pointer, problem); break;
    }
    problem->row = row;
    return false;
}
