/* integrate_step.c - integrates one block of states over a step (integrate_step.h). */
#include "integrate_step.h"
#include "loop_impact.h"

/* --- loops ------------------------------------------------------------------------------------------------------ */

static api_loop_constraints constraints_of(const api_step_means *by, const dyn_step *io)
{
    return (api_loop_constraints){.kernels = by->kernels,
                                  .scene   = by->scene,
                                  .closed  = by->workspace,
                                  .contact = by->contact,
                                  .io      = io,
                                  .nv      = (size_t)by->joints->nv,
                                  .W       = (size_t)by->kernels->lanes};
}

size_t api_step_integrate_entries(const api_query *q, const dyn_model *joints, const api_held_ranges *ranges,
                                  size_t n_stopping)
{
    const dyn_step       io   = {.n_stopping = n_stopping};
    const dyn_kernels    none = {.lanes = 1};
    const api_step_means by   = {.kernels = &none, .scene = &q->scene, .joints = joints};
    size_t               most = 0;
    for (size_t r = 0; joints && r < ranges->n; r++) {
        api_loop_constraints s      = constraints_of(&by, &io);
        api_loop_impact      impact = {.at = &s, .columns = 10 * joints->n_rows};
        s.contact                   = ranges->range[r].contact;
        size_t entries              = s.contact || n_stopping > 0 ? api_loop_constraints_lay_out(&s, NULL) : 0;
        if (ranges->range[r].impact) entries += api_loop_impact_lay_out(&impact, NULL);
        if (entries > most) most = entries;
    }
    const dyn_mechanism mechanism = api_model_mechanism(q->model);
    return most + dyn_loop_step_entries(&mechanism);
}

/* Integrates a step that begins with an impact: finds the velocities after the impact, then steps from them. The
 * impact's arrays take the first part of stepper->scratch. */
static void step_after_impact(const api_step_means *by, dyn_loop_stepper *stepper, const dyn_step *io)
{
    api_loop_impact impact = {.at      = stepper->constraints,
                              .columns = io->parameter_matrix ? 10 * by->joints->n_rows : 0};
    dyn_step        after  = *io;
    stepper->scratch += api_loop_impact_lay_out(&impact, stepper->scratch) * impact.at->W;
    api_loop_impact_find(&impact, io->q, io->qd, io->state_matrix);
    after.qd     = impact.v;
    after.impact = false;
    dyn_loop_step(stepper, &after);
    if (io->state_matrix) api_loop_impact_chain(&impact, io);
}

/* Integrates a mechanism with loops. If no accelerations hold all frames, the kernel cannot report it; the result of
 * the constraints is copied. */
static void step_with_loops(const api_step_means *by, const dyn_step *io)
{
    const size_t         W       = (size_t)by->kernels->lanes;
    api_loop_constraints s       = constraints_of(by, io);
    dyn_loop_stepper     stepper = {.closed   = by->workspace,
                                    .scene    = by->scene,
                                    .joints   = by->joints,
                                    .scratch  = by->room,
                                    .failures = by->failures};
    if (by->contact || io->n_stopping > 0) {
        stepper.accelerate  = api_loop_constrained_accelerate;
        stepper.constraints = &s;
        stepper.scratch += api_loop_constraints_lay_out(&s, stepper.scratch) * W;
    }
    if (io->impact)
        step_after_impact(by, &stepper, io);
    else
        dyn_loop_step(&stepper, io);
    for (size_t lane = 0; lane < W; lane++)
        if (s.contradictory[lane] > 0) io->contradictory[lane] = (double)s.contradictory[lane];
}

/* --- a step ----------------------------------------------------------------------------------------------------- */

void api_step_integrate(const api_step_means *by, const dyn_step *io)
{
    if (by->joints)
        step_with_loops(by, io);
    else
        by->kernels->step(by->scene, by->workspace, io, 1);
}
