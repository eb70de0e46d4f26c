/* ode_integration.c - gives the equations of a simulation to an integrator (ode_integration.h). */
#include "ode_integration.h"
#include "ode_limits.h"
#include "stiction_events.h"

/* --- functions ---------------------------------------------------------------------------------------------------- */

static void ode_rate(void *ode, double t, const double *y, double *to)
{
    api_ode_rate(ode, t, y, to);
}

static void ode_normalize(void *ode, double *y, size_t stride, size_t lanes)
{
    api_ode_normalize(ode, y, stride, lanes);
}

static void ode_finish_step(void *ode, double t, double *y, size_t stride, size_t lanes)
{
    api_ode_finish_step(ode, t, y, stride, lanes);
}

static void ode_check_range(void *ode, double t)
{
    api_ode_check_range(ode, t);
}

static bool ode_may_continue(const void *ode)
{
    return api_ode_may_continue(ode);
}

static void ode_observe(void *system, double t, const double *y)
{
    const api_ode *ode = system;
    api_ode_limits_compare(system, t, y + ode->state.nq * ode->W);
}

static void ode_restart(void *ode, double t)
{
    api_stiction_events_restart(ode, t);
}

static void ode_end_step(void *ode, double t)
{
    api_stiction_events_end_step(ode, t);
}

static void ode_switch_at(void *ode, double t)
{
    api_stiction_events_switch(ode, t);
}

static void ode_margins(void *ode, double t, const double *y, double *to)
{
    api_stiction_events_margins(ode, t, y, to);
}

static double ode_advance(void *ode, size_t lane, const double *from)
{
    return api_stiction_events_advance(ode, lane, from);
}

static void ode_stop(void *ode, double t, size_t lane, const double *from, bool stay)
{
    api_stiction_events_stop(ode, t, lane, from, stay);
}

static const dyn_ode_functions functions = {
    .rate         = ode_rate,
    .normalize    = ode_normalize,
    .finish_step  = ode_finish_step,
    .check_range  = ode_check_range,
    .may_continue = ode_may_continue,
    .observe      = ode_observe,
    .restart      = ode_restart,
    .end_step     = ode_end_step,
    .switch_at    = ode_switch_at,
    .margins      = ode_margins,
    .advance      = ode_advance,
    .stop         = ode_stop,
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Lists the closed position: the next path to closed loops starts there. */
static void list_carried(const api_ode *ode, dyn_ode *state)
{
    const api_model *m = ode->e->model;
    if (!ode->loops) return;
    state->carried[0] = (dyn_ode_array){ode->closed_q, m->nq};
    state->carried[1] = (dyn_ode_array){ode->closed_passive, m->loops->n_passive_q};
    state->n_carried  = 2;
}

bool api_ode_integration_open(const api_evaluation *e, api_ode *ode)
{
    const api_simulation *s           = ode->s;
    const api_model      *m           = e->model;
    const size_t          n           = api_ode_stiction_count(ode);
    const size_t          controllers = dyn_controller_states(s->input.controller, m->dyn);
    ode->state                        = (dyn_ode){
                               .functions       = &functions,
                               .system          = ode,
                               .W               = ode->W,
                               .entries         = m->nq + m->nv + controllers + n + API_WORKS,
                               .nq              = m->nq,
                               .nv              = m->nv,
                               .works           = API_WORKS,
                               .weighs_works    = s->prescribed.n > 0, /* q may be easy to integrate while the efforts are not */
                               .observed        = ode->violation,
                               .step            = s->step,
                               .tolerance       = s->tolerance,
                               .duration        = s->duration,
                               .end             = s->boundaries[s->n_boundaries - 1],
                               .deadline        = api_row_share_for_dynamics(&ode->share),
                               .deadline_of_all = e->query->scene.deadline,
                               .n_events        = n,
                               .uncorrected     = s->contact && n > 0 ? ode->stiction->uncorrected : NULL,
    };
    list_carried(ode, &ode->state);
    return dyn_ode_open(&ode->state, s->integrator, api_pool_memory(e->query->pool));
}
