/* simulation_run.c - runs all simulations of a request, several in parallel (simulation.h). */
#include "api/requests/scene/row_scene.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/base/work/parallel.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/rigid_contact/rigid_events.h"
#include "dynamics/simulation/ode_held_frames.h"
#include "dynamics/simulation/ode_input.h"
#include "dynamics/simulation/stiction_events.h"
#include "contact_events.h"
#include "ode_faults.h"
#include "ode_limits.h"
#include <string.h>

typedef struct run {
    const api_evaluation *e;
    const api_simulation *s;
    api_simulated_rows   *rows;        /* [slots] one for each task that runs in parallel */
    api_evaluation       *evaluations; /* [slots] evaluations, each with the scene of one row (scene/row_scene.h) */
    dyn_simulation       *described;   /* [slots] descriptions of the simulations for dynamics/ */
    dyn_scene            *scenes;      /* [slots] scenes of `described` */
} run;

/* Returns the number of simulations side by side in lanes. */
static size_t side_by_side(const api_evaluation *e, const api_simulation *s)
{
    return s->integrator->lanes == DYN_LANES_ROWS ? e->lanes : 1;
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

/* Copies entries of lane l to the lanes of a state; the last state also fills the rest of its block. */
static void scatter(const api_simulated_rows *r, const double *from, size_t entries, size_t l, size_t state,
                    double *lanes)
{
    const api_evaluation *e = r->e;
    size_t                W = e->lanes, end = state + 1 == api_states(e->query) ? e->plan->blocks * W : state + 1;
    for (; lanes && state < end; state++) {
        double *to = api_state_lane(e, lanes, entries, state);
        for (size_t i = 0; i < entries; i++)
            to[i * W] = from[i * r->ode.W + l];
    }
}

/* Makes w >= 0 in quaternions, as answers have them; the integration keeps either sign. */
static void make_quaternions_positive(const api_simulated_rows *r)
{
    const dyn_model *m = r->e->model->dyn;
    size_t           W = r->ode.W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(r->e->model, &m->body[i]), at = dyn_quaternion_offset(&m->body[i]);
        if (place < 0 || at < 0) continue;
        double *quaternion = r->ode.q + (size_t)(place + at) * W;
        for (size_t l = 0; l < W; l++) {
            double sign = quaternion[3 * W + l] < 0 ? -1 : 1;
            for (size_t k = 0; k < 4; k++)
                quaternion[k * W + l] *= sign;
        }
    }
}

/* Copies the forces at all contacts to r->forces, in the order of the request. */
static void gather_forces(const api_simulated_rows *r)
{
    const api_contact_points *points    = &r->s->ground;
    const size_t              size      = 3 * r->ode.W;
    const double             *compliant = r->ode.ground.forces, *rigid = r->ode.rigid ? r->ode.rigid->forces : NULL;
    for (size_t i = 0; i < points->n_all; i++) {
        const double **from = points->is_rigid[i] ? &rigid : &compliant;
        memcpy(r->forces + i * size, *from, size * sizeof *r->forces);
        *from += size;
    }
}

/* Stores sample n of the ODE's simulations. A sample at a break of the input has the input after the break. */
static void put_sample(api_simulated_rows *r, size_t n, double time)
{
    const api_evaluation *e = r->e;
    const api_simulation *s = r->s;
    size_t                W = r->ode.W, nq = e->model->nq, nv = e->model->nv;
    double                figures[2 * DYN_MAX_LANES];
    dyn_robot_ode_rate(&r->ode, time, r->ode.state.y, r->ode.state.stage_rate[0]);
    if (s->contact_wrenches && r->ode.stiction) dyn_stiction_events_share_load(&r->ode);
    api_ode_limits_compare(r, time, r->ode.state.y + nq * W);
    make_quaternions_positive(r);
    if (s->contact_forces) gather_forces(r);
    for (size_t l = 0; l < r->ode.state.rows; l++) {
        size_t state   = r->ode.row[l] * e->query->samples + n;
        figures[l]     = time;
        figures[W + l] = (double)r->ode.state.steps;
        scatter(r, r->ode.q, nq, l, state, s->q);
        if (r->ode.loops) scatter(r, r->ode.closed_passive, e->model->loops->n_passive_q, l, state, e->plan->passive);
        scatter(r, r->ode.state.y + nq * W, nv, l, state, s->qd);
        scatter(r, r->ode.state.stage_rate[0] + nq * W, nv, l, state, s->qdd);
        scatter(r, r->ode.tau, nv, l, state, s->tau);
        scatter(r, figures, 1, l, state, s->time);
        scatter(r, figures + W, 1, l, state, s->steps);
        for (size_t i = 0; i < DYN_WORKS; i++)
            scatter(r, r->ode.state.y + (r->ode.state.entries - DYN_WORKS + i) * W, 1, l, state, s->work[i]);
        for (size_t i = 0; i < 2; i++)
            scatter(r, r->ode.error[i], nv, l, state, s->error[i]);
        if (s->contact_wrenches)
            scatter(r, dyn_ode_held_wrenches(r->ode.contact), 6 * s->contact->n, l, state, s->contact_wrenches);
        if (s->contact_forces) scatter(r, r->forces, 3 * s->ground.n_all, l, state, s->contact_forces);
        if (s->contact_residual)
            scatter(r, dyn_ode_held_residual(&r->ode), 6 * s->contact->n, l, state, s->contact_residual);
    }
}

