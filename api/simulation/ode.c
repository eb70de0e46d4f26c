/* ode.c - see ode.h. */
#include "ode.h"
#include "api/evaluate/failed_rows.h"
#include "api/model/coordinates.h"
#include "ode_bounds.h"
#include "ode_contact.h"
#include "ode_input.h"
#include "ode_limits.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include <math.h>
#include <string.h>

#define FAR 1e100 /* m, rad, J and per s, of which squares overflow soon: nobody's robot */

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* The kernels become those of the model, over the tree's. */
static bool open_loops(api_evaluation *e, api_ode *p, bool *room)
{
    p->closed = api_loop_workspace_open(e->pool, e->model, p->kernels, e->input->deadline, e->scene.n_wrenches, 0);
    if (!p->closed) return false;
    p->table     = api_loop_kernels(p->kernels);
    p->kernels   = &p->table;
    p->workspace = p->closed;
    p->passive   = api_take_zeroed(e->pool, e->model->loops->n_passive_q * p->W, room);
    p->settled   = api_take_zeroed(e->pool, e->model->nq * p->W, room);
    p->origin    = api_take_zeroed(e->pool, e->model->nq * p->W, room);
    return true;
}

bool api_ode_open(api_evaluation *e, const api_simulation *s, api_ode *p)
{
    size_t nq = e->model->nq, nv = e->model->nv;
    bool   room         = true;
    *p                  = (api_ode){.e = e, .s = s, .known = e->scene, .still = e->scene};
    p->kernels          = !s->stiff && (s->tolerance > 0 || e->rows == 1) ? e->call->api->alone : e->call->api->kernels;
    p->W                = (size_t)p->kernels->lanes;
    p->known.model      = e->model->dyn;
    p->known.n_wrenches = 0;
    p->still.terms      = 0;
    memset(p->still.gravity, 0, sizeof p->still.gravity);
    if (!api_ode_stiction_open(e, p)) return false;
    p->entries =
        nq + nv + api_controller_states(s->drive.controller, e->model->dyn) + api_ode_stiction_count(p) + API_WORKS;
    if (e->model->loops && !open_loops(e, p, &room)) return false;
    if (!e->model->loops) p->workspace = api_take(e->pool, p->kernels->workspace_size(e->scene.model));
    if (e->scene.n_wrenches > 0) p->wrenches = api_take_zeroed(e->pool, 9 * e->scene.n_wrenches * p->W, &room);
    p->y        = api_take_zeroed(e->pool, p->entries * p->W, &room);
    p->at       = api_take_zeroed(e->pool, p->entries * p->W, &room);
    p->q        = api_take_zeroed(e->pool, nq * p->W, &room);
    p->tau      = api_take_zeroed(e->pool, nv * p->W, &room);
    p->effort   = api_take_zeroed(e->pool, nv * p->W, &room);
    p->singular = api_take_zeroed(e->pool, p->W, &room);
    for (int i = 0; i < 4; i++)
        p->slope[i] = api_take_zeroed(e->pool, p->entries * p->W, &room);
    if (s->contact) p->contact = api_ode_contact_open(e, p, s->contact);
    return room && api_ode_input_open(e, p) && api_ode_limits_open(e, p) && api_ode_prescribed_open(e, p) &&
           p->workspace && (p->contact || !s->contact);
}

/* --- geometry --------------------------------------------------------------------------------------------------- */

void api_ode_normalize(const api_ode *p, double *y, size_t stride, size_t lanes)
{
    const dyn_model *m = p->e->model->dyn;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(p->e->model, &m->body[i]), at = api_quaternion_offset(&m->body[i]);
        if (place < 0 || at < 0) continue;
        double *r = y + (size_t)(place + at) * stride;
        for (size_t l = 0; l < lanes; l++) {
            double x = r[l], yy = r[stride + l], z = r[2 * stride + l], w = r[3 * stride + l];
            double norm = sqrt(x * x + yy * yy + z * z + w * w);
            for (size_t k = 0; k < 4; k++)
                r[k * stride + l] /= norm;
        }
    }
}

static void positions_rate(const api_ode *p, const double *qd, double *rate)
{
    const dyn_model *m = p->e->model->dyn;
    size_t           W = p->W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(p->e->model, &m->body[i]);
        if (place < 0) continue;
        size_t q = (size_t)place * W, v = (size_t)api_first_velocity(p->e->model, &m->body[i]) * W;
        api_coordinates_rate(&m->body[i], p->q + q, qd + v, W, rate + q);
    }
}

