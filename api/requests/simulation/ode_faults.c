/* ode_faults.c - reports faults of simulations as problems (ode_faults.h). */
#include "ode_faults.h"
#include "contact_events.h"
#include "dynamics/rigid_contact/rigid_events.h"
#include "api/base/memory/shortage.h"
#include "dynamics/joint_stiction/stiction.h"
#include "api/robots/model/model_loops.h"
#include <math.h>
#include <stdio.h>

#define SLOW 1e-3 /* rad/s or m/s: only slower joints are named as the cause of a failure */

/* --- messages of faults ------------------------------------------------------------------------------------------- */

/* Returns the name of entry i of y, for messages. */
static const char *name_of(const api_simulated_rows *r, size_t i)
{
    const api_model *m = r->e->model;
    if (i < m->nq) return m->position_names[i];
    if (i < m->nq + m->nv) return m->velocity_names[i - m->nq];
    return i < r->ode.state.entries - DYN_WORKS ? "the controller's state" : "the work";
}

/* Reports a fault of velocity, acceleration, or of an infinite entry of y as a problem. */
static void fail_divergence(const api_simulated_rows *r, const dyn_fault *f, api_problem *problem)
{
    const api_model *m      = r->e->model;
    const char      *advice = "take shorter steps, or check gains, efforts and the initial state";
    if (f->kind == DYN_FAULT_VELOCITY || f->kind == DYN_FAULT_PASSIVE_VELOCITY)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s moves at %.3g rad/s or m/s; simulations are limited to %g: %s", f->time,
                 (f->kind == DYN_FAULT_VELOCITY ? m->velocity_names : m->loops->velocity_names)[f->index], f->value,
                 DYN_MAX_RATE, advice);
    else if (f->kind == DYN_FAULT_ACCELERATION)
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "at %.9g s %.64s accelerates by %.3g rad/s^2 or m/s^2; simulations are limited to %g: %s", f->time,
                 m->velocity_names[f->index], f->value, DYN_MAX_ACCELERATION, advice);
    else
        api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s %.64s has grown beyond all bounds: %s", f->time,
                 name_of(r, f->index), advice);
}

/* Describes a fault of rigid contacts. */
static void describe_rigid(const api_simulated_rows *r, const dyn_fault *f, api_problem *problem)
{
    const size_t contact = r->s->ground.entry[f->index];
    if (f->kind == DYN_FAULT_BELOW)
        api_fail(problem, API_BAD_VALUE, NULL, "contacts[%zu] is %.3g m below its plane: %s", contact, f->value,
                 f->time > 0 ? "it has passed the plane within a step; give a smaller tolerance"
                             : "rigid contacts start on their planes or at most 1e-6 m below");
    else if (f->kind == DYN_FAULT_RIGID)
        api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                 "no forces at contacts[%zu] and the other rigid contacts that touch satisfy the laws of contact and "
                 "friction: lower friction_coefficient, or give the contacts a stiffness",
                 contact);
    else
        api_fail(problem, API_INTEGRATION_FAILED, NULL,
                 "the rigid contacts have more than %d events: raise resting_speed, shorten the duration, or leave "
                 "contact_events out of the outputs",
                 API_MOST_EVENTS);
}

/* Describes a fault of the loops, of held frames, of friction or of a limit, without its time. */
static void describe_fault(const api_simulated_rows *r, const dyn_fault *f, api_problem *problem)
{
    const api_limit_list *list = &r->s->limits.list;
    if (f->kind == DYN_FAULT_LOOPS)
        api_loop_fail(f->loops, NULL, -1, problem);
    else if (f->kind == DYN_FAULT_HELD_MOVES)
        api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                 "a held frame moves along a held axis: start with the velocities after its impact, which the "
                 "operation impact computes");
    else if (f->kind == DYN_FAULT_CONTRADICTION)
        api_contact_describe(r->ode.s->contact, f->index, r->ode.s->damping, problem);
    else if (f->kind == DYN_FAULT_BELOW || f->kind == DYN_FAULT_RIGID || f->kind == DYN_FAULT_EVENTS)
        describe_rigid(r, f, problem);
    else if (f->kind == DYN_FAULT_UNDECIDED)
        api_fail(problem, API_SINGULAR_MASS_MATRIX, NULL,
                 "which joints stick cannot be decided: the mass matrix is singular up to rounding");
    else
        api_fail(problem, API_RESULT_NOT_FINITE, NULL,
                 "the %s of %.64s is not finite: figures of the input are too large",
                 api_limit_names[list->limit[f->index].kind], list->owner[f->index].name);
}

static void fail_described(const api_simulated_rows *r, const dyn_fault *f, api_problem *problem)
{
    api_problem described;
    api_problem_clear(&described);
    describe_fault(r, f, &described);
    api_fail(problem, described.code, NULL, "at %.9g s %s", f->time, described.detail);
}