/* --- simulations ------------------------------------------------------------------------------------------------ */

/* Returns the interval from boundary k on. */
static dyn_interval interval_at(const api_simulation *s, size_t k)
{
    return (dyn_interval){s->boundaries[k], s->boundaries[k + 1], s->is_break[k]};
}

/* Integrates the interval from boundary k on. Returns false with a problem. */
static bool integrate_interval(api_simulated_rows *r, size_t k, api_problem *problem)
{
    const dyn_integration done = r->s->integrator->integrate(&r->ode.state, interval_at(r->s, k));
    return done.status == DYN_INTEGRATION_DONE || api_ode_faults_check_integration(r, done, problem);
}

/* Fails if the point of a rigid contact is below its plane at the sample of time t. */
static bool check_touches(api_simulated_rows *r, double t, api_problem *problem)
{
    double       depth = 0;
    const size_t n     = r->ode.rigid ? r->ode.rigid->n : 0,
                 i     = n > 0 ? dyn_rigid_events_find_missed(r->ode.rigid, &depth) : 0;
    if (i == n) return true;
    dyn_fault_record(&r->ode.state.fault[0], DYN_FAULT_BELOW, t, i);
    r->ode.state.fault[0].value = depth;
    return api_ode_faults_check_all(r, problem);
}

/* Integrates all intervals and stores the samples. */
static bool integrate(api_simulated_rows *r, api_problem *problem)
{
    const api_simulation *s = r->s;
    for (size_t k = 0, n = 0; k < s->n_boundaries; k++) {
        if (k > 0 && !integrate_interval(r, k - 1, problem)) return false;
        if (k + 1 < s->n_boundaries) r->ode.interval_time = 0.5 * (s->boundaries[k] + s->boundaries[k + 1]);
        dyn_ode_sampling_renew(&r->ode, s->boundaries[k]);
        for (; n < s->sampling.n && api_sample_time(&s->sampling, n, s->duration) <= s->boundaries[k]; n++)
            put_sample(r, n, s->boundaries[k]);
        if (!check_touches(r, s->boundaries[k], problem)) return false;
    }
    return api_ode_faults_check_all(r, problem);
}

/* Opens the integrator that the request selects, and integrates all intervals. */
static bool integrate_all(api_simulated_rows *r, api_problem *problem)
{
    const dyn_integrator *integrator = r->s->integrator;
    const bool            opened     = !integrator->open || integrator->open(&r->ode.state);
    const bool            done       = opened ? integrate(r, problem) : api_ode_faults_fail_short(problem);
    if (integrator->close) integrator->close(&r->ode.state);
    return done;
}

/* Replaces all samples of a failed simulation by rest at home, so that their evaluation is safe; they are not shown. */
static void clear_samples(api_simulated_rows *r, size_t l)
{
    const api_evaluation *e  = r->e;
    const api_simulation *s  = r->s;
    size_t                nq = e->model->nq, nv = e->model->nv, W = r->ode.W;
    memset(r->ode.state.stage_y, 0, r->ode.state.entries * W * sizeof *r->ode.state.stage_y);
    for (size_t i = 0; i < nq; i++)
        r->ode.q[i * W + l] = api_failed_rows_home(e->plan->failed_rows)[i];
    for (size_t i = 0; r->ode.loops && i < e->model->loops->n_passive_q; i++)
        r->ode.closed_passive[i * W + l] = api_failed_rows_guess(e->plan->failed_rows)[i];
    for (size_t n = 0; n < e->query->samples; n++) {
        size_t state = r->ode.row[l] * e->query->samples + n;
        scatter(r, r->ode.q, nq, l, state, s->q);
        if (r->ode.loops) scatter(r, r->ode.closed_passive, e->model->loops->n_passive_q, l, state, e->plan->passive);
        scatter(r, r->ode.state.stage_y, nv, l, state, s->qd);
    }
}

/* True if the problem concerns a single simulation: the deadline, while it has not passed, is that of its share of the
 * time. The deadline of the request, or a lack of memory, fails the request instead. */
static bool is_of_row(const api_simulated_rows *r, const api_problem *found, api_problem *problem)
{
    if (found->code == API_DEADLINE_PASSED) return api_deadline_check(r->e->query->input->deadline, problem);
    bool of_a_row = api_problem_kind_of(found->code)->status == 422;
    if (!of_a_row) *problem = *found;
    return of_a_row;
}

