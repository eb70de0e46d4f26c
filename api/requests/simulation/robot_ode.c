/* robot_ode.c - evaluates the right-hand side of the simulation's differential equations (robot_ode.h). */
#include "robot_ode.h"
#include "api/robots/model/model_loops.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/model/coordinates.h"
#include "ode_contact.h"
#include "ode_faults.h"
#include "ode_friction.h"
#include "ode_input.h"
#include "ode_integration.h"
#include "ode_limits.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include <math.h>
#include <string.h>

#define LARGEST 1e100 /* m, rad, J and their rates: larger values would overflow when squared */

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Replaces the kernels of the tree by those of the model with loops. */
static bool open_loops(api_evaluation *e, api_ode *ode, bool *room)
{
    ode->loops =
        api_loop_workspace_open(e->query->pool, e->model, ode->kernels, api_row_share_for_dynamics(&ode->share),
                                e->query->scene.n_wrenches + (ode->s->contact ? ode->s->contact->n : 0), 0);
    if (!ode->loops) return false;
    ode->loop_kernels   = dyn_loop_kernels(ode->kernels);
    ode->kernels        = &ode->loop_kernels;
    ode->workspace      = ode->loops;
    ode->closed_passive = api_take_zeroed(e->query->pool, e->model->loops->n_passive_q * ode->W, room);
    ode->step_q         = api_take_zeroed(e->query->pool, e->model->nq * ode->W, room);
    ode->closed_q       = api_take_zeroed(e->query->pool, e->model->nq * ode->W, room);
    return true;
}

/* Returns the kernels of one lane, unless several lanes hold different states. */
static const dyn_kernels *choose_kernels(const api_evaluation *e, const api_simulation *s)
{
    const dyn_lane_use lanes = s->integrator->lanes;
    bool               alone = lanes == DYN_LANES_ONE || (lanes == DYN_LANES_ROWS && e->query->rows == 1);
    return alone ? e->query->call->api->alone : e->query->call->api->kernels;
}

bool api_ode_open(api_evaluation *e, const api_simulation *s, api_ode *ode)
{
    size_t nq = e->model->nq, nv = e->model->nv;
    bool   room  = true;
    *ode         = (api_ode){.e = e, .s = s, .controller_scene = e->query->scene, .wrench_scene = e->query->scene};
    ode->share   = api_row_share_none(e->plan);
    ode->kernels = choose_kernels(e, s);
    ode->W       = (size_t)ode->kernels->lanes;
    ode->controller_scene.model      = e->model->dyn;
    ode->controller_scene.n_wrenches = 0;
    ode->wrench_scene.terms          = 0;
    memset(ode->wrench_scene.gravity, 0, sizeof ode->wrench_scene.gravity);
    if (!api_ode_stiction_open(e, ode) || !api_ode_friction_open(e, ode)) return false;
    if (e->model->loops && !open_loops(e, ode, &room)) return false;
    if (!e->model->loops)
        ode->workspace = api_take(e->query->pool, ode->kernels->workspace_size(e->query->scene.model));
    if (e->query->scene.n_wrenches > 0)
        ode->wrenches = api_take_zeroed(e->query->pool, 9 * e->query->scene.n_wrenches * ode->W, &room);
    ode->q        = api_take_zeroed(e->query->pool, nq * ode->W, &room);
    ode->tau      = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    ode->effort   = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    ode->singular = api_take_zeroed(e->query->pool, ode->W, &room);
    if (s->contact) ode->contact = api_ode_contact_open(e, ode, s->contact);
    return room && api_ode_limits_open(e, ode) && api_ode_integration_open(e, ode) && api_ode_input_open(e, ode) &&
           api_ode_prescribed_open(e, ode) && ode->workspace && (ode->contact || !s->contact);
}

size_t api_ode_distinct_lanes(const api_ode *ode)
{
    if (ode->state.alone > 0) return ode->state.alone;
    return ode->s->integrator->lanes == DYN_LANES_STATES ? ode->W : ode->state.rows;
}

