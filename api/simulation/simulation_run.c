/* simulation_run.c - all simulations of a request: see simulation.h. */
#include "api/evaluate/failed_rows.h"
#include "api/work/parallel.h"
#include "api/model/coordinates.h"
#include "integrate.h"
#include "ode_contact.h"
#include "ode_limits.h"
#include "stiction_events.h"
#include <string.h>

typedef struct run {
    const api_evaluation *e;
    const api_simulation *s;
    api_ode              *plants; /* of each seat */
} run;

/* Simulations side by side: those of a tolerance have steps of their own. */
static size_t side_by_side(const api_evaluation *e, const api_simulation *s)
{
    return s->tolerance > 0 ? 1 : e->lanes;
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

/* Entries of lane l into the lanes of a state; the last state fills its block. */
static void scatter(const api_ode *p, const double *from, size_t entries, size_t l, size_t state, double *lanes)
{
    const api_evaluation *e = p->e;
    size_t                W = e->lanes, end = state + 1 == api_states(e) ? e->blocks * W : state + 1;
    for (; lanes && state < end; state++) {
        double *to = api_state_lane(e, lanes, entries, state);
        for (size_t i = 0; i < entries; i++)
            to[i * W] = from[i * p->W + l];
    }
}

/* Quaternions are answered with w >= 0; the motion goes on with either sign. */
static void turn_quaternions(const api_ode *p)
{
    const dyn_model *m = p->e->model->dyn;
    size_t           W = p->W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(p->e->model, &m->body[i]), at = api_quaternion_offset(&m->body[i]);
        if (place < 0 || at < 0) continue;
        double *r = p->q + (size_t)(place + at) * W;
        for (size_t l = 0; l < W; l++) {
            double sign = r[3 * W + l] < 0 ? -1 : 1;
            for (size_t k = 0; k < 4; k++)
                r[k * W + l] *= sign;
        }
    }
}

/* Sample n of the simulations in the plant: the input is that of the time behind it. */
static void put_sample(api_ode *p, size_t n, double time)
{
    const api_evaluation *e = p->e;
    const api_simulation *s = p->s;
    size_t                W = p->W, nq = e->model->nq, nv = e->model->nv;
    double                figures[2 * DYN_MAX_LANES];
    api_ode_rate(p, time, p->y, p->slope[0]);
    api_ode_limits_compare(p, time, p->y + nq * W);
    turn_quaternions(p);
    for (size_t l = 0; l < p->rows; l++) {
        size_t state   = p->row[l] * e->samples + n;
        figures[l]     = time;
        figures[W + l] = (double)p->steps;
        scatter(p, p->q, nq, l, state, s->q);
        if (p->closed) scatter(p, p->passive, e->model->loops->n_passive_q, l, state, e->passive);
        scatter(p, p->y + nq * W, nv, l, state, s->qd);
        scatter(p, p->slope[0] + nq * W, nv, l, state, s->qdd);
        scatter(p, p->tau, nv, l, state, s->tau);
        scatter(p, figures, 1, l, state, s->time);
        scatter(p, figures + W, 1, l, state, s->steps);
        for (size_t i = 0; i < API_WORKS; i++)
            scatter(p, p->y + (p->entries - API_WORKS + i) * W, 1, l, state, s->work[i]);
        for (size_t i = 0; i < 2; i++)
            scatter(p, p->error[i], nv, l, state, s->error[i]);
        if (s->held) scatter(p, api_ode_contact_wrenches(p->contact), 6 * s->contact->n, l, state, s->held);
    }
}

/* --- simulations ------------------------------------------------------------------------------------------------ */

static bool go(api_ode *p, api_adaptive *adaptive, size_t cut, api_problem *problem)
{
    double from = p->s->cuts[cut], to = p->s->cuts[cut + 1];
    return adaptive ? api_integrate_adaptive(adaptive, from, to, p->s->kink[cut], problem)
                    : api_integrate_fixed(p, from, to, problem);
}

static bool integrate(api_ode *p, api_adaptive *adaptive, api_problem *problem)
{
    const api_simulation *s = p->s;
    for (size_t cut = 0, n = 0; cut < s->n_cuts; cut++) {
        if (cut > 0 && !go(p, adaptive, cut - 1, problem)) return false;
        if (cut + 1 < s->n_cuts) p->inside = 0.5 * (s->cuts[cut] + s->cuts[cut + 1]);
        for (; n < s->sampling.n && api_sample_time(&s->sampling, n, s->duration) <= s->cuts[cut]; n++)
            put_sample(p, n, s->cuts[cut]);
    }
    return api_ode_check_all(p, problem);
}

