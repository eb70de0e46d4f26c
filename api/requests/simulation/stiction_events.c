/* stiction_events.c - handles events of joints that stick or slide (stiction_events.h). */
#include "stiction_events.h"
#include "ode_contact.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include <math.h>
#include <string.h>

/* A joint whose friction has reached a limit starts to slide if it needs more than this part of the limit. */
#define REACHED (1 - 1e-6)

/* A joint is immobile if held frames reduce its acceleration under a force below this share of the free one. */
#define IMMOBILE 1e-12

/* Margin at the limit, as a part of the limits: more than the rounding error with which joints are decided to stick. */
#define SLACK 4e-12

/* rad/s or m/s: a joint that follows starts to slide at this rate, and has rounding errors below it. */
#define STARTS 1e-9

/* Updates stiction->needed, the friction that sticking joints need. */
static void update_needed(api_ode *ode, double t, const double *y)
{
    api_ode_rate(ode, t, y, ode->stage_rate[0]);
}

/* --- the problem of the joints that stick ------------------------------------------------------------------------- */

/* Finds accelerations under efforts T, without held frames. */
static void accelerate(api_ode *ode, const double *qd, const double *T)
{
    api_ode_stiction    *s  = ode->stiction;
    dyn_forward_dynamics io = {.q          = ode->q,
                               .qd         = qd,
                               .tau        = T,
                               .wrenches   = ode->wrenches,
                               .driven     = ode->s->prescribed.mask,
                               .driven_qdd = api_ode_prescribed_accelerations(ode),
                               .qdd        = s->qdd,
                               .singular   = s->singular};
    ode->kernels->forward_dynamics(api_ode_friction_scene(ode), ode->workspace, &io, 1);
}

/* Finds accelerations and, without held frames, the mass matrix at the last evaluation, with joints that stick free of
 * friction. */
static void prepare(api_ode *ode, const double *qd)
{
    dyn_mass_matrix M = {.q = ode->q, .mass_matrix = ode->stiction->mass};
    api_ode_friction_transmit_resting(ode, qd, ode->stiction->efforts);
    accelerate(ode, qd, ode->stiction->efforts);
    if (!ode->contact) ode->kernels->mass_matrix(api_ode_friction_scene(ode), ode->workspace, &M, 1);
}

/* Lists the joints of a lane that are at rest, or those that slide, with their limits. */
static api_friction_rows gather(const api_ode *ode, const api_friction_state *state, bool at_rest)
{
    const api_ode_stiction *s = ode->stiction;
    api_friction_rows       r = api_friction_rows_lay_out(ode->e->model->nv, ode->e->model->nv, s->rows);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        if ((j->side[state->lane] == 0) != at_rest) continue;
        const api_stiction_joint at = api_ode_stiction_limits(ode, j, state->lane);
        const double             of = s->breaks[k] ? REACHED : 1;
        r.positive[r.n]             = of * at.positive;
        r.negative[r.n]             = of * at.negative;
        s->index[r.n]               = k;
        api_friction_row_fill(state, &j->at_rest, r.W + r.n * r.nv);
        r.n++;
    }
    return r;
}

static api_friction_state state_of(const api_ode *ode, size_t lane)
{
    return (api_friction_state){.model = ode->e->model, .W = ode->W, .lane = lane, .fused = ode->kernels->fused};
}

/* Solves the friction problem of the joints of a lane at rest, after `prepare`. Returns false if it is not solved. */
static bool solve(api_ode *ode, size_t lane, api_friction_rows *r)
{
    const api_friction_state state    = state_of(ode, lane);
    const api_deadline      *deadline = ode->e->query->input->deadline;
    api_contact_block       *held     = ode->contact ? api_ode_contact_block(ode) : NULL;
    api_problem              late;
    *r = gather(ode, &state, true);
    if (r->n == 0) return true;
    api_problem_clear(&late);
    if (held ? !api_contact_solve(held, lane) || !api_friction_rows_set_held(r, &state, held, ode->stiction->qdd)
             : !api_friction_rows_set(r, &state, ode->stiction->mass, ode->s->prescribed.mask, ode->stiction->qdd))
        return false;
    return api_friction_rows_solve(r, deadline, &late) == API_FRICTION_FOUND;
}

/* Evaluates the rate at ode->y. While it is not decided which joints stick, held frames may contradict them: that is no
 * fault. */
