/* ode_integration.c - connects the equations of a simulation to an integrator (ode_integration.h). */
#include "ode_integration.h"
#include "ode_input.h"
#include "dynamics/rigid_contact/rigid_events.h"
#include "ode_stiction.h"
#include "stiction_events.h"
#include <math.h>

/* --- functions ---------------------------------------------------------------------------------------------------- */

static void ode_rate(void *ode, double t, const double *y, double *to)
{
    dyn_robot_ode_rate(ode, t, y, to);
}

static void ode_normalize(void *ode, double *y, size_t stride, size_t lanes)
{
    dyn_robot_ode_normalize(ode, y, stride, lanes);
}

static void ode_finish_step(void *ode, double t, double *y, size_t stride, size_t lanes)
{
    dyn_robot_ode_finish_step(ode, t, y, stride, lanes);
}

static void ode_check_range(void *ode, double t)
{
    dyn_robot_ode_check_range(ode, t);
}

static bool ode_may_continue(const void *ode)
{
    return dyn_robot_ode_may_continue(ode);
}

static void ode_observe(void *system, double t, const double *y)
{
    const dyn_robot_ode *ode = system;
    ode->observer.observe(ode->observer.arg, t, y + ode->state.nq * ode->W);
}

static void ode_restart(void *ode, double t)
{
    dyn_stiction_events_restart(ode, t);
}

static void ode_end_step(void *ode, double t)
{
    dyn_stiction_events_end_step(ode, t);
}

static void ode_switch_at(void *ode, double t)
{
    dyn_stiction_events_switch(ode, t);
}

static void ode_margins(void *ode, double t, const double *y, double *to)
{
    dyn_stiction_events_margins(ode, t, y, to);
}

static double ode_advance(void *ode, size_t lane, const double *from)
{
    return dyn_stiction_events_advance(ode, lane, from);
}

static void ode_stop(void *ode, double t, size_t lane, const double *from, bool stay)
{
    dyn_stiction_events_stop(ode, t, lane, from, stay);
}

static void rigid_restart(void *ode, double t)
{
    dyn_rigid_events_restart(ode, t);
}

static void rigid_switch_at(void *ode, double t)
{
    dyn_rigid_events_switch(ode, t);
}

static void rigid_margins(void *ode, double t, const double *y, double *to)
{
    dyn_rigid_events_margins(ode, t, y, to);
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

/* Functions of a simulation with rigid contacts, whose only events are those of the contacts. Integrators locate
 * events. */
static const dyn_ode_functions rigid_functions = {
    .rate         = ode_rate,
    .normalize    = ode_normalize,
    .finish_step  = ode_finish_step,
    .check_range  = ode_check_range,
    .may_continue = ode_may_continue,
    .observe      = ode_observe,
    .restart      = rigid_restart,
    .switch_at    = rigid_switch_at,
    .margins      = rigid_margins,
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Lists the arrays that an integration must save and restore with its state: the closed position at which the next path
 * to closed loops starts. */
static void list_carried(const dyn_robot_ode *ode, dyn_ode *state)
{
    const dyn_mechanism *m = &ode->s->mechanism;
    if (!ode->loops) return;
    state->carried[0] = (dyn_ode_array){ode->closed_q, m->nq};
    state->carried[1] = (dyn_ode_array){ode->closed_passive, m->loops->n_passive_q};
    state->n_carried  = 2;
}

/* Returns the longest step, in s, in which no contact is missed; 0: no limit. */
static double longest_step(const dyn_robot_ode *ode)
{
    const double compliant = dyn_compliant_contacts_longest_step(&ode->ground, ode->s->mechanism.tree->mass);
    if (!ode->rigid) return compliant;
    return compliant > 0 ? fmin(compliant, dyn_ode_rigid_longest_step()) : dyn_ode_rigid_longest_step();
}

bool dyn_ode_integration_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_simulation *s           = ode->s;
    const dyn_mechanism  *m           = &s->mechanism;
    const size_t          n           = dyn_ode_stiction_count(ode);
    const size_t          controllers = dyn_ode_input_states(s);
    ode->state                        = (dyn_ode){
                               .functions       = ode->rigid ? &rigid_functions : &functions,
                               .system          = ode,
                               .W               = ode->W,
                               .entries         = m->nq + m->nv + controllers + n + DYN_WORKS,
                               .nq              = m->nq,
                               .nv              = m->nv,
                               .works           = DYN_WORKS,
                               .weighs_works    = s->prescribed.n > 0, /* q may be easy to integrate while the efforts are not */
                               .longest         = longest_step(ode),
                               .observed        = ode->observer.observe,
                               .step            = s->step,
                               .tolerance       = s->tolerance,
                               .duration        = s->duration,
                               .end             = s->end,
                               .deadline        = ode->state.deadline,
                               .deadline_of_all = s->scene->deadline,
                               .n_events        = ode->rigid ? ode->rigid->n : n,
                               .uncorrected     = s->contact && n > 0 ? ode->stiction->uncorrected : NULL,
    };
    list_carried(ode, &ode->state);
    return dyn_ode_open(&ode->state, s->integrator, memory);
}
