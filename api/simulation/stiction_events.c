/* stiction_events.c - handles events of joints that stick or slide (stiction_events.h). */
#include "stiction_events.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include <math.h>

/* Updates stiction->needed, the friction that sticking joints need. */
static void update_needed(api_ode *ode, double t, const double *y)
{
    api_ode_rate(ode, t, y, ode->stage_rate[0]);
}

static double needed(const api_ode *ode, const api_friction_joint *j)
{
    return ode->stiction->needed[j->v * ode->W];
}

/* Returns the distance of the needed friction from the nearer limit; it is negative beyond the limit. */
static double margin(const api_ode *ode, const api_friction_joint *j)
{
    const api_stiction_joint at = api_ode_stiction_limits(ode, j, 0);
    return fmin(at.positive - needed(ode, j), at.negative + needed(ode, j));
}

static void set_side(api_ode *ode, api_friction_joint *j, int side)
{
    j->side                     = side;
    ode->stiction->driven[j->v] = side == 0;
}

static void release(api_ode *ode, api_friction_joint *j)
{
    set_side(ode, j, needed(ode, j) > 0 ? 1 : -1);
}

/* Finds accelerations under friction->T. The joints of the friction problem move freely: they must not be marked
 * in stiction->driven. */
static void accelerate(api_ode *ode, const double *qd)
{
    dyn_forward_dynamics io = {.q          = ode->q,
                               .qd         = qd,
                               .tau        = ode->friction->T,
                               .wrenches   = ode->wrenches,
                               .driven     = ode->driven,
                               .driven_qdd = api_ode_prescribed_accelerations(ode),
                               .qdd        = ode->stiction->qdd,
                               .singular   = ode->singular};
    ode->kernels->forward_dynamics(api_ode_friction_scene(ode), ode->workspace, &io, 1);
}

/* Sets up the problem (api/contact/stiction.h) of the joints listed in `index`. Accelerations are affine in the
 * efforts, so that differences give A and b. */
static void set_up_problem(api_ode *ode, const double *qd)
{
    api_ode_stiction *s = ode->stiction;
    size_t            n = s->problem.n, W = ode->W;
    double *const     b = s->vectors, *with = s->vectors + s->n, *against = s->vectors + 2 * s->n;
    api_ode_friction_transmit(ode, qd);
    accelerate(ode, qd);
    for (size_t i = 0; i < n; i++) {
        const api_friction_joint *j  = &s->joint[s->index[i]];
        const api_stiction_joint  at = api_ode_stiction_limits(ode, j, 0);
        b[i]                         = s->qdd[j->v * W];
        with[i]                      = at.positive;
        against[i]                   = at.negative;
    }
    for (size_t i = 0; i < n; i++) {
        const api_friction_joint *j    = &s->joint[s->index[i]];
        const double              unit = with[i] + against[i] > 0 ? with[i] + against[i] : 1;
        for (size_t l = 0; l < W; l++)
            ode->friction->T[j->v * W + l] += unit;
        accelerate(ode, qd);
        for (size_t k = 0; k < n; k++)
            s->matrix[k * n + i] = (s->qdd[s->joint[s->index[k]].v * W] - b[k]) / unit;
        api_ode_friction_transmit(ode, qd);
    }
    for (size_t i = 0; i < n; i++) /* makes A symmetric to the last bit */
        for (size_t k = 0; k < i; k++)
            s->matrix[i * n + k] = s->matrix[k * n + i] = 0.5 * (s->matrix[i * n + k] + s->matrix[k * n + i]);
}

/* Decides which of the joints with side 0 stick; the others start to slide. */
static void decide(api_ode *ode, double t)
{
    api_ode_stiction *s  = ode->stiction;
    const double     *qd = ode->y + ode->e->model->nq * ode->W;
    s->problem.n         = 0;
    for (size_t k = 0; k < s->n; k++)
        if (s->joint[k].side == 0) s->index[s->problem.n++] = k;
    if (s->problem.n == 0) return;
    update_needed(ode, t, ode->y);
    for (size_t i = 0; i < s->problem.n; i++)
        s->driven[s->joint[s->index[i]].v] = false;
    set_up_problem(ode, qd);
    bool solved = api_friction_problem_solve(&s->problem, NULL, NULL) == API_FRICTION_FOUND;
    for (size_t i = 0; i < s->problem.n; i++) /* a singular mass matrix is reported by the next step */
        set_side(ode, &s->joint[s->index[i]], solved ? s->problem.side[i] : 0);
    update_needed(ode, t, ode->y);
    for (size_t i = 0; i < s->problem.n;
         i++) { /* margins must start positive: release joints beyond their limit by rounding */
        api_friction_joint *j = &s->joint[s->index[i]];
        if (j->side == 0 && margin(ode, j) < 0) release(ode, j);
    }
}

void api_stiction_events_restart(api_ode *ode, double t)
{
    const double *qd = ode->y + ode->e->model->nq * ode->W;
    for (size_t k = 0; k < ode->stiction->n; k++)
        if (qd[ode->stiction->joint[k].v * ode->W] == 0) set_side(ode, &ode->stiction->joint[k], 0);
    decide(ode, t);
}

void api_stiction_events_start(api_ode *ode)
{
    const double *qd = ode->y + ode->e->model->nq * ode->W;
    for (size_t k = 0; k < ode->stiction->n; k++) {
        api_friction_joint *j    = &ode->stiction->joint[k];
        double              rate = qd[j->v * ode->W];
        set_side(ode, j, rate > 0 ? 1 : rate < 0 ? -1 : 0);
    }
    api_stiction_events_restart(ode, 0);
}

void api_stiction_events_margins(api_ode *ode, double t, const double *y, double *margins)
{
    const api_ode_stiction *s = ode->stiction;
    if (api_ode_stiction_any_sticks(s)) update_needed(ode, t, y);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        margins[k]                  = j->side == 0 ? margin(ode, j) : y[(ode->e->model->nq + j->v) * ode->W];
    }
}

/* Changes joints at which an event occurred: a sliding joint comes to rest; a sticking joint is released, even if
 * rounding leaves its friction below the limit. */
void api_stiction_events_switch(api_ode *ode, double t)
{
    api_ode_stiction *s  = ode->stiction;
    size_t            nq = ode->e->model->nq;
    update_needed(ode, t, ode->y);
    for (size_t k = 0; k < s->n; k++) {
        api_friction_joint *j = &s->joint[k];
        if (s->roots[k] == 0) continue;
        if (j->side == 0) {
            release(ode, j);
            continue;
        }
        set_side(ode, j, 0);
        for (size_t l = 0; l < ode->W; l++)
            ode->y[(nq + j->v) * ode->W + l] = 0;
    }
    decide(ode, t);
}