static void evaluate(api_ode *ode, double t)
{
    api_fault before[DYN_MAX_LANES];
    memcpy(before, ode->fault, sizeof before);
    update_needed(ode, t, ode->y);
    memcpy(ode->fault, before, sizeof before);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

/* The number of lanes with different simulations. */
static size_t simulations(const api_ode *ode)
{
    return ode->s->integrator->lanes == API_LANES_ROWS ? ode->rows : 1;
}

/* Sets the side of a joint in a lane, and in the lanes that repeat its simulation. */
static void set_side(api_ode *ode, api_friction_joint *j, size_t lane, int side)
{
    const size_t last = simulations(ode) - 1;
    api_ode_stiction_set_side(ode, j, lane, side);
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        api_ode_stiction_set_side(ode, j, l, side);
}

/* Stops a joint in a lane, and in the lanes that repeat its simulation. */
static void stop(api_ode *ode, api_friction_joint *j, size_t lane)
{
    double      *rate = ode->y + (ode->e->model->nq + j->v) * ode->W;
    const size_t last = simulations(ode) - 1;
    set_side(ode, j, lane, 0);
    rate[lane] = 0;
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        rate[l] = 0;
}

/* Lets a joint of a lane follow, and in the lanes that repeat its simulation. */
static void follow(api_ode *ode, api_friction_joint *j, size_t lane, double friction)
{
    const size_t last = simulations(ode) - 1;
    api_ode_stiction_follow(ode, j, lane, friction);
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        api_ode_stiction_follow(ode, j, l, friction);
}

/* Gives a joint of a lane the state that row i of the solution has. */
static void put(api_ode *ode, api_friction_joint *j, size_t lane, const api_friction_rows *r, size_t i)
{
    if (r->side[i] != 0)
        set_side(ode, j, lane, r->side[i]);
    else if (r->follows[i])
        follow(ode, j, lane, r->f[i]);
    else
        stop(ode, j, lane);
}

/* Some of the simulations: from lane `first` on, before lane `end`. */
typedef struct range {
    size_t first, end;
} range;

static range all_of(const api_ode *ode)
{
    return (range){0, simulations(ode)};
}

static void record_undecided(api_ode *ode, double t, size_t lane)
{
    api_fault *f = &ode->fault[lane];
    *f           = (api_fault){.kind = API_FAULT_PROBLEM, .time = t};
    api_problem_clear(&f->problem);
    api_fail(&f->problem, API_SINGULAR_MASS_MATRIX, NULL,
             "which joints stick cannot be decided: the mass matrix is singular up to rounding");
}

/* Decides which of the joints with side 0 stick; the others start to slide. */
static void decide(api_ode *ode, double t, range of)
{
    if (!api_ode_stiction_any_rests(ode)) return;
    evaluate(ode, t);
    prepare(ode, ode->y + ode->e->model->nq * ode->W);
    for (size_t l = of.first; l < of.end; l++) {
        api_friction_rows r;
        if (ode->fault[l].kind != API_FAULT_NONE) continue;
        if (!solve(ode, l, &r)) {
            record_undecided(ode, t, l);
            continue;
        }
        for (size_t i = 0; i < r.n; i++)
            put(ode, &ode->stiction->joint[ode->stiction->index[i]], l, &r, i);
    }
}

static double rate_of(const api_ode *ode, const double *y, const api_friction_joint *j, size_t lane)
{
    return y[(ode->e->model->nq + j->v) * ode->W + lane];
}

/* Stops the joints whose q' has the sign against their side. Returns true if there are any. */
static bool stop_turning(api_ode *ode, range of)
{
    bool any = false;
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = of.first; l < of.end; l++) {
            api_friction_joint *j = &ode->stiction->joint[k];
            if (!(rate_of(ode, ode->y, j, l) * j->side[l] < 0)) continue;
            stop(ode, j, l);
            any = true;
        }
    return any;
}

/* Stops the joints of a lane that held frames and joints that stick leave no motion: their q' is a rounding error. */
static bool stop_immobile(api_ode *ode, size_t lane)
{
    const api_friction_state state = state_of(ode, lane);
    api_contact_block       *held  = api_ode_contact_block(ode);
    api_friction_rows        r     = gather(ode, &state, false);
    bool                     any   = false;
    held->driven                   = api_ode_driven(ode, lane);
    if (!api_contact_solve(held, lane) || !api_friction_rows_set_held(&r, &state, held, ode->stiction->qdd))
        return false;
    for (size_t i = 0; i < r.n; i++) {
        if (r.A[i * r.n + i] > IMMOBILE * r.free_diagonal[i]) continue;
        stop(ode, &ode->stiction->joint[ode->stiction->index[i]], lane);
        any = true;
    }
    return any;
}

/* Stops further joints after some have stopped, until none moves against its side. */
static void settle(api_ode *ode, double t, range of)
{
    for (bool stopped = true; stopped && ode->contact;) {
        api_ode_finish_step(ode, t, ode->y, ode->W, ode->W);
        stopped = stop_turning(ode, of);
        evaluate(ode, t);
        for (size_t l = of.first; l < of.end; l++)
            if (stop_immobile(ode, l)) stopped = true;
    }
}