size_t api_ode_first_lane(const api_ode *ode)
{
    return ode->state.alone > 0 ? ode->state.alone - 1 : 0;
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

void api_ode_normalize(const api_ode *ode, double *y, size_t stride, size_t lanes)
{
    const dyn_model *m = ode->e->model->dyn;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(ode->e->model, &m->body[i]), at = dyn_quaternion_offset(&m->body[i]);
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

static void positions_rate(const api_ode *ode, const double *qd, double *rate)
{
    const dyn_model *m = ode->e->model->dyn;
    size_t           W = ode->W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = api_first_position(ode->e->model, &m->body[i]);
        if (place < 0) continue;
        size_t q = (size_t)place * W, v = (size_t)api_first_velocity(ode->e->model, &m->body[i]) * W;
        dyn_coordinates_rate(&m->body[i], ode->q + q, qd + v, W, rate + q);
    }
}

/* Evaluates the wrench signals at time t. */
static void set_wrenches(api_ode *ode, double t)
{
    api_wrench_signals_at(&ode->s->wrenches, ode->W, ode->row, (dyn_moment){t, ode->interval_time}, ode->wrenches);
}

/* --- loops ------------------------------------------------------------------------------------------------------ */

/* Closes the loops of all lanes at q. Records a fault at time t where that fails, and returns false. */
static bool close_loops(api_ode *ode, double t, const double *q, const dyn_approach *from)
{
    bool closed = dyn_loop_close(ode->loops, &ode->e->query->scene, q, from, api_ode_distinct_lanes(ode));
    for (size_t l = 0; !closed && l < ode->W; l++) {
        dyn_fault *f = &ode->state.fault[l];
        if (dyn_loop_status_of(ode->loops, l) == DYN_LOOPS_CLOSED || f->kind != DYN_FAULT_NONE) continue;
        dyn_fault_record(f, DYN_FAULT_LOOPS, t, 0);
        f->loops = dyn_loop_failure_of(ode->loops, l);
    }
    return closed;
}

/* Stores the closed positions at actuated coordinates q: the next path to closed loops starts there. */
static void store_closed(api_ode *ode, const double *q)
{
    const dyn_loops *loops = ode->e->model->loops;
    const double    *tree  = dyn_loop_tree_q(ode->loops);
    size_t           W     = ode->W;
    for (size_t l = 0; l < W; l++) {
        if (dyn_loop_status_of(ode->loops, l) != DYN_LOOPS_CLOSED) continue;
        for (size_t i = 0; i < loops->n_passive_q; i++)
            ode->closed_passive[i * W + l] = tree[(size_t)loops->passive_q[i] * W + l];
        for (size_t i = 0; i < ode->e->model->nq; i++)
            ode->closed_q[i * W + l] = q[i * W + l];
    }
}

/* --- start -------------------------------------------------------------------------------------------------------- */

/* Copies the entries of one state of the request to lane l of the ODE. */
static void gather(const api_ode *ode, double *lanes, size_t entries, size_t state, size_t l, double *to)
{
    const double *from = api_state_lane(ode->e, lanes, entries, state);
    for (size_t i = 0; i < entries; i++)
        to[i * ode->W + l] = from[i * ode->e->lanes];
}

/* Closes the loops of the initial states, along the path from the model's reference or from the request's guess. */
static void start_loops(api_ode *ode)
{
    dyn_approach from = {.guess = ode->e->plan->guess ? ode->closed_passive : NULL};
    close_loops(ode, 0, ode->state.y, &from);
    store_closed(ode, ode->state.y);
}

void api_ode_start(api_ode *ode, size_t first, size_t rows)
{
    const api_evaluation *e = ode->e;
    size_t                W = ode->W, nq = e->model->nq, nv = e->model->nv;
    ode->state.rows    = rows;
    ode->state.steps   = 0;
    ode->interval_time = ode->s->n_boundaries > 1 ? 0.5 * (ode->s->boundaries[0] + ode->s->boundaries[1]) : 0;
    memset(ode->state.fault, 0, sizeof ode->state.fault);
    for (size_t i = 0; ode->violation && i < ode->s->limits.list.n * W; i++)
        ode->violation[i] = (api_limit_violation){.excess = -HUGE_VAL};
    memset(ode->state.y, 0, ode->state.entries * W * sizeof *ode->state.y);
    for (size_t l = 0; l < W; l++) {
        size_t row = ode->row[l] = first + (l < rows ? l : rows - 1), state = row * e->query->samples;
        gather(ode, e->plan->state[API_Q], nq, state, l, ode->state.y);
        gather(ode, e->plan->state[API_QD], nv, state, l, ode->state.y + nq * W);
        if (ode->wrenches) gather(ode, e->plan->wrenches, 9 * e->query->scene.n_wrenches, state, l, ode->wrenches);
        if (ode->loops && e->plan->guess)
            gather(ode, e->plan->guess, e->model->loops->n_passive_q, state, l, ode->closed_passive);
    }
    api_ode_prescribed_set(ode, 0, ode->state.y, W, W);
    if (ode->loops) start_loops(ode);
    if (ode->contact) api_ode_contact_start(ode);
    api_ode_finish_step(ode, 0, ode->state.y, W, W);
    set_wrenches(ode, 0);
    api_ode_input_start(ode);
}

/* --- work ------------------------------------------------------------------------------------------------------- */

/* Computes a power, to = sign sum_i effort_i q'_i, in all lanes. */
static void power(const api_ode *ode, const double *effort, const double *qd, double sign, double *to)
{
    size_t W = ode->W;
    for (size_t l = 0; l < W; l++) {
        double sum = 0;
        for (size_t i = 0; i < ode->e->model->nv; i++)
            sum += effort[i * W + l] * qd[i * W + l];
        to[l] = sign * sum;
    }
}

/* Subtracts the power of dampers: sum damping s'^2, with s' = ratio q' of joints and s' = q' - theta' of elastic
 * joints. */
static void subtract_damping(const api_ode *ode, const double *qd, double *to)
{
    const dyn_model *m = ode->e->query->scene.model;
    size_t           W = ode->W;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t l = 0; m->body[i].joint.has_spring && l < W; l++) {
            double sd = m->body[i].joint.ratio * qd[(size_t)m->body[i].joint.v * W + l];
            to[l] -= m->body[i].joint.spring.damping * sd * sd;
        }
    for (size_t i = 0; i < m->n_couplings; i++)
        for (size_t l = 0; l < W; l++) {
            const dyn_coupling *c  = &m->coupling[i];
            double              sd = qd[(size_t)c->v * W + l] - qd[(size_t)c->v_theta * W + l];
            to[l] -= c->spring.damping * sd * sd;
        }
}