/* Sets the wrenches that change with time. */
static void push(api_ode *p, double t)
{
    api_wrench_signals_at(&p->s->wrenches, p->W, p->row, (api_moment){t, p->inside}, p->wrenches);
}

/* --- loops ------------------------------------------------------------------------------------------------------ */

void api_ode_record_fault(api_ode *p, size_t lane, api_fault_kind kind, double time, size_t where)
{
    if (p->fault[lane].kind == API_FAULT_NONE) p->fault[lane] = (api_fault){.kind = kind, .time = time, .where = where};
}

/* Closes the loops of all lanes at q, and notes at time t where that fails: false. */
static bool close_loops(api_ode *p, double t, const double *q, const api_approach *from)
{
    size_t live   = p->s->stiff ? p->W : p->rows; /* columns of a Jacobian are states of their own */
    bool   closed = api_loop_close(p->closed, &p->e->scene, q, from, live);
    for (size_t l = 0; !closed && l < p->W; l++) {
        if (api_loop_status_of(p->closed, l) == API_LOOPS_CLOSED || p->fault[l].kind != API_FAULT_NONE) continue;
        api_ode_record_fault(p, l, API_FAULT_PROBLEM, t, 0);
        api_problem_clear(&p->fault[l].told);
        api_loop_fail(p->closed, l, NULL, -1, &p->fault[l].told);
    }
    return closed;
}

/* Where the loops were closed last, at actuated coordinates q, in each lane: from there on the next ones are found. */
static void keep_closed(api_ode *p, const double *q)
{
    const api_loops *loops = p->e->model->loops;
    const double    *tree  = api_loop_tree_q(p->closed);
    size_t           W     = p->W;
    for (size_t l = 0; l < W; l++) {
        if (api_loop_status_of(p->closed, l) != API_LOOPS_CLOSED) continue;
        for (size_t i = 0; i < loops->n_passive_q; i++)
            p->passive[i * W + l] = tree[(size_t)loops->passive_q[i] * W + l];
        for (size_t i = 0; i < p->e->model->nq; i++)
            p->origin[i * W + l] = q[i * W + l];
    }
}

/* --- beginning -------------------------------------------------------------------------------------------------- */

/* Entries of a state's lanes into lane l. */
static void gather(const api_ode *p, double *lanes, size_t entries, size_t state, size_t l, double *to)
{
    const double *from = api_state_lane(p->e, lanes, entries, state);
    for (size_t i = 0; i < entries; i++)
        to[i * p->W + l] = from[i * p->e->lanes];
}

/* The first states are rows: reached from the model's reference, or from the request's guess. */
static void start_loops(api_ode *p)
{
    api_approach from = {.guess = p->e->guess ? p->passive : NULL};
    close_loops(p, 0, p->y, &from);
    keep_closed(p, p->y);
}

void api_ode_start(api_ode *p, size_t first, size_t rows)
{
    const api_evaluation *e = p->e;
    size_t                W = p->W, nq = e->model->nq, nv = e->model->nv;
    p->rows   = rows;
    p->steps  = 0;
    p->inside = p->s->n_cuts > 1 ? 0.5 * (p->s->cuts[0] + p->s->cuts[1]) : 0;
    memset(p->fault, 0, sizeof p->fault);
    if (p->exceeded) memset(p->exceeded, 0, p->s->limits.n * W * sizeof *p->exceeded);
    memset(p->y, 0, p->entries * W * sizeof *p->y);
    for (size_t l = 0; l < W; l++) {
        size_t row = p->row[l] = first + (l < rows ? l : rows - 1), state = row * e->samples;
        gather(p, e->state[API_Q], nq, state, l, p->y);
        gather(p, e->state[API_QD], nv, state, l, p->y + nq * W);
        if (p->wrenches) gather(p, e->wrenches, 9 * e->scene.n_wrenches, state, l, p->wrenches);
        if (p->closed && e->guess) gather(p, e->guess, e->model->loops->n_passive_q, state, l, p->passive);
    }
    api_ode_prescribed_set(p, 0, p->y, W, W);
    if (p->closed) start_loops(p);
    if (p->contact) api_ode_contact_start(p);
    api_ode_finish_step(p, 0, p->y, W, W);
    push(p, 0);
    api_ode_input_start(p);
}

/* --- work ------------------------------------------------------------------------------------------------------- */