void api_stiction_events_restart(api_ode *ode, double t)
{
    api_ode_stiction *s = ode->stiction;
    memset(s->breaks, 0, s->n * sizeof *s->breaks);
    for (size_t k = 0; k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (rate_of(ode, ode->y, &s->joint[k], l) == 0) api_ode_stiction_set_side(ode, &s->joint[k], l, 0);
    decide(ode, t, all_of(ode));
}

void api_stiction_events_start(api_ode *ode)
{
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < ode->W; l++) {
            const double rate = rate_of(ode, ode->y, &ode->stiction->joint[k], l);
            api_ode_stiction_set_side(ode, &ode->stiction->joint[k], l, rate > 0 ? 1 : rate < 0 ? -1 : 0);
        }
    api_stiction_events_restart(ode, 0);
}

void api_stiction_events_share_load(api_ode *ode)
{
    const double     *qd = ode->y + ode->e->model->nq * ode->W;
    api_ode_stiction *s  = ode->stiction;
    if (!ode->contact || !api_ode_stiction_any_rests(ode)) return;
    memset(s->breaks, 0, s->n * sizeof *s->breaks);
    prepare(ode, qd);
    for (size_t l = 0; l < ode->W; l++) {
        api_friction_rows r;
        if (!solve(ode, l, &r)) continue;
        for (size_t i = 0; i < r.n; i++)
            s->needed[s->joint[s->index[i]].v * ode->W + l] = r.f[i];
    }
    api_ode_friction_transmit_resting(ode, qd, s->efforts);
    for (size_t k = 0; k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (s->joint[k].side[l] == 0)
                s->efforts[s->joint[k].v * ode->W + l] -= s->needed[s->joint[k].v * ode->W + l];
    accelerate(ode, qd, s->efforts);
    api_ode_contact_set_wrenches(ode, s->qdd);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Returns the distance of the needed friction from the nearer limit, as a part of the limits; negative beyond it. */
static double margin(const api_ode *ode, const api_friction_joint *j)
{
    const api_stiction_joint at   = api_ode_stiction_limits(ode, j, 0);
    const double             need = ode->stiction->needed[j->v * ode->W], span = at.positive + at.negative;
    return span > 0 ? fmin(at.positive - need, at.negative + need) / span + SLACK : SLACK;
}

void api_stiction_events_margins(api_ode *ode, double t, const double *y, double *margins)
{
    const api_ode_stiction *s = ode->stiction;
    if (api_ode_stiction_any_rests(ode)) update_needed(ode, t, y);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j    = &s->joint[k];
        const double              rate = rate_of(ode, y, j, 0);
        margins[k] = j->side[0] != 0 ? rate : j->follows[0] ? 1 - fabs(rate) / STARTS : margin(ode, j);
    }
}

/* Lets joints that follow slide in the direction in which they have started to move. */
static void start_following(api_ode *ode, range of)
{
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = of.first; l < of.end; l++) {
            api_friction_joint *j    = &ode->stiction->joint[k];
            const double        rate = rate_of(ode, ode->y, j, l);
            if (j->side[l] == 0 && j->follows[l] && fabs(rate) >= 0.5 * STARTS) set_side(ode, j, l, rate > 0 ? 1 : -1);
        }
}

/* Changes joints at which an event occurred: a sliding joint comes to rest; a joint that sticks slides if it needs
 * nearly the friction of its limit, since rounding may leave it below; a joint that follows slides. */
void api_stiction_events_switch(api_ode *ode, double t)
{
    api_ode_stiction *s       = ode->stiction;
    bool              stopped = false;
    for (size_t k = 0; k < s->n; k++) {
        s->breaks[k] = s->roots[k] != 0 && api_ode_stiction_sticks(&s->joint[k], 0);
        if (s->roots[k] == 0 || s->joint[k].side[0] == 0) continue;
        stop(ode, &s->joint[k], 0);
        stopped = true;
    }
    start_following(ode, all_of(ode));
    if (stopped) settle(ode, t, all_of(ode));
    decide(ode, t, all_of(ode));
}

void api_stiction_events_stop(api_ode *ode, double t, size_t lane, bool stay)
{
    const range of = {lane, lane + 1};
    memset(ode->stiction->breaks, 0, ode->stiction->n * sizeof *ode->stiction->breaks);
    if (stop_turning(ode, of)) settle(ode, t, of);
    if (!stay) decide(ode, t, of);
}

void api_stiction_events_end_step(api_ode *ode, double t)
{
    memset(ode->stiction->breaks, 0, ode->stiction->n * sizeof *ode->stiction->breaks);
    start_following(ode, all_of(ode));
    decide(ode, t, all_of(ode));
}
