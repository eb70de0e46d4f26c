/* stiction_problem.c - sets up and solves the friction problem of a simulation (stiction_problem.h). */
#include "stiction_problem.h"
#include "ode_held_frames.h"
#include "ode_friction.h"
#include "ode_prescribed.h"

/* A joint whose friction has reached a limit starts to slide if it needs more than this fraction of the limit. */
#define REACHED (1 - 1e-6)

void dyn_stiction_problem_accelerate(dyn_robot_ode *ode, const double *qd, const double *T)
{
    dyn_ode_stiction    *s  = ode->stiction;
    dyn_forward_dynamics io = {.q          = ode->q,
                               .qd         = qd,
                               .tau        = T,
                               .wrenches   = ode->wrenches,
                               .driven     = ode->s->prescribed.mask,
                               .driven_qdd = dyn_ode_prescribed_accelerations(ode),
                               .qdd        = s->qdd,
                               .singular   = s->singular};
    ode->kernels->forward_dynamics(dyn_ode_friction_scene(ode), ode->workspace, &io, 1);
}

void dyn_stiction_problem_prepare(dyn_robot_ode *ode, const double *qd)
{
    dyn_mass_matrix M = {.q = ode->q, .mass_matrix = ode->stiction->mass};
    dyn_ode_friction_transmit_resting(ode, qd, ode->stiction->efforts);
    dyn_stiction_problem_accelerate(ode, qd, ode->stiction->efforts);
    if (!ode->contact) ode->kernels->mass_matrix(dyn_ode_friction_scene(ode), ode->workspace, &M, 1);
}

dyn_friction_rows dyn_stiction_problem_gather(const dyn_robot_ode *ode, const dyn_friction_state *state, bool at_rest)
{
    const dyn_ode_stiction *s = ode->stiction;
    dyn_friction_rows       r = dyn_friction_rows_lay_out(ode->state.nv, ode->state.nv, s->rows);
    for (size_t k = 0; k < s->n; k++) {
        const dyn_friction_joint *j = &s->joint[k];
        if ((j->side[state->lane] == 0) != at_rest) continue;
        const dyn_stiction_joint at = dyn_ode_stiction_limits(ode, j, state->lane);
        const double             of = s->breaks[k] ? REACHED : 1;
        r.positive[r.n]             = of * at.positive;
        r.negative[r.n]             = of * at.negative;
        s->index[r.n]               = k;
        dyn_friction_row_fill(state, &j->at_rest, r.W + r.n * r.nv);
        r.n++;
    }
    return r;
}

dyn_friction_state dyn_stiction_problem_state(const dyn_robot_ode *ode, size_t lane)
{
    return (dyn_friction_state){
        .nv = ode->state.nv, .W = ode->W, .lane = lane, .fused = ode->kernels->fused, .deadline = ode->state.deadline};
}

bool dyn_stiction_problem_solve(dyn_robot_ode *ode, size_t lane, dyn_friction_rows *r)
{
    const dyn_friction_state state = dyn_stiction_problem_state(ode, lane);
    dyn_contact_block       *held  = ode->contact ? dyn_ode_held_block(ode) : NULL;
    *r                             = dyn_stiction_problem_gather(ode, &state, true);
    if (r->n == 0) return true;
    if (held ? !dyn_contact_solve(held, ode->s->prescribed.mask, lane) ||
                   !dyn_friction_rows_set_held(r, &state, held, ode->stiction->qdd)
             : !dyn_friction_rows_set(r, &state, ode->stiction->mass, ode->s->prescribed.mask, ode->stiction->qdd))
        return false;
    return dyn_friction_rows_solve(r, ode->state.deadline) == DYN_FRICTION_FOUND;
}