/* Records the failed simulations of the ODE, with "on_error": "row". `found` is the problem that ended the integration
 * early, unless `done`. Returns false with a problem of the request. */
static bool record_failures(api_simulated_rows *r, bool done, const api_problem *found, api_problem *problem)
{
    const bool late = !done && found->code == API_DEADLINE_PASSED; /* the simulations that are integrated together have
                                                                      one share of the time, so all of them end */
    if (!done && !is_of_row(r, found, problem)) return false;
    for (size_t l = 0; l < r->ode.state.rows; l++) {
        api_problem own = *found;
        bool        failed =
            api_failed_rows_has(r->e->plan->failed_rows,
                                r->ode.row[l] * r->e->query->samples); /* a row that had failed before the simulation */
        if (failed) clear_samples(r, l);
        if (failed) continue;
        if (done || (r->ode.state.rows > 1 && !late)) api_problem_clear(&own);
        if (own.code == API_NO_PROBLEM && api_ode_faults_check_lane(r, l, &own)) continue;
        if (!is_of_row(r, &own, problem)) return false;
        clear_samples(r, l);
        if (!api_failed_rows_add(r->e->plan->failed_rows, -1, r->ode.row[l] * r->e->query->samples, &own, problem))
            return false;
    }
    return true;
}

/* Sets the scene of the simulation of a row in a slot, if rows differ. Returns false with a problem. */
static bool set_scene(const run *all, size_t slot, size_t row, api_problem *problem)
{
    api_evaluation *e = &all->evaluations[slot];
    e->problem        = problem;
    if (!e->own_query) return true;
    if (!api_row_scene_set(e, row * e->query->samples)) return false;
    api_contact_points_set_scene(e->query, &all->s->ground, &all->scenes[slot]);
    dyn_robot_ode_renew_scene(&all->rows[slot].ode);
    return true;
}

static bool simulate(void *arg, size_t slot, size_t task, api_problem *problem)
{
    const run          *all  = arg;
    api_simulated_rows *r    = &all->rows[slot];
    const api_plan     *plan = all->e->plan;
    api_problem         found;
    api_problem_clear(&found);
    api_problem *reported = plan->failed_rows ? &found : problem;
    const size_t width = side_by_side(all->e, all->s), first = task * width, left = plan->query->rows - first;
    const size_t n = left < width ? left : width;
    r->share       = api_row_share_take(plan, n);
    if (!set_scene(all, slot, first, problem)) return false;
    api_simulated_rows_start(r, first, n);
    const bool begins = dyn_robot_ode_may_continue(&r->ode),
               done   = begins ? integrate_all(r, reported) : api_ode_faults_check_all(r, reported);
    api_ode_limits_store(r);
    api_contact_events_store(r);
    return plan->failed_rows ? record_failures(r, done, &found, problem) : done;
}

/* Describes and opens the simulations that run in a slot. Returns false with a problem. */
static bool open_slot(run *all, size_t slot)
{
    api_evaluation       *one        = &all->evaluations[slot];
    api_simulated_rows   *rows       = &all->rows[slot];
    const dyn_integrator *integrator = all->s->integrator;
    *one                             = *all->e;
    return api_row_scene_open(one) &&
           api_simulated_rows_describe(one, all->s, &all->scenes[slot], &all->described[slot]) &&
           api_simulated_rows_open(one, all->s, &all->described[slot], rows) &&
           (!integrator->bytes || api_pool_claim(one->query->pool, integrator->bytes(&rows->ode.state)));
}

bool api_simulation_run(api_plan *plan, const api_simulation *s)
{
    const api_query *q        = plan->query;
    api_evaluation   e        = api_evaluation_of(plan);
    api_parallel     parallel = api_query_parallel(q);
    size_t           width = side_by_side(&e, s), tasks = (q->rows + width - 1) / width;
    size_t           slots = api_parallel_slots(&parallel, tasks);
    run              r     = {.e           = &e,
                              .s           = s,
                              .rows        = api_take(q->pool, slots * sizeof *r.rows),
                              .evaluations = api_take(q->pool, slots * sizeof *r.evaluations),
                              .described   = api_take(q->pool, slots * sizeof *r.described),
                              .scenes      = api_take(q->pool, slots * sizeof *r.scenes)};
    if (!r.rows || !r.evaluations || !r.described || !r.scenes) return false;
    for (size_t i = 0; i < slots; i++)
        if (!open_slot(&r, i)) return false;
    api_row_time_begin(plan, q->rows);
    const bool done = api_run_parallel(&parallel, slots, tasks, simulate, &r);
    for (size_t i = 0; i < slots; i++)
        api_row_scene_close(&r.evaluations[i]);
    api_row_time_end(plan);
    return done;
}