static void fail_fault(const api_simulated_rows *r, const dyn_fault *f, api_problem *problem)
{
    const api_model *m = r->e->model;
    switch (f->kind) {
    case DYN_FAULT_SINGULAR:
        api_fail(problem, API_SINGULAR_MASS_MATRIX, NULL,
                 "at %.9g s the mass matrix is singular at %.64s: no effective inertia about or along this joint",
                 f->time, api_joint_of(m, (int)f->index));
        break;
    case DYN_FAULT_ANGLE:
        api_fail(problem, API_ANGLE_TOO_LARGE, NULL,
                 "at %.9g s %.64s is beyond %g rad: the motion is too fast or too long, or its steps are too long",
                 f->time, m->position_names[f->index], DYN_MAX_ANGLE);
        break;
    case DYN_FAULT_VELOCITY:
    case DYN_FAULT_PASSIVE_VELOCITY:
    case DYN_FAULT_ACCELERATION:
    case DYN_FAULT_INFINITE: fail_divergence(r, f, problem); break;
    case DYN_FAULT_LOOPS:
    case DYN_FAULT_HELD_MOVES:
    case DYN_FAULT_CONTRADICTION:
    case DYN_FAULT_UNDECIDED:
    case DYN_FAULT_BELOW:
    case DYN_FAULT_RIGID:
    case DYN_FAULT_EVENTS:
    case DYN_FAULT_LIMIT: fail_described(r, f, problem); break;
    case DYN_FAULT_NONE: break;
    }
}

/* Reports that the simulations have used up their share of the time (row_time.h), or that the deadline of the request
 * has passed. */
static bool fail_late(const api_simulated_rows *r, api_problem *problem)
{
    if (api_deadline_check(r->e->query->input->deadline, problem)) api_row_share_problem(r->e->plan, problem);
    return false;
}

bool api_ode_faults_check_all(const api_simulated_rows *r, api_problem *problem)
{
    for (size_t l = 0; l < r->ode.state.rows; l++)
        if (!api_ode_faults_check_lane(r, l, problem)) return false;
    return true;
}

bool api_ode_faults_check_lane(const api_simulated_rows *r, size_t l, api_problem *problem)
{
    if (r->ode.state.fault[l].kind == DYN_FAULT_NONE) return true;
    if (!api_row_share_check(&r->share)) return fail_late(r, problem); /* lateness may be the cause of the fault */
    fail_fault(r, &r->ode.state.fault[l], problem);
    if (r->e->query->batched) problem->row = (long long)r->ode.row[l];
    return false;
}

/* --- messages of integrations ------------------------------------------------------------------------------------- */

/* Returns the slowest body whose joint has a friction that jumps at rest, if it is slower than SLOW; otherwise -1. */
static int slowest_joint(const api_simulated_rows *r)
{
    const dyn_model *m  = r->e->query->scene.model;
    const double    *qd = r->ode.loops ? dyn_loop_tree_qd(r->ode.loops) : r->ode.state.y + r->e->model->nq * r->ode.W;
    double           slowest      = SLOW;
    int              slowest_body = -1;
    for (size_t i = 0; i < m->n_bodies && r->e->query->scene.terms & DYN_FRICTION; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_stiction_is_possible(b)) continue;
        double speed = fabs(b->joint.ratio * qd[(size_t)b->joint.v * r->ode.W]);
        if (speed >= slowest) continue;
        slowest      = speed;
        slowest_body = (int)i;
    }
    return slowest_body;
}

/* Writes ", while <joint> accelerates by ..." for the coordinate with the largest acceleration. */
static void describe_worst(api_simulated_rows *r, double t, char *text, size_t size)
{
    double acceleration;
    int    worst = dyn_ode_find_worst(&r->ode.state, t, &acceleration);
    text[0]      = '\0';
    if (worst >= 0)
        snprintf(text, size, ", while %.64s accelerates by %.3g rad/s^2 or m/s^2", r->e->model->velocity_names[worst],
                 acceleration);
}

/* Reports that the tolerance cannot be kept at time t. */
static bool fail_tolerance(api_simulated_rows *r, double t, const char *why, api_problem *problem)
{
    int  joint = r->ode.stiction ? -1 : slowest_joint(r);
    char advice[300], worst[160];
    describe_worst(r, t, worst, sizeof worst);
    if (joint >= 0)
        snprintf(advice, sizeof advice,
                 "the joint %.64s stops, where its Coulomb friction jumps: give it a coulomb_velocity, well below the "
                 "speeds that matter, or take fixed steps",
                 api_joint_of(r->e->model, joint));
    else
        snprintf(advice, sizeof advice, "give a larger tolerance, or take fixed steps%s",
                 r->ode.s->integrator->is_implicit ? "" : ", or the integrator esdirk5");
    api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s the tolerance of %g cannot be kept%s%s: %s", t,
             r->ode.s->tolerance, why, worst, advice);
    if (r->e->query->batched) problem->row = (long long)r->ode.row[0];
    return false;
}

bool api_ode_faults_fail_short(api_problem *problem)
{
    api_shortage_note();
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the integrator of a simulation");
}

bool api_ode_faults_check_integration(api_simulated_rows *r, dyn_integration integration, api_problem *problem)
{
    switch (integration.status) {
    case DYN_INTEGRATION_LATE: return fail_late(r, problem);
    case DYN_INTEGRATION_FAULTY: return api_ode_faults_check_all(r, problem);
    case DYN_INTEGRATION_SHORT: return api_ode_faults_fail_short(problem);
    case DYN_INTEGRATION_STEP_LENGTH: return fail_tolerance(r, integration.time, "", problem);
    case DYN_INTEGRATION_EVENTS: return fail_tolerance(r, integration.time, " where joints begin to stick", problem);
    case DYN_INTEGRATION_STEPS: return fail_tolerance(r, integration.time, " within 10 million steps", problem);
    case DYN_INTEGRATION_DONE: return true;
    }
    return true;
}
