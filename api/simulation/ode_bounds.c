/* ode_bounds.c - see ode_bounds.h. */
#include "ode_bounds.h"
#include <math.h>

/* Notes the first of n entries that is beyond the bound, in each lane that is sound. NaN is noted elsewhere. */
static void check(api_ode *p, double t, const double *lanes, size_t n, api_fault_kind kind, double most)
{
    size_t W = p->W;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < W; l++) {
            double x = fabs(lanes[i * W + l]);
            if (!(x > most) || p->fault[l].kind != API_FAULT_NONE) continue;
            api_ode_record_fault(p, l, kind, t, i);
            p->fault[l].value = x;
        }
}

void api_ode_bounds_check_velocities(api_ode *p, double t, const double *qd)
{
    check(p, t, qd, p->e->model->nv, API_FAULT_VELOCITY, API_MAX_VELOCITY);
}

void api_ode_bounds_check_passive(api_ode *p, double t)
{
    if (!p->closed) return;
    check(p, t, api_loop_tree_qd(p->closed), p->e->model->loops->nv, API_FAULT_PASSIVE_VELOCITY, API_MAX_VELOCITY);
}

void api_ode_bounds_freeze(const api_ode *p, double *q)
{
    for (size_t i = 0; p->closed && i < p->e->model->nq; i++)
        for (size_t l = 0; l < p->W; l++)
            if (p->fault[l].kind != API_FAULT_NONE) q[i * p->W + l] = p->origin[i * p->W + l];
}

void api_ode_bounds_check_accelerations(api_ode *p, double t, const double *qdd)
{
    check(p, t, qdd, p->e->model->nv, API_FAULT_ACCELERATION, API_MAX_ACCELERATION);
}

int api_ode_bounds_find_worst(api_ode *p, double t, double *acceleration)
{
    const double *qdd   = p->slope[0] + p->e->model->nq * p->W;
    int           worst = -1;
    api_ode_rate(p, t, p->y, p->slope[0]);
    *acceleration = 0;
    for (size_t i = 0; i < p->e->model->nv; i++) {
        double a = fabs(qdd[i * p->W]);
        if (!(a > *acceleration) || !isfinite(a)) continue;
        *acceleration = a;
        worst         = (int)i;
    }
    return worst;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

/* What entry i of y is, for messages. */
static const char *name_of(const api_ode *p, size_t i)
{
    const api_model *m = p->e->model;
    if (i < m->nq) return m->position_names[i];
    if (i < m->nq + m->nv) return m->velocity_names[i - m->nq];
    return i < p->entries - API_WORKS ? "the controller's state" : "the work";
}

void api_ode_bounds_fail(const api_ode *p, const api_fault *f, api_problem *problem)
{
    const api_model *m      = p->e->model;
    const char      *advice = "take shorter steps, or check gains, efforts and the initial state";
    if (f->kind == API_FAULT_VELOCITY || f->kind == API_FAULT_PASSIVE_VELOCITY)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s moves at %.3g rad/s or m/s; simulations are limited to %g: %s", f->time,
                 (f->kind == API_FAULT_VELOCITY ? m->velocity_names : m->loops->velocity_names)[f->where], f->value,
                 API_MAX_VELOCITY, advice);
    else if (f->kind == API_FAULT_ACCELERATION)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s accelerates by %.3g rad/s^2 or m/s^2; simulations are limited to %g: %s", f->time,
                 m->velocity_names[f->where], f->value, API_MAX_ACCELERATION, advice);
    else
        api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s %.64s has grown beyond all bounds: %s", f->time,
                 name_of(p, f->where), advice);
}
