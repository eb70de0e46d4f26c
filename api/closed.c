/* closed.c - see closed.h: the workspace of closed kernels, and what is wrong with a state. */
#include "closed_state.h"
#include <string.h>

typedef struct taking {
    api_evaluation *e;
    size_t          W;
    bool            room;
} taking;

static double *take(taking *t, size_t entries)
{
    size_t  bytes = (entries > 0 ? entries : 1) * t->W * sizeof(double);
    double *lanes = api_take(t->e, bytes);
    t->room       = t->room && lanes;
    if (lanes) memset(lanes, 0, bytes);
    return lanes;
}

static void take_state(api_closed *c, taking *t)
{
    size_t n = c->loops->n;
    c->q = take(t, c->loops->nq), c->base = take(t, c->loops->nq);
    c->step = take(t, c->nvt), c->passive = take(t, c->np);
    c->residual = take(t, 1);
    c->y = take(t, 3 * n), c->R = take(t, 9 * n), c->seen = take(t, 6 * n);
    c->motion = take(t, 6 * n * c->nvt), c->raw = take(t, 6 * n * c->nvt);
    c->J = take(t, c->nr * c->nvt), c->Jd = take(t, c->nr * c->nvt), c->Jdd = take(t, c->nr * c->nvt);
    c->K = take(t, c->np * c->nr);
    c->G = take(t, c->nvt * c->nv), c->Gd = take(t, c->nvt * c->nv);
}

static void take_rates(api_closed *c, taking *t)
{
    c->qd = take(t, c->nvt), c->qdd = take(t, c->nvt), c->qddd = take(t, c->nvt);
    c->tau = take(t, c->nvt), c->tau_dot = take(t, c->nvt);
    c->lambda = take(t, c->nr), c->lambda_dot = take(t, c->nr);
    c->rows[0] = take(t, c->nr), c->rows[1] = take(t, c->nr);
    c->across = take(t, c->nr * c->nv);
    for (int i = 0; i < API_CLOSED_SQUARES; i++)
        c->square[i] = take(t, c->nvt * c->nvt);
    for (int i = 0; i < API_CLOSED_WIDES; i++)
        c->wide[i] = take(t, c->nvt * c->nv);
    for (int i = 0; i < API_CLOSED_VECTORS; i++)
        c->vector[i] = take(t, c->nvt);
    c->Jk = take(t, c->nr * c->nvt);
    for (int i = 0; i < 2; i++)
        c->frame[i] = take(t, 6 * (c->nvt + c->loops->n));
}

static void take_wrenches(api_closed *c, taking *t, size_t given)
{
    size_t n        = given + 2 * c->loops->n;
    c->wrenches     = take(t, 9 * n);
    c->wrench_rates = take(t, 6 * n);
    c->sites        = api_take(t->e, n * sizeof *c->sites);
    t->room         = t->room && c->sites;
}

/* Of one state, and no lanes. */
static void take_dense(api_closed *c, taking *t)
{
    taking one  = {t->e, 1, true};
    size_t most = c->nr > c->np ? c->nr : c->np;
    c->A        = take(&one, c->nr * c->np);
    c->B        = take(&one, most * c->nr);
    c->work     = take(&one, api_closed_work(c->nr, c->np));
    c->norm     = take(&one, c->np);
    c->unit     = take(&one, c->np);
    c->dense    = take(&one, c->nv * (c->nv + 1));
    c->solution = take(&one, c->nv);
    c->pivot    = api_take(t->e, c->np * sizeof *c->pivot);
    t->room     = t->room && one.room && c->pivot;
}

/* A prismatic joint goes the model's length at most in one step, others a radian. */
static void set_units(api_closed *c)
{
    const dyn_model *m = c->model->dyn;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t k = 0; k < c->np; k++)
            if (c->loops->passive_v[k] >= m->body[i].v)
                c->unit[k] = m->body[i].joint == DYN_PRISMATIC ? c->loops->length : 1;
}

api_closed *api_closed_open(api_evaluation *e, const dyn_kernels *tree, size_t n_wrenches, size_t extra)
{
    const api_loops *l = e->model->loops;
    taking           t = {e, (size_t)tree->lanes, true};
    api_closed      *c = api_take(e, sizeof *c);
    if (!c) return NULL;
    *c           = (api_closed){.model = e->model, .loops = l, .tree = tree, .W = t.W};
    c->nv        = e->model->nv;
    c->nvt       = l->nv;
    c->np        = l->n_passive;
    c->nr        = l->rows;
    c->workspace = api_take(e, tree->workspace_size(e->scene.model));
    take_state(c, &t);
    take_rates(c, &t);
    take_wrenches(c, &t, n_wrenches);
    take_dense(c, &t);
    c->extra = take(&t, extra);
    if (!c->workspace || !t.room) return NULL;
    set_units(c);
    return c;
}

dyn_kernels api_closed_kernels(const dyn_kernels *tree)
{
    return (dyn_kernels){
        .target              = tree->target,
        .lanes               = tree->lanes,
        .inverse_dynamics    = api_closed_inverse_dynamics,
        .forward_dynamics    = api_closed_forward_dynamics,
        .mass_matrix         = api_closed_inertia,
        .bias                = api_closed_bias,
        .kinematics          = api_closed_kinematics,
        .energy              = api_closed_energy,
        .torque_derivative   = api_closed_torque_derivative,
        .sensitivity         = api_closed_sensitivity,
        .forward_sensitivity = api_closed_forward_sensitivity,
        .coriolis            = api_closed_coriolis,
        .regressor           = api_closed_regressor,
    };
}

/* --- what is known of a state ------------------------------------------------------------------------------------ */

api_closed_status api_closed_status_of(const api_closed *c, size_t lane)
{
    return c->status[lane];
}

const double *api_closed_q(const api_closed *c)
{
    return c->q;
}

void api_closed_full(api_closed *c, const double *parts[6])
{
    api_closed_loop_wrenches(c, c->lambda, c->seen);
    parts[0] = c->q, parts[1] = c->qd, parts[2] = c->qdd;
    parts[3] = c->G, parts[4] = c->seen, parts[5] = c->residual;
}

bool api_closed_fail(const api_closed *c, size_t lane, const char *pointer, long long row, api_problem *problem)
{
    switch (c->status[lane]) {
    case API_CLOSED: return true;
    case API_LOOP_LEFT_OPEN:
        api_fail(
            problem, API_LOOP_OPEN, pointer,
            "no position of the passive joints was found that closes the loops: they are open by %.3g, \"%.64s\" by "
            "%.3g (in units of %.3g m, and rad); it is out of reach, or \"guess\" and \"home\" are too far",
            c->residual[lane], c->loops->loop[c->widest[lane]].name, c->widest_open[lane], c->loops->length);
        break;
    case API_LOOP_LOOSE:
        api_fail(
            problem, API_LOOP_SINGULAR, pointer,
            "the loops do not determine the passive joints at this state: %zu of their %zu coordinates follow from "
            "the actuated ones",
            c->rank[lane], c->np);
        break;
    case API_LOOP_STUCK:
        api_fail(problem, API_LOOP_SINGULAR, pointer,
                 "the loops do not let all %zu actuated coordinates move by themselves: fewer joints of this mechanism "
                 "can be actuated",
                 c->nv);
    }
    problem->row = row;
    return false;
}