/* sum_i effort_i q'_i, times sign */
static void power(const api_ode *p, const double *effort, const double *qd, double sign, double *to)
{
    size_t W = p->W;
    for (size_t l = 0; l < W; l++) {
        double sum = 0;
        for (size_t i = 0; i < p->e->model->nv; i++)
            sum += effort[i * W + l] * qd[i * W + l];
        to[l] = sign * sum;
    }
}

/* Joint dampers: sum damping s'^2, s' = ratio q', of elastic joints q' - theta'. */
static void take_damping(const api_ode *p, const double *qd, double *to)
{
    const dyn_model *m = p->e->scene.model;
    size_t           W = p->W;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t l = 0; m->body[i].sprung && l < W; l++) {
            double sd = m->body[i].ratio * qd[(size_t)m->body[i].v * W + l];
            to[l] -= m->body[i].spring.damping * sd * sd;
        }
    for (size_t i = 0; i < m->n_couplings; i++)
        for (size_t l = 0; l < W; l++) {
            const dyn_coupling *c  = &m->coupling[i];
            double              sd = qd[(size_t)c->v * W + l] - qd[(size_t)c->v_theta * W + l];
            to[l] -= c->spring.damping * sd * sd;
        }
}

/* The wrenches' efforts are -tau of a robot at rest that nothing else acts on. */
static void put_powers(api_ode *p, const double *qd, double *to)
{
    size_t W = p->W;
    memset(to, 0, API_WORKS * W * sizeof *to);
    if (p->s->works & API_BIT(API_WORK_ACTUATORS)) power(p, p->tau, qd, 1, to);
    if (p->s->works & API_BIT(API_WORK_FRICTION)) {
        dyn_bias io = {.q = p->q, .qd = qd, .friction = p->effort};
        p->kernels->bias(&p->e->scene, p->workspace, &io, 1);
        if (p->stick) api_ode_stiction_apply_sides(p, qd, p->effort);
        power(p, p->effort, qd, -1, to + API_WORK_FRICTION * W);
        take_damping(p, p->closed ? api_loop_tree_qd(p->closed) : qd, to + API_WORK_FRICTION * W);
    }
    if (p->s->works & API_BIT(API_WORK_WRENCHES) && p->wrenches) {
        dyn_inverse_dynamics io = {.q = p->q, .wrenches = p->wrenches, .tau = p->effort};
        p->kernels->inverse_dynamics(&p->still, p->workspace, &io, 1);
        power(p, p->effort, qd, -1, to + API_WORK_WRENCHES * W);
    }
}

/* --- the rate --------------------------------------------------------------------------------------------------- */

/* From the position of the last step on. */
bool api_ode_close_loops(api_ode *p, double t, const double *q)
{
    api_approach from = {.q = p->origin, .passive = p->passive};
    return !p->closed || close_loops(p, t, q, &from);
}

void api_ode_finish_step(api_ode *p, double t, double *y, size_t stride, size_t lanes)
{
    size_t W = p->W;
    api_ode_prescribed_set(p, t, y, stride, lanes);
    if (p->contact) api_ode_contact_finish_step(p, t, y, stride, lanes);
    if (!p->closed) return;
    for (size_t i = 0; i < p->e->model->nq; i++)
        for (size_t l = 0; l < W; l++)
            p->settled[i * W + l] = y[i * stride + (l < lanes ? l : lanes - 1)];
    api_ode_bounds_freeze(p, p->settled);
    api_ode_close_loops(p, t, p->settled);
    keep_closed(p, p->settled);
}

/* Whether a simulation's positions and velocities are such as can be computed with; else it is noted what is not. */
static bool within(api_ode *p, const double *y, double t, size_t l)
{
    size_t           W      = p->W;
    const dyn_bound *beyond = api_find_angle_beyond_limit(p->e->model, y + l, W);
    if (beyond && isfinite(y[beyond->entry * W + l])) api_ode_record_fault(p, l, API_FAULT_ANGLE, t, beyond->entry);
    for (size_t i = 0; i < p->entries; i++)
        if (!(fabs(y[i * W + l]) < FAR)) api_ode_record_fault(p, l, API_FAULT_INFINITE, t, i);
    return p->fault[l].kind == API_FAULT_NONE;
}

/* Notes where forward dynamics found a singular mass matrix. Pivots of a state that is out of all bounds are no
 * numbers, and no sign of one. */