/* Finds the powers of actuators, friction and wrenches. The efforts of wrenches are -tau of inverse dynamics at rest
 * without gravity, friction and springs. */
static void find_powers(api_ode *ode, const double *qd, double *to)
{
    size_t W = ode->W;
    memset(to, 0, API_WORKS * W * sizeof *to);
    if (ode->s->works & API_BIT(API_WORK_ACTUATORS)) power(ode, ode->tau, qd, 1, to);
    if (ode->s->works & API_BIT(API_WORK_FRICTION)) {
        api_ode_friction_find(ode, qd, ode->effort);
        power(ode, ode->effort, qd, -1, to + API_WORK_FRICTION * W);
        subtract_damping(ode, ode->loops ? dyn_loop_tree_qd(ode->loops) : qd, to + API_WORK_FRICTION * W);
    }
    if (ode->s->works & API_BIT(API_WORK_WRENCHES) && ode->wrenches) {
        dyn_inverse_dynamics io = {.q = ode->q, .wrenches = ode->wrenches, .tau = ode->effort};
        ode->kernels->inverse_dynamics(&ode->wrench_scene, ode->workspace, &io, 1);
        power(ode, ode->effort, qd, -1, to + API_WORK_WRENCHES * W);
    }
}

/* --- right-hand side ---------------------------------------------------------------------------------------------- */

/* Closes the loops along the path from the closed position of the last step. */
bool api_ode_close_loops(api_ode *ode, double t, const double *q)
{
    dyn_approach from = {.q = ode->closed_q, .passive = ode->closed_passive};
    return !ode->loops || close_loops(ode, t, q, &from);
}

void api_ode_finish_step(api_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    size_t W = ode->W;
    api_ode_prescribed_set(ode, t, y, stride, lanes);
    if (ode->contact) api_ode_contact_finish_step(ode, t, y, stride, lanes);
    if (!ode->loops) return;
    for (size_t i = 0; i < ode->e->model->nq; i++)
        for (size_t l = 0; l < W; l++)
            ode->step_q[i * W + l] = y[i * stride + (l < lanes ? l : lanes - 1)];
    api_ode_faults_freeze(ode, ode->step_q);
    api_ode_close_loops(ode, t, ode->step_q);
    store_closed(ode, ode->step_q);
}