/* With the integrator that the request asks for. */
static bool integrate_all(api_ode *p, api_problem *problem)
{
    if (p->s->tolerance == 0) return integrate(p, NULL, problem);
    api_adaptive *adaptive = api_adaptive_open(p, problem);
    if (!adaptive) return false;
    bool done = integrate(p, adaptive, problem);
    api_adaptive_close(adaptive);
    return done;
}

/* Puts all samples of a failed simulation at rest at home. They are evaluated, but not shown. */
static void clear(api_ode *p, size_t l)
{
    const api_evaluation *e  = p->e;
    const api_simulation *s  = p->s;
    size_t                nq = e->model->nq, nv = e->model->nv, W = p->W;
    memset(p->at, 0, p->entries * W * sizeof *p->at);
    for (size_t i = 0; i < nq; i++)
        p->q[i * W + l] = api_failed_rows_home(e)[i];
    for (size_t i = 0; p->closed && i < e->model->loops->n_passive_q; i++)
        p->passive[i * W + l] = api_failed_rows_guess(e)[i];
    for (size_t n = 0; n < e->samples; n++) {
        size_t state = p->row[l] * e->samples + n;
        scatter(p, p->q, nq, l, state, s->q);
        if (p->closed) scatter(p, p->passive, e->model->loops->n_passive_q, l, state, e->passive);
        scatter(p, p->at, nv, l, state, s->qd);
    }
}

/* Whether the problem is one of a single simulation. A deadline or a lack of memory fails the request instead. */
static bool is_of_a_row(const api_problem *found, api_problem *problem)
{
    bool of_a_row = api_problem_kind_of(found->code)->status == 422;
    if (!of_a_row) *problem = *found;
    return of_a_row;
}

/* Records the simulations of the plant that failed, where rows fail alone. If they are not `done`, `found` says why the
 * integration ended early. False with a problem of the request. */
static bool settle(api_ode *p, bool done, const api_problem *found, api_problem *problem)
{
    if (!done && !is_of_a_row(found, problem)) return false;
    for (size_t l = 0; l < p->rows; l++) {
        api_problem own    = *found;
        bool        failed = api_failed_rows_has(p->e, p->row[l] * p->e->samples); /* before it was simulated */
        if (failed) clear(p, l);
        if (failed) continue;
        if (done || p->rows > 1) api_problem_clear(&own);
        if (own.code == API_NO_PROBLEM && api_ode_check_lane(p, l, &own)) continue;
        if (!is_of_a_row(&own, problem)) return false;
        clear(p, l);
        if (!api_failed_rows_add(p->e, -1, p->row[l] * p->e->samples, &own)) return false;
    }
    return true;
}

static bool simulate(void *arg, size_t seat, size_t part, api_problem *problem)
{
    const run  *r = arg;
    api_ode    *p = &r->plants[seat];
    api_problem found;
    api_problem_clear(&found);
    api_problem *told  = r->e->failed_rows ? &found : problem;
    size_t       width = side_by_side(r->e, r->s), first = part * width, left = r->e->rows - first;
    api_ode_start(p, first, left < width ? left : width);
    if (p->stick) api_stiction_events_start(p);
    bool begins = api_ode_may_continue(p), done = begins ? integrate_all(p, told) : api_ode_check_all(p, told);
    api_ode_limits_store(p);
    return r->e->failed_rows ? settle(p, done, &found, problem) : done;
}

bool api_simulation_run(api_evaluation *e, const api_simulation *s)
{
    size_t width = side_by_side(e, s), parts = (e->rows + width - 1) / width, seats = api_parallel_slots(e, parts);
    run    r = {.e = e, .s = s, .plants = api_take(e->pool, seats * sizeof *r.plants)};
    if (!r.plants) return false;
    for (size_t i = 0; i < seats; i++)
        if (!api_ode_open(e, s, &r.plants[i]) ||
            (s->tolerance > 0 && !api_pool_claim(e->pool, api_adaptive_bytes(&r.plants[i]))))
            return false;
    return api_run_parallel(e, seats, parts, simulate, &r);
}