static void note_singular(api_ode *p, const double *y, double t)
{
    for (size_t l = 0; l < p->W; l++)
        if (p->singular[l] >= 0 && within(p, y, t, l))
            api_ode_record_fault(p, l, API_FAULT_SINGULAR, t, (size_t)p->singular[l]);
}

/* There is no rate where loops do not close: shorter steps may lead past it. */
static void spoil(const api_ode *p, double *rate)
{
    for (size_t l = 0; l < p->W; l++)
        for (size_t i = 0; i < p->entries && api_loop_status_of(p->closed, l) != API_LOOPS_CLOSED; i++)
            rate[i * p->W + l] = NAN;
}

void api_ode_rate(api_ode *p, double t, const double *y, double *rate)
{
    const api_evaluation *e = p->e;
    size_t                W = p->W, nq = e->model->nq;
    y                = api_ode_prescribed_state(p, t, y);
    const double *qd = y + nq * W;
    memcpy(p->q, y, nq * W * sizeof *p->q);
    api_ode_normalize(p, p->q, W, W);
    api_ode_bounds_check_velocities(p, t, qd);
    for (size_t l = 0; p->closed && l < W; l++)
        within(p, y, t, l);
    api_ode_bounds_freeze(p, p->q);
    bool closed = api_ode_close_loops(p, t, p->q);
    push(p, t);
    api_ode_input_apply(p, t, qd, rate + nq * W);
    if (p->s->drive.controller) note_singular(p, y, t);
    dyn_forward_dynamics io = {
        .q = p->q, .qd = qd, .tau = p->tau, .wrenches = p->wrenches, .qdd = rate + nq * W, .singular = p->singular};
    io.driven = p->driven;
    io.given  = api_ode_prescribed_accelerations(p);
    if (p->stick) io.tau = api_ode_stiction_efforts(p, qd);
    p->kernels->forward_dynamics(&e->scene, p->workspace, &io, 1);
    note_singular(p, y, t);
    api_ode_bounds_check_passive(p, t);
    if (p->contact) api_ode_contact_rate(p, t, qd, rate + nq * W);
    if (p->stick)
        api_ode_stiction_load(p, qd, rate + nq * W, rate + (p->entries - API_WORKS - api_ode_stiction_count(p)) * W);
    api_ode_prescribed_efforts(p, qd, rate + nq * W);
    api_ode_bounds_check_accelerations(p, t, rate + nq * W);
    positions_rate(p, qd, rate);
    put_powers(p, qd, rate + (p->entries - API_WORKS) * W);
    if (!closed) spoil(p, rate);
}

/* --- faults ----------------------------------------------------------------------------------------------------- */

void api_ode_check_range(api_ode *p, double t)
{
    for (size_t l = 0; l < p->W; l++)
        within(p, p->y, t, l);
}

bool api_ode_may_continue(const api_ode *p)
{
    size_t l = 0, most = p->e->failed_rows ? p->rows : 1;
    while (l < most && (p->fault[l].kind != API_FAULT_NONE || api_failed_rows_has(p->e, p->row[l] * p->e->samples)))
        l++;
    return l < most;
}

bool api_ode_check_all(const api_ode *p, api_problem *problem)
{
    for (size_t l = 0; l < p->rows; l++)
        if (!api_ode_check_lane(p, l, problem)) return false;
    return true;
}

bool api_ode_check_lane(const api_ode *p, size_t l, api_problem *problem)
{
    const api_model *m = p->e->model;
    if (p->fault[l].kind == API_FAULT_NONE) return true;
    if (!api_deadline_check(p->e->input->deadline, problem)) return false; /* loops may have been left open for that */
    const api_fault *f = &p->fault[l];
    if (f->kind == API_FAULT_PROBLEM)
        api_fail(problem, f->told.code, NULL, "at %.9g s %s", f->time, f->told.detail);
    else if (f->kind == API_FAULT_SINGULAR)
        api_fail(problem, API_SINGULAR_MASS_MATRIX, NULL,
                 "at %.9g s the mass matrix is singular at %.64s: what moves there has no mass or inertia that counts",
                 f->time, api_joint_of(m, (int)f->where));
    else if (f->kind == API_FAULT_ANGLE)
        api_fail(problem, API_ANGLE_TOO_LARGE, NULL,
                 "at %.9g s %.64s is beyond %g rad: the motion is too fast or too long, or its steps are", f->time,
                 m->position_names[f->where], DYN_MAX_ANGLE);
    else
        api_ode_bounds_fail(p, f, problem);
    if (p->e->batched) problem->row = (long long)p->row[l];
    return false;
}