/* True if the positions and velocities of lane l are in the range of computation. Otherwise records a fault. */
static bool is_in_range(api_ode *ode, const double *y, double t, size_t l)
{
    size_t           W      = ode->W;
    const dyn_bound *beyond = api_find_angle_beyond_limit(ode->e->model, y + l, W);
    if (beyond && isfinite(y[beyond->entry * W + l]))
        dyn_fault_record(&ode->state.fault[l], DYN_FAULT_ANGLE, t, beyond->entry);
    for (size_t i = 0; i < ode->state.entries; i++)
        if (!(fabs(y[i * W + l]) < LARGEST)) dyn_fault_record(&ode->state.fault[l], DYN_FAULT_INFINITE, t, i);
    return ode->state.fault[l].kind == DYN_FAULT_NONE;
}

/* Records a fault where forward dynamics found a singular mass matrix. Pivots of a state out of range are NaN and mean
 * nothing. */
static void note_singular(api_ode *ode, const double *y, double t)
{
    for (size_t l = 0; l < ode->W; l++)
        if (ode->singular[l] >= 0 && is_in_range(ode, y, t, l))
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_SINGULAR, t, (size_t)ode->singular[l]);
}

/* Sets the rates of lanes whose loops do not close to NaN, which makes the integrator try shorter steps. */
static void invalidate(const api_ode *ode, double *rate)
{
    for (size_t l = 0; l < ode->W; l++)
        for (size_t i = 0; i < ode->state.entries && dyn_loop_status_of(ode->loops, l) != DYN_LOOPS_CLOSED; i++)
            rate[i * ode->W + l] = NAN;
}

/* Finds the accelerations without held frames. */
static void accelerate(api_ode *ode, dyn_forward_dynamics *io)
{
    io->driven_qdd = api_ode_prescribed_accelerations(ode);
    io->driven     = ode->s->prescribed.mask;
    if (ode->stiction)
        api_ode_stiction_accelerate(ode, io);
    else
        ode->kernels->forward_dynamics(api_ode_friction_scene(ode), ode->workspace, io, 1);
}

void api_ode_rate(api_ode *ode, double t, const double *y, double *rate)
{
    const api_evaluation *e = ode->e;
    size_t                W = ode->W, nq = e->model->nq;
    y                = api_ode_prescribed_state(ode, t, y);
    const double *qd = y + nq * W;
    memcpy(ode->q, y, nq * W * sizeof *ode->q);
    api_ode_normalize(ode, ode->q, W, W);
    api_ode_faults_check_velocities(ode, t, qd);
    for (size_t l = 0; ode->loops && l < W; l++)
        is_in_range(ode, y, t, l);
    api_ode_faults_freeze(ode, ode->q);
    bool closed = api_ode_close_loops(ode, t, ode->q);
    set_wrenches(ode, t);
    api_ode_input_apply(ode, t, qd, rate + nq * W);
    if (ode->s->input.controller) note_singular(ode, y, t);
    dyn_forward_dynamics io = {.q        = ode->q,
                               .qd       = qd,
                               .tau      = api_ode_friction_transmit(ode, qd),
                               .wrenches = ode->wrenches,
                               .qdd      = rate + nq * W,
                               .singular = ode->singular};
    accelerate(ode, &io);
    note_singular(ode, y, t);
    api_ode_faults_check_passive(ode, t);
    if (ode->contact) api_ode_contact_rate(ode, t, qd, rate + nq * W);
    if (ode->stiction)
        api_ode_stiction_load(ode, qd, rate + nq * W,
                              rate + (ode->state.entries - API_WORKS - api_ode_stiction_count(ode)) * W);
    api_ode_prescribed_efforts(ode, qd, rate + nq * W);
    api_ode_faults_check_accelerations(ode, t, rate + nq * W);
    positions_rate(ode, qd, rate);
    find_powers(ode, qd, rate + (ode->state.entries - API_WORKS) * W);
    if (!closed) invalidate(ode, rate);
}

/* --- faults ----------------------------------------------------------------------------------------------------- */

void api_ode_check_range(api_ode *ode, double t)
{
    for (size_t l = 0; l < ode->W; l++)
        is_in_range(ode, ode->state.y, t, l);
}

bool api_ode_may_continue(const api_ode *ode)
{
    size_t l = 0, most = ode->e->plan->failed_rows ? ode->state.rows : 1;
    while (l < most && (ode->state.fault[l].kind != DYN_FAULT_NONE ||
                        api_failed_rows_has(ode->e->plan->failed_rows, ode->row[l] * ode->e->query->samples)))
        l++;
    return l < most;
}
