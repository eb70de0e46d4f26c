/* simulation_run.c - runs all simulations of a request, several in parallel (simulation.h). */
#include "api/requests/lanes/failed_rows.h"
#include "api/base/work/parallel.h"
#include "dynamics/model/coordinates.h"
#include "ode_contact.h"
#include "ode_faults.h"
#include "ode_limits.h"
#include "stiction_events.h"
#include <string.h>

typedef struct run {
    const api_evaluation *e;
    const api_simulation *s;
    api_ode              *odes; /* [slots] one for each task that runs in parallel */
} run;

/* Returns the number of simulations side by side in lanes. */
static size_t side_by_side(const api_evaluation *e, const api_simulation *s)
{
    return s->integrator->lanes == DYN_LANES_ROWS ? e->lanes : 1;
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

/* Copies entries of lane l to the lanes of a state; the last state also fills the rest of its block. */
static void scatter(const api_ode *ode, const double *from, size_t entries, size_t l, size_t state, double *lanes)
{
    const api_evaluation *e = ode->e;
    size_t                W = e->lanes, end = state + 1 == api_states(e->query) ? e->plan->blocks * W : state + 1;
    for (; lanes && state < end; state++) {
        double *to = api_state_lane(e, lanes, entries, state);
        for (size_t i = 0; i < entries; i++)
            to[i * W] = from[i * ode->W + l];
    }
}

/* Makes w >= 0 in quaternions, as answers have them; the integration keeps either sign. */
static void make_quaternions_positive(const api_ode *ode)
{
    const dyn_model *m = ode->e->model->dyn;
    size_t           W = ode->W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(ode->e->model, &m->body[i]), at = dyn_quaternion_offset(&m->body[i]);
        if (place < 0 || at < 0) continue;
        double *r = ode->q + (size_t)(place + at) * W;
        for (size_t l = 0; l < W; l++) {
            double sign = r[3 * W + l] < 0 ? -1 : 1;
            for (size_t k = 0; k < 4; k++)
                r[k * W + l] *= sign;
        }
    }
}

/* Stores sample n of the ODE's simulations. A sample at a break of the input has the input after the break. */
static void put_sample(api_ode *ode, size_t n, double time)
{
    const api_evaluation *e = ode->e;
    const api_simulation *s = ode->s;
    size_t                W = ode->W, nq = e->model->nq, nv = e->model->nv;
    double                figures[2 * DYN_MAX_LANES];
    api_ode_rate(ode, time, ode->state.y, ode->state.stage_rate[0]);
    if (s->contact_wrenches && ode->stiction) api_stiction_events_share_load(ode);
    api_ode_limits_compare(ode, time, ode->state.y + nq * W);
    make_quaternions_positive(ode);
    for (size_t l = 0; l < ode->state.rows; l++) {
        size_t state   = ode->row[l] * e->query->samples + n;
        figures[l]     = time;
        figures[W + l] = (double)ode->state.steps;
        scatter(ode, ode->q, nq, l, state, s->q);
        if (ode->loops) scatter(ode, ode->closed_passive, e->model->loops->n_passive_q, l, state, e->plan->passive);
        scatter(ode, ode->state.y + nq * W, nv, l, state, s->qd);
        scatter(ode, ode->state.stage_rate[0] + nq * W, nv, l, state, s->qdd);
        scatter(ode, ode->tau, nv, l, state, s->tau);
        scatter(ode, figures, 1, l, state, s->time);
        scatter(ode, figures + W, 1, l, state, s->steps);
        for (size_t i = 0; i < API_WORKS; i++)
            scatter(ode, ode->state.y + (ode->state.entries - API_WORKS + i) * W, 1, l, state, s->work[i]);
        for (size_t i = 0; i < 2; i++)
            scatter(ode, ode->error[i], nv, l, state, s->error[i]);
        if (s->contact_wrenches)
            scatter(ode, api_ode_contact_wrenches(ode->contact), 6 * s->contact->n, l, state, s->contact_wrenches);
        if (s->contact_residual)
            scatter(ode, api_ode_contact_residual(ode), 6 * s->contact->n, l, state, s->contact_residual);
    }
}

/* --- simulations ------------------------------------------------------------------------------------------------ */

/* Returns the interval from boundary k on. */
static dyn_interval interval_at(const api_simulation *s, size_t k)
{
    return (dyn_interval){s->boundaries[k], s->boundaries[k + 1], s->is_break[k]};
}

/* Integrates the interval from boundary k on. Returns false with a problem. */
static bool integrate_interval(api_ode *ode, size_t k, api_problem *problem)
{
    const dyn_integration done = ode->s->integrator->integrate(&ode->state, interval_at(ode->s, k));
    return done.status == DYN_INTEGRATION_DONE || api_ode_faults_check_integration(ode, done, problem);
}

/* Integrates all intervals and stores the samples. */
static bool integrate(api_ode *ode, api_problem *problem)
{
    const api_simulation *s = ode->s;
    for (size_t k = 0, n = 0; k < s->n_boundaries; k++) {
        if (k > 0 && !integrate_interval(ode, k - 1, problem)) return false;
        if (k + 1 < s->n_boundaries) ode->interval_time = 0.5 * (s->boundaries[k] + s->boundaries[k + 1]);
        for (; n < s->sampling.n && api_sample_time(&s->sampling, n, s->duration) <= s->boundaries[k]; n++)
            put_sample(ode, n, s->boundaries[k]);
    }
    return api_ode_faults_check_all(ode, problem);
}

