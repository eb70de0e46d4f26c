/* ode_stiction.c - see ode_stiction.h. */
#include "ode_stiction.h"
#include <math.h>
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

static bool take_problem(api_evaluation *e, api_ode_stiction *s)
{
    size_t n   = s->n;
    bool   all = true;
    s->matrix  = api_take_zeroed(e->pool, n * n, &all);
    s->vectors = api_take_zeroed(e->pool, 3 * n, &all);
    s->place   = api_take(e->pool, n * sizeof *s->place);
    s->problem = (api_stiction_problem){.A       = s->matrix,
                                        .b       = s->vectors,
                                        .with    = s->vectors + n,
                                        .against = s->vectors + 2 * n,
                                        .f       = api_take_zeroed(e->pool, n, &all),
                                        .side    = api_take(e->pool, n * sizeof(int)),
                                        .matrix  = api_take_zeroed(e->pool, n * n, &all),
                                        .free    = api_take_zeroed(e->pool, n, &all)};
    return all && s->place && s->problem.side;
}

bool api_ode_stiction_open(api_evaluation *e, api_ode *p)
{
    size_t nv = e->model->nv;
    if (p->s->tolerance == 0 || e->model->loops || p->s->contact || !(e->scene.terms & DYN_FRICTION)) return true;
    api_ode_stiction *s = api_take(e->pool, sizeof *s);
    if (!s) return false;
    *s                       = (api_ode_stiction){.joint = api_take(e->pool, nv * sizeof *s->joint)};
    s->roots                 = api_take(e->pool, nv * sizeof *s->roots);
    s->driven                = api_take(e->pool, nv * sizeof *s->driven);
    api_stiction_joint *can  = api_take(e->pool, nv * sizeof *can);
    bool                room = true;
    if (!s->joint || !s->roots || !s->driven || !can) return false;
    s->efforts = api_take_zeroed(e->pool, nv * p->W, &room);
    s->balance = api_take_zeroed(e->pool, nv * p->W, &room);
    s->qdd     = api_take_zeroed(e->pool, nv * p->W, &room);
    if (!room) return false;
    for (size_t v = 0; v < nv; v++)
        s->driven[v] = p->s->prescribed.mask && p->s->prescribed.mask[v];
    size_t n = api_stiction_list_joints(e->scene.model, can);
    for (size_t k = 0; k < n; k++)
        if (!s->driven[can[k].v])
            s->joint[s->n++] = (api_friction_joint){.v = can[k].v, .with = can[k].with, .against = can[k].against};
    if (s->n == 0) return true;
    if (!take_problem(e, s)) return false;
    p->stick  = s;
    p->driven = s->driven;
    return true;
}

/* --- forces ----------------------------------------------------------------------------------------------------- */

/* The kernels' friction has the sign of q', and none at rest. */
static double given(const api_friction_joint *j, double rate)
{
    return rate > 0 ? j->with : rate < 0 ? -j->against : 0;
}

void api_ode_stiction_apply_sides(const api_ode *p, const double *qd, double *friction)
{
    const api_ode_stiction *s = p->stick;
    size_t                  W = p->W;
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j      = &s->joint[k];
        double                    wanted = j->side > 0 ? j->with : j->side < 0 ? -j->against : 0;
        for (size_t l = 0; l < W; l++)
            friction[j->v * W + l] += wanted - given(j, qd[j->v * W + l]);
    }
}

const double *api_ode_stiction_efforts(const api_ode *p, const double *qd)
{
    const api_ode_stiction *s = p->stick;
    size_t                  n = p->e->model->nv * p->W;
    memset(s->efforts, 0, n * sizeof *s->efforts);
    api_ode_stiction_apply_sides(p, qd, s->efforts);
    for (size_t i = 0; i < n; i++)
        s->efforts[i] = p->tau[i] - s->efforts[i];
    return s->efforts;
}

bool api_ode_stiction_any_sticks(const api_ode_stiction *s)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->joint[k].side == 0) return true;
    return false;
}

void api_ode_stiction_load(api_ode *p, const double *qd, const double *qdd, double *load)
{
    const api_ode_stiction *s  = p->stick;
    size_t                  W  = p->W;
    dyn_inverse_dynamics    io = {.q = p->q, .qd = qd, .qdd = qdd, .wrenches = p->wrenches, .tau = s->balance};
    memset(load, 0, s->n * W * sizeof *load);
    if (!api_ode_stiction_any_sticks(s)) return;
    p->kernels->inverse_dynamics(&p->e->scene, p->workspace, &io, 1);
    for (size_t i = 0; i < p->e->model->nv * W; i++)
        s->balance[i] = p->tau[i] - s->balance[i];
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        for (size_t l = 0; l < W && j->side == 0; l++) {
            double *needed = &s->balance[j->v * W + l];
            *needed += given(j, qd[j->v * W + l]); /* where a Jacobian is found, q' is not quite 0 */
            load[k * W + l] = *needed / (j->with + j->against);
        }
    }
}

size_t api_ode_stiction_count(const api_ode *p)
{
    return p->stick ? p->stick->n : 0;
}
