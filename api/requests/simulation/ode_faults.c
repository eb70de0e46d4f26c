/* ode_faults.c - records faults of simulations that diverge (ode_faults.h). */
#include "ode_faults.h"
#include <math.h>

/* Records a fault for the first of n entries beyond the bound, in each lane without fault. NaN is found by other
 * checks. */
static void check(api_ode *ode, double t, const double *lanes, size_t n, api_fault_kind kind, double most)
{
    size_t W = ode->W;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < W; l++) {
            double x = fabs(lanes[i * W + l]);
            if (!(x > most) || ode->fault[l].kind != API_FAULT_NONE) continue;
            api_ode_record_fault(ode, l, kind, t, i);
            ode->fault[l].value = x;
        }
}

void api_ode_faults_check_velocities(api_ode *ode, double t, const double *qd)
{
    check(ode, t, qd, ode->e->model->nv, API_FAULT_VELOCITY, API_MAX_VELOCITY);
}

void api_ode_faults_check_passive(api_ode *ode, double t)
{
    if (!ode->loops) return;
    check(ode, t, dyn_loop_tree_qd(ode->loops), ode->e->model->loops->nv, API_FAULT_PASSIVE_VELOCITY, API_MAX_VELOCITY);
}

void api_ode_faults_freeze(const api_ode *ode, double *q)
{
    for (size_t i = 0; ode->loops && i < ode->e->model->nq; i++)
        for (size_t l = 0; l < ode->W; l++)
            if (ode->fault[l].kind != API_FAULT_NONE) q[i * ode->W + l] = ode->closed_q[i * ode->W + l];
}

void api_ode_faults_check_accelerations(api_ode *ode, double t, const double *qdd)
{
    check(ode, t, qdd, ode->e->model->nv, API_FAULT_ACCELERATION, API_MAX_ACCELERATION);
}

int api_ode_faults_find_worst(api_ode *ode, double t, double *acceleration)
{
    const double *qdd   = ode->stage_rate[0] + ode->e->model->nq * ode->W;
    int           worst = -1;
    api_ode_rate(ode, t, ode->y, ode->stage_rate[0]);
    *acceleration = 0;
    for (size_t i = 0; i < ode->e->model->nv; i++) {
        double a = fabs(qdd[i * ode->W]);
        if (!(a > *acceleration) || !isfinite(a)) continue;
        *acceleration = a;
        worst         = (int)i;
    }
    return worst;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

/* Returns the name of entry i of y, for messages. */
static const char *name_of(const api_ode *ode, size_t i)
{
    const api_model *m = ode->e->model;
    if (i < m->nq) return m->position_names[i];
    if (i < m->nq + m->nv) return m->velocity_names[i - m->nq];
    return i < ode->entries - API_WORKS ? "the controller's state" : "the work";
}

void api_ode_faults_fail(const api_ode *ode, const api_fault *f, api_problem *problem)
{
    const api_model *m      = ode->e->model;
    const char      *advice = "take shorter steps, or check gains, efforts and the initial state";
    if (f->kind == API_FAULT_VELOCITY || f->kind == API_FAULT_PASSIVE_VELOCITY)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s moves at %.3g rad/s or m/s; simulations are limited to %g: %s", f->time,
                 (f->kind == API_FAULT_VELOCITY ? m->velocity_names : m->loops->velocity_names)[f->index], f->value,
                 API_MAX_VELOCITY, advice);
    else if (f->kind == API_FAULT_ACCELERATION)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s accelerates by %.3g rad/s^2 or m/s^2; simulations are limited to %g: %s", f->time,
                 m->velocity_names[f->index], f->value, API_MAX_ACCELERATION, advice);
    else
        api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s %.64s has grown beyond all bounds: %s", f->time,
                 name_of(ode, f->index), advice);
}