/* Opens the integrator that the request selects, and integrates all intervals. */
static bool integrate_all(api_ode *ode, api_problem *problem)
{
    const dyn_integrator *integrator = ode->s->integrator;
    const bool            opened     = !integrator->open || integrator->open(&ode->state);
    const bool            done       = opened ? integrate(ode, problem) : api_ode_faults_fail_short(problem);
    if (integrator->close) integrator->close(&ode->state);
    return done;
}

/* Replaces all samples of a failed simulation by rest at home, so that their evaluation is safe; they are not shown. */
static void clear_samples(api_ode *ode, size_t l)
{
    const api_evaluation *e  = ode->e;
    const api_simulation *s  = ode->s;
    size_t                nq = e->model->nq, nv = e->model->nv, W = ode->W;
    memset(ode->state.stage_y, 0, ode->state.entries * W * sizeof *ode->state.stage_y);
    for (size_t i = 0; i < nq; i++)
        ode->q[i * W + l] = api_failed_rows_home(e->plan->failed_rows)[i];
    for (size_t i = 0; ode->loops && i < e->model->loops->n_passive_q; i++)
        ode->closed_passive[i * W + l] = api_failed_rows_guess(e->plan->failed_rows)[i];
    for (size_t n = 0; n < e->query->samples; n++) {
        size_t state = ode->row[l] * e->query->samples + n;
        scatter(ode, ode->q, nq, l, state, s->q);
        if (ode->loops) scatter(ode, ode->closed_passive, e->model->loops->n_passive_q, l, state, e->plan->passive);
        scatter(ode, ode->state.stage_y, nv, l, state, s->qd);
    }
}

/* True if the problem concerns a single simulation: the deadline, while it has not passed, is that of its share of the
 * time. The deadline of the request, or a lack of memory, fails the request instead. */
static bool is_of_row(const api_ode *ode, const api_problem *found, api_problem *problem)
{
    if (found->code == API_DEADLINE_PASSED) return api_deadline_check(ode->e->query->input->deadline, problem);
    bool of_a_row = api_problem_kind_of(found->code)->status == 422;
    if (!of_a_row) *problem = *found;
    return of_a_row;
}

/* Records the failed simulations of the ODE, with "on_error": "row". `found` is the problem that ended the integration
 * early, unless `done`. Returns false with a problem of the request. */
static bool record_failures(api_ode *ode, bool done, const api_problem *found, api_problem *problem)
{
    const bool late = !done && found->code == API_DEADLINE_PASSED; /* all simulations of the ODE end with their share */
    if (!done && !is_of_row(ode, found, problem)) return false;
    for (size_t l = 0; l < ode->state.rows; l++) {
        api_problem own = *found;
        bool        failed =
            api_failed_rows_has(ode->e->plan->failed_rows,
                                ode->row[l] * ode->e->query->samples); /* a row that failed before the simulation */
        if (failed) clear_samples(ode, l);
        if (failed) continue;
        if (done || (ode->state.rows > 1 && !late)) api_problem_clear(&own);
        if (own.code == API_NO_PROBLEM && api_ode_faults_check_lane(ode, l, &own)) continue;
        if (!is_of_row(ode, &own, problem)) return false;
        clear_samples(ode, l);
        if (!api_failed_rows_add(ode->e->plan->failed_rows, -1, ode->row[l] * ode->e->query->samples, &own, problem))
            return false;
    }
    return true;
}

static bool simulate(void *arg, size_t slot, size_t task, api_problem *problem)
{
    const run  *r   = arg;
    api_ode    *ode = &r->odes[slot];
    api_problem found;
    api_problem_clear(&found);
    api_problem *reported = r->e->plan->failed_rows ? &found : problem;
    size_t       width = side_by_side(r->e, r->s), first = task * width, left = r->e->query->rows - first;
    ode->share = api_row_share_take(r->e->plan, left < width ? left : width);
    api_ode_start(ode, first, left < width ? left : width);
    if (ode->stiction) api_stiction_events_start(ode);
    bool begins = api_ode_may_continue(ode),
         done   = begins ? integrate_all(ode, reported) : api_ode_faults_check_all(ode, reported);
    api_ode_limits_store(ode);
    return r->e->plan->failed_rows ? record_failures(ode, done, &found, problem) : done;
}

bool api_simulation_run(api_plan *plan, const api_simulation *s)
{
    const api_query *q        = plan->query;
    api_evaluation   e        = api_evaluation_of(plan);
    api_parallel     parallel = api_query_parallel(q);
    size_t           width = side_by_side(&e, s), tasks = (q->rows + width - 1) / width;
    size_t           slots = api_parallel_slots(&parallel, tasks);
    run              r     = {.e = &e, .s = s, .odes = api_take(q->pool, slots * sizeof *r.odes)};
    if (!r.odes) return false;
    for (size_t i = 0; i < slots; i++)
        if (!api_ode_open(&e, s, &r.odes[i]) ||
            (s->integrator->bytes && !api_pool_claim(q->pool, s->integrator->bytes(&r.odes[i].state))))
            return false;
    api_row_time_begin(plan, q->rows);
    const bool done = api_run_parallel(&parallel, slots, tasks, simulate, &r);
    api_row_time_end(plan);
    return done;
}
