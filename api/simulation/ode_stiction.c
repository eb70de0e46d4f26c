/* ode_stiction.c - applies the friction of joints that stick or slide (ode_stiction.h). */
#include "ode_stiction.h"
#include "ode_friction.h"
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

static bool take_problem(api_evaluation *e, api_ode_stiction *s)
{
    size_t n   = s->n;
    bool   all = true;
    s->matrix  = api_take_zeroed(e->query->pool, n * n, &all);
    s->vectors = api_take_zeroed(e->query->pool, 3 * n, &all);
    s->index   = api_take(e->query->pool, n * sizeof *s->index);
    s->problem = (api_friction_problem){.A        = s->matrix,
                                        .b        = s->vectors,
                                        .positive = s->vectors + n,
                                        .negative = s->vectors + 2 * n,
                                        .f        = api_take_zeroed(e->query->pool, n, &all),
                                        .side     = api_take(e->query->pool, n * sizeof(int)),
                                        .room = api_take_zeroed(e->query->pool, api_friction_problem_entries(n), &all)};
    return all && s->index && s->problem.side;
}

bool api_ode_stiction_open(api_evaluation *e, api_ode *ode)
{
    size_t nv = e->model->nv;
    if (!ode->s->integrator->locates_events || e->model->loops || ode->s->contact ||
        !(e->query->scene.terms & DYN_FRICTION))
        return true;
    api_ode_stiction *s = api_take(e->query->pool, sizeof *s);
    if (!s) return false;
    *s                       = (api_ode_stiction){.joint = api_take(e->query->pool, nv * sizeof *s->joint)};
    s->roots                 = api_take(e->query->pool, nv * sizeof *s->roots);
    s->driven                = api_take(e->query->pool, nv * sizeof *s->driven);
    api_stiction_joint *can  = api_take(e->query->pool, (nv + e->model->dyn->n_drives) * sizeof *can);
    bool                room = true;
    if (!s->joint || !s->roots || !s->driven || !can) return false;
    s->efforts = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    s->needed  = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    s->qdd     = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    if (!room) return false;
    for (size_t v = 0; v < nv; v++)
        s->driven[v] = ode->s->prescribed.mask && ode->s->prescribed.mask[v];
    size_t n = api_stiction_list_joints(e->query->scene.model, can);
    for (size_t k = 0; k < n; k++)
        if (!s->driven[can[k].v]) s->joint[s->n++] = (api_friction_joint){.v = can[k].v, .at_rest = can[k]};
    if (s->n == 0) return true;
    if (!take_problem(e, s)) return false;
    ode->stiction = s;
    ode->driven   = s->driven;
    return true;
}

/* --- forces ----------------------------------------------------------------------------------------------------- */

bool api_ode_stiction_any_sticks(const api_ode_stiction *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->joint[k].side == 0) return true;
    return false;
}

api_stiction_joint api_ode_stiction_limits(const api_ode *ode, const api_friction_joint *j, size_t lane)
{
    return api_stiction_limit_at(&j->at_rest, ode->stiction->efforts[j->v * ode->W + lane]);
}

/* Sets s->needed to u - T. */
static void find_needed(const api_ode *ode, const double *qd, const double *qdd)
{
    const api_ode_stiction *s  = ode->stiction;
    dyn_inverse_dynamics    io = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = s->needed};
    ode->kernels->inverse_dynamics(api_ode_friction_scene(ode), ode->workspace, &io, 1);
    api_ode_friction_transmit_unheld(ode, qd, s->efforts);
    for (size_t i = 0; i < ode->e->model->nv * ode->W; i++)
        s->needed[i] = s->efforts[i] - s->needed[i];
}

void api_ode_stiction_load(api_ode *ode, const double *qd, const double *qdd, double *load)
{
    const api_ode_stiction *s = ode->stiction;
    size_t                  W = ode->W;
    memset(load, 0, s->n * W * sizeof *load);
    if (!api_ode_stiction_any_sticks(s)) return;
    find_needed(ode, qd, qdd);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        for (size_t l = 0; l < W && j->side == 0; l++) {
            const api_stiction_joint at = api_ode_stiction_limits(ode, j, l);
            if (at.positive + at.negative > 0) load[k * W + l] = s->needed[j->v * W + l] / (at.positive + at.negative);
        }
    }
}

size_t api_ode_stiction_count(const api_ode *ode)
{
    return ode->stiction ? ode->stiction->n : 0;
}
