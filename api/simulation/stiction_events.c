/* stiction_events.c - see stiction_events.h. */
#include "stiction_events.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include <math.h>

/* What friction has to give to those that stick, into the balance. */
static void weigh(api_ode *p, double t, const double *y)
{
    api_ode_rate(p, t, y, p->slope[0]);
}

static double needed(const api_ode *p, const api_friction_joint *j)
{
    return p->stick->balance[j->v * p->W];
}

/* How far friction is from its limit; less than 0: it is beyond. */
static double left(const api_ode *p, const api_friction_joint *j)
{
    return fmin(j->with - needed(p, j), j->against + needed(p, j));
}

static void set(api_ode *p, api_friction_joint *j, int side)
{
    j->side                = side;
    p->stick->driven[j->v] = side == 0;
}

static void let_go(api_ode *p, api_friction_joint *j)
{
    set(p, j, needed(p, j) > 0 ? 1 : -1);
}

/* Accelerations under the efforts that were changed last; those that are in the problem are not driven. */
static void accelerate(api_ode *p, const double *qd)
{
    dyn_forward_dynamics io = {.q        = p->q,
                               .qd       = qd,
                               .tau      = p->stick->efforts,
                               .wrenches = p->wrenches,
                               .driven   = p->driven,
                               .given    = api_ode_prescribed_accelerations(p),
                               .qdd      = p->stick->qdd,
                               .singular = p->singular};
    p->kernels->forward_dynamics(&p->e->scene, p->workspace, &io, 1);
}

/* The problem (stiction.h) of the joints listed in `place`: b and A from how accelerations answer to efforts, which
 * they do linearly. */
static void state_problem(api_ode *p, const double *qd)
{
    api_ode_stiction *s = p->stick;
    size_t            n = s->problem.n, W = p->W;
    double *const     b = s->vectors, *with = s->vectors + s->n, *against = s->vectors + 2 * s->n;
    api_ode_stiction_efforts(p, qd);
    accelerate(p, qd);
    for (size_t i = 0; i < n; i++) {
        const api_friction_joint *j = &s->joint[s->place[i]];
        b[i]                        = s->qdd[j->v * W];
        with[i]                     = j->with;
        against[i]                  = j->against;
    }
    for (size_t i = 0; i < n; i++) {
        const api_friction_joint *j    = &s->joint[s->place[i]];
        double                    unit = j->with + j->against;
        for (size_t l = 0; l < W; l++)
            s->efforts[j->v * W + l] += unit;
        accelerate(p, qd);
        for (size_t k = 0; k < n; k++)
            s->matrix[k * n + i] = (s->qdd[s->joint[s->place[k]].v * W] - b[k]) / unit;
        api_ode_stiction_efforts(p, qd);
    }
    for (size_t i = 0; i < n; i++) /* symmetric to the bit */
        for (size_t k = 0; k < i; k++)
            s->matrix[i * n + k] = s->matrix[k * n + i] = 0.5 * (s->matrix[i * n + k] + s->matrix[k * n + i]);
}

/* Decides anew which of the joints stick whose side is 0; all others go on to their side. */
static void decide(api_ode *p, double t)
{
    api_ode_stiction *s  = p->stick;
    const double     *qd = p->y + p->e->model->nq * p->W;
    s->problem.n         = 0;
    for (size_t k = 0; k < s->n; k++)
        if (s->joint[k].side == 0) s->place[s->problem.n++] = k;
    if (s->problem.n == 0) return;
    weigh(p, t, p->y);
    for (size_t i = 0; i < s->problem.n; i++)
        s->driven[s->joint[s->place[i]].v] = false;
    state_problem(p, qd);
    bool solved = api_stiction_solve(&s->problem);
    for (size_t i = 0; i < s->problem.n; i++) /* a singular mass matrix is told by the next step */
        set(p, &s->joint[s->place[i]], solved ? s->problem.side[i] : 0);
    weigh(p, t, p->y);
    for (size_t i = 0; i < s->problem.n; i++) { /* margins begin above zero: what holds but for rounding is let go */
        api_friction_joint *j = &s->joint[s->place[i]];
        if (j->side == 0 && left(p, j) < 0) let_go(p, j);
    }
}

void api_stiction_events_restart(api_ode *p, double t)
{
    const double *qd = p->y + p->e->model->nq * p->W;
    for (size_t k = 0; k < p->stick->n; k++)
        if (qd[p->stick->joint[k].v * p->W] == 0) set(p, &p->stick->joint[k], 0);
    decide(p, t);
}

void api_stiction_events_start(api_ode *p)
{
    const double *qd = p->y + p->e->model->nq * p->W;
    for (size_t k = 0; k < p->stick->n; k++) {
        api_friction_joint *j    = &p->stick->joint[k];
        double              rate = qd[j->v * p->W];
        set(p, j, rate > 0 ? 1 : rate < 0 ? -1 : 0);
    }
    api_stiction_events_restart(p, 0);
}

void api_stiction_events_margins(api_ode *p, double t, const double *y, double *margins)
{
    const api_ode_stiction *s = p->stick;
    if (api_ode_stiction_any_sticks(s)) weigh(p, t, y);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        margins[k]                  = j->side == 0 ? left(p, j) : y[(p->e->model->nq + j->v) * p->W];
    }
}

/* Who slid comes to rest; who stuck is let go, whatever rounding says of its limit. */
void api_stiction_events_switch(api_ode *p, double t)
{
    api_ode_stiction *s  = p->stick;
    size_t            nq = p->e->model->nq;
    weigh(p, t, p->y);
    for (size_t k = 0; k < s->n; k++) {
        api_friction_joint *j = &s->joint[k];
        if (s->roots[k] == 0) continue;
        if (j->side == 0) {
            let_go(p, j);
            continue;
        }
        set(p, j, 0);
        for (size_t l = 0; l < p->W; l++)
            p->y[(nq + j->v) * p->W + l] = 0;
    }
    decide(p, t);
}
