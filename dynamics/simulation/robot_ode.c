/* robot_ode.c - evaluates the right-hand side of the simulation's differential equations (robot_ode.h). */
#include "robot_ode.h"
#include "dynamics/model/coordinates.h"
#include "ode_held_frames.h"
#include "ode_friction.h"
#include "ode_input.h"
#include "ode_integration.h"
#include "ode_prescribed.h"
#include "ode_stiction.h"
#include "dynamics/rigid_contact/rigid_events.h"
#include "stiction_events.h"
#include <math.h>
#include <string.h>

#define LARGEST 1e100 /* m, rad, J and their rates: squares of larger values could overflow */
/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* Records faults of lanes in which one of n values exceeds `most`. */
static void check_bound(dyn_robot_ode *ode, double t, const double *values, dyn_fault_bound bound)
{
    bound.W = ode->W;
    dyn_fault_check(ode->state.fault, t, values, bound);
}

static void check_velocities(dyn_robot_ode *ode, double t, const double *qd)
{
    check_bound(ode, t, qd, (dyn_fault_bound){DYN_FAULT_VELOCITY, DYN_MAX_RATE, .n = ode->state.nv});
}

/* Checks the velocities of all joints of a robot with loops, passive joints included, at the last kernel call. */
static void check_passive_velocities(dyn_robot_ode *ode, double t)
{
    if (!ode->loops) return;
    check_bound(ode, t, dyn_loop_tree_qd(ode->loops),
                (dyn_fault_bound){DYN_FAULT_PASSIVE_VELOCITY, DYN_MAX_RATE, .n = ode->s->mechanism.loops->nv});
}

static void check_accelerations(dyn_robot_ode *ode, double t, const double *qdd)
{
    check_bound(ode, t, qdd, (dyn_fault_bound){DYN_FAULT_ACCELERATION, DYN_MAX_ACCELERATION, .n = ode->state.nv});
}

/* In lanes with a fault, replaces q of a robot with loops by the last closed position. Continuation along a diverging
 * motion would take a time proportional to the motion's length. */
static void freeze(const dyn_robot_ode *ode, double *q)
{
    for (size_t i = 0; ode->loops && i < ode->state.nq; i++)
        for (size_t l = 0; l < ode->W; l++)
            if (ode->state.fault[l].kind != DYN_FAULT_NONE) q[i * ode->W + l] = ode->closed_q[i * ode->W + l];
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Replaces the kernels of the tree by those of the model with loops. */
static bool open_loops(dyn_memory memory, dyn_robot_ode *ode, bool *room)
{
    ode->loops = dyn_loop_workspace_open(
        memory, &ode->s->mechanism, ode->kernels, ode->state.deadline,
        ode->s->scene->n_wrenches + ode->s->n_rigid + (ode->s->contact ? ode->s->contact->n : 0), 0);
    if (!ode->loops) return false;
    ode->loop_kernels   = dyn_loop_kernels(ode->kernels);
    ode->kernels        = &ode->loop_kernels;
    ode->workspace      = ode->loops;
    ode->closed_passive = dyn_take_zeroed(memory, ode->s->mechanism.loops->n_passive_q * ode->W, room);
    ode->step_q         = dyn_take_zeroed(memory, ode->s->mechanism.nq * ode->W, room);
    ode->closed_q       = dyn_take_zeroed(memory, ode->s->mechanism.nq * ode->W, room);
    return true;
}

/* Returns the bytes of a workspace for the robot and for its controller's model. */
static size_t controlled_workspace_size(const dyn_simulation *s)
{
    const size_t robot = s->kernels->workspace_size(s->scene->model);
    const size_t model = s->kernels->workspace_size(dyn_ode_input_model(s));
    return model > robot ? model : robot;
}

bool dyn_robot_ode_open(dyn_robot_ode *ode, const dyn_simulation *s, dyn_deadline deadline, dyn_memory memory)
{
    const size_t nq = s->mechanism.nq, nv = s->mechanism.nv;
    bool         room = true;
    *ode = (dyn_robot_ode){.observer = ode->observer, .s = s, .controller_scene = *s->scene, .wrench_scene = *s->scene};
    ode->kernels                     = s->kernels;
    ode->W                           = (size_t)ode->kernels->lanes;
    ode->state.deadline              = deadline;
    ode->controller_scene.model      = dyn_ode_input_model(s);
    ode->controller_scene.n_wrenches = 0;
    if (!s->input.knows_friction) ode->controller_scene.terms &= ~(unsigned)DYN_FRICTION;
    ode->wrench_scene.terms = 0;
    memset(ode->wrench_scene.gravity, 0, sizeof ode->wrench_scene.gravity);
    if (!dyn_ode_stiction_open(memory, ode) || !dyn_ode_friction_open(memory, ode)) return false;
    if (s->mechanism.loops && !open_loops(memory, ode, &room)) return false;
    if (!s->mechanism.loops) ode->workspace = dyn_take(memory, controlled_workspace_size(s));
    if (s->scene->n_wrenches > 0) ode->wrenches = dyn_take_zeroed(memory, 9 * s->scene->n_wrenches * ode->W, &room);
    ode->q        = dyn_take_zeroed(memory, nq * ode->W, &room);
    ode->tau      = dyn_take_zeroed(memory, nv * ode->W, &room);
    ode->effort   = dyn_take_zeroed(memory, nv * ode->W, &room);
    ode->singular = dyn_take_zeroed(memory, ode->W, &room);
    if (s->contact) ode->contact = dyn_ode_held_open(memory, ode, s->contact);
    return room && dyn_ode_rigid_open(memory, ode) &&
           dyn_compliant_contacts_open(memory, ode->W, s->n_ground, s->ground, &ode->ground) &&
           dyn_ode_integration_open(memory, ode) && dyn_ode_input_open(memory, ode) &&
           dyn_ode_prescribed_open(memory, ode) && ode->workspace && (ode->contact || !s->contact);
}

void dyn_robot_ode_renew_scene(dyn_robot_ode *ode)
{
    const dyn_scene *scene = ode->s->scene;
    memcpy(ode->controller_scene.gravity, scene->gravity, sizeof scene->gravity);
    if (ode->s->input.knows_payload) ode->controller_scene.model = scene->model;
    ode->wrench_scene.model = scene->model;
    dyn_ode_friction_renew(ode);
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

void dyn_robot_ode_normalize(const dyn_robot_ode *ode, double *y, size_t stride, size_t lanes)
{
    const dyn_model *m = ode->s->mechanism.tree;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = dyn_first_position(&ode->s->mechanism, &m->body[i]), at = dyn_quaternion_offset(&m->body[i]);
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

static void positions_rate(const dyn_robot_ode *ode, const double *qd, double *rate)
{
    const dyn_model *m = ode->s->mechanism.tree;
    size_t           W = ode->W;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int place = dyn_first_position(&ode->s->mechanism, &m->body[i]);
        if (place < 0) continue;
        size_t q = (size_t)place * W, v = (size_t)dyn_first_velocity(&ode->s->mechanism, &m->body[i]) * W;
        dyn_coordinates_rate(&m->body[i], ode->q + q, qd + v, W, rate + q);
    }
}

/* Evaluates the wrench signals at time t, and the forces of planes at ode->q with velocities qd. */
static void set_wrenches(dyn_robot_ode *ode, double t, const double *qd)
{
    const size_t             W      = ode->W;
    const dyn_contact_states states = {
        .kernels = ode->kernels, .scene = ode->s->scene, .workspace = ode->workspace, .q = ode->q, .qd = qd};
    dyn_compliant_contacts_find(&ode->ground, &states, W, ode->state.deadline);
    dyn_compliant_contacts_put(&ode->ground, W, ode->s->scene->n_wrenches, ode->wrenches);
    for (size_t i = 0; i < ode->s->n_wrench_signals; i++) {
        const dyn_wrench_signal *w                        = &ode->s->wrench_signal[i];
        double *const            value[DYN_SIGNAL_ORDERS] = {ode->wrenches + (9 * w->wrench + 3 * w->part) * ode->W};
        dyn_signal_at(w->value, ode->W, ode->row, (dyn_moment){t, ode->interval_time}, 1, value);
    }
}

/* --- loops ------------------------------------------------------------------------------------------------------ */

/* Closes the loops of all lanes at q, along the path `from`. Returns false, with a fault at time t, where that
 * fails. */
static bool close_loops(dyn_robot_ode *ode, double t, const double *q, const dyn_approach *from)
{
    bool closed = dyn_loop_close(ode->loops, ode->s->scene, q, from, dyn_robot_ode_distinct_lanes(ode));
    for (size_t l = 0; !closed && l < ode->W; l++) {
        dyn_fault *f = &ode->state.fault[l];
        if (dyn_loop_status_of(ode->loops, l) == DYN_LOOPS_CLOSED || f->kind != DYN_FAULT_NONE) continue;
        dyn_fault_record(f, DYN_FAULT_LOOPS, t, 0);
        f->loops = dyn_loop_failure_of(ode->loops, l);
    }
    return closed;
}

/* Stores the closed positions at the actuated coordinates q, at which the next path to closed loops starts. */
static void store_closed(dyn_robot_ode *ode, const double *q)
{
    const dyn_loops *loops = ode->s->mechanism.loops;
    const double    *tree  = dyn_loop_tree_q(ode->loops);
    size_t           W     = ode->W;
    for (size_t l = 0; l < W; l++) {
        if (dyn_loop_status_of(ode->loops, l) != DYN_LOOPS_CLOSED) continue;
        for (size_t i = 0; i < loops->n_passive_q; i++)
            ode->closed_passive[i * W + l] = tree[(size_t)loops->passive_q[i] * W + l];
        for (size_t i = 0; i < ode->state.nq; i++)
            ode->closed_q[i * W + l] = q[i * W + l];
    }
}

/* --- start -------------------------------------------------------------------------------------------------------- */

/* Closes the loops of the initial states, along the path from the model's reference or from the guess. */
static void start_loops(dyn_robot_ode *ode)
{
    dyn_approach from = {.guess = ode->s->has_guess ? ode->closed_passive : NULL};
    close_loops(ode, 0, ode->state.y, &from);
    store_closed(ode, ode->state.y);
}

void dyn_robot_ode_start(dyn_robot_ode *ode)
{
    const size_t W     = ode->W;
    ode->state.steps   = 0;
    ode->interval_time = 0.5 * ode->s->first_end;
    memset(ode->state.fault, 0, sizeof ode->state.fault);
    memset(ode->state.y + (ode->state.nq + ode->state.nv) * W, 0,
           (ode->state.entries - ode->state.nq - ode->state.nv) * W * sizeof *ode->state.y);
    if (ode->rigid) dyn_ode_rigid_reset(ode->rigid);
    dyn_ode_prescribed_set(ode, 0, ode->state.y, W, W);
    if (ode->loops) start_loops(ode);
    if (ode->contact) dyn_ode_held_start(ode);
    dyn_robot_ode_finish_step(ode, 0, ode->state.y, W, W);
    memcpy(ode->q, ode->state.y, ode->state.nq * W * sizeof *ode->q);
    set_wrenches(ode, 0, ode->state.y + ode->state.nq * W);
    if (ode->stiction) dyn_stiction_events_set_sides(ode);
    dyn_ode_input_start(ode);
    if (ode->stiction) dyn_stiction_events_restart(ode, 0);
    if (ode->rigid) dyn_rigid_events_start(ode);
}

/* --- work ------------------------------------------------------------------------------------------------------- */

/* Sets `to` to a power in all lanes: `sign` times the sum of effort_i q'_i. */
static void power(const dyn_robot_ode *ode, const double *effort, const double *qd, double sign, double *to)
{
    size_t W = ode->W;
    for (size_t l = 0; l < W; l++) {
        double sum = 0;
        for (size_t i = 0; i < ode->state.nv; i++)
            sum += effort[i * W + l] * qd[i * W + l];
        to[l] = sign * sum;
    }
}

/* Computes the powers of actuators, friction and wrenches. The efforts of wrenches are minus tau of inverse dynamics at
 * rest without gravity, friction and springs. */
static void find_powers(dyn_robot_ode *ode, const double *qd, double *to)
{
    size_t W = ode->W;
    memset(to, 0, DYN_WORKS * W * sizeof *to);
    if (ode->s->works & 1U << DYN_WORK_ACTUATORS) power(ode, ode->tau, qd, 1, to);
    if (ode->s->works & 1U << DYN_WORK_FRICTION) {
        dyn_ode_friction_find(ode, qd, ode->effort);
        power(ode, ode->effort, qd, -1, to + DYN_WORK_FRICTION * W);
        dyn_ode_friction_subtract_damping(ode, ode->loops ? dyn_loop_tree_qd(ode->loops) : qd,
                                          to + DYN_WORK_FRICTION * W);
    }
    if ((ode->s->works & 1U << DYN_WORK_WRENCHES) && ode->wrenches) {
        dyn_inverse_dynamics io = {.q = ode->q, .wrenches = ode->wrenches, .tau = ode->effort};
        ode->kernels->inverse_dynamics(&ode->wrench_scene, ode->workspace, &io, 1);
        power(ode, ode->effort, qd, -1, to + DYN_WORK_WRENCHES * W);
    }
    for (size_t l = 0; ode->rigid && (ode->s->works & 1U << DYN_WORK_WRENCHES) && l < W; l++)
        to[DYN_WORK_WRENCHES * W + l] += ode->rigid->power[l];
}

/* --- right-hand side ---------------------------------------------------------------------------------------------- */

/* Closes the loops along the straight line from the closed position of the last step. */
bool dyn_robot_ode_close_loops(dyn_robot_ode *ode, double t, const double *q)
{
    dyn_approach from = {.q = ode->closed_q, .passive = ode->closed_passive};
    return !ode->loops || close_loops(ode, t, q, &from);
}

void dyn_robot_ode_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    size_t W = ode->W;
    dyn_ode_prescribed_set(ode, t, y, stride, lanes);
    if (ode->contact) dyn_ode_held_finish_step(ode, t, y, stride, lanes);
    if (ode->rigid) dyn_ode_rigid_finish_step(ode, t, y, stride, lanes);
    if (!ode->loops) return;
    for (size_t i = 0; i < ode->state.nq; i++)
        for (size_t l = 0; l < W; l++)
            ode->step_q[i * W + l] = y[i * stride + (l < lanes ? l : lanes - 1)];
    freeze(ode, ode->step_q);
    dyn_robot_ode_close_loops(ode, t, ode->step_q);
    store_closed(ode, ode->step_q);
}

/* Returns the first angle that is out of range at positions `q` with entries `stride` apart; NULL: none. */
static const dyn_bound *find_angle_beyond(const dyn_simulation *s, const double *q, size_t stride)
{
    for (const dyn_bound *a = s->angle; a < s->angle + s->n_angles; a++)
        if (!(fabs(a->ratio * q[a->entry * stride] + a->offset) <= a->most)) return a;
    return NULL;
}

/* True if the positions and velocities of lane l are in the range of computation. Otherwise records a fault. */
static bool is_in_range(dyn_robot_ode *ode, const double *y, double t, size_t l)
{
    size_t           W      = ode->W;
    const dyn_bound *beyond = find_angle_beyond(ode->s, y + l, W);
    if (beyond && isfinite(y[beyond->entry * W + l]))
        dyn_fault_record(&ode->state.fault[l], DYN_FAULT_ANGLE, t, beyond->entry);
    for (size_t i = 0; i < ode->state.entries; i++)
        if (!(fabs(y[i * W + l]) < LARGEST)) dyn_fault_record(&ode->state.fault[l], DYN_FAULT_INFINITE, t, i);
    return ode->state.fault[l].kind == DYN_FAULT_NONE;
}

/* Records a fault in lanes in which forward dynamics found a singular mass matrix. If a state is out of range, its
 * pivots may be NaN, which is no such fault. */
static void note_singular(dyn_robot_ode *ode, const double *y, double t)
{
    for (size_t l = 0; l < ode->W; l++)
        if (ode->singular[l] >= 0 && is_in_range(ode, y, t, l))
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_SINGULAR, t, (size_t)ode->singular[l]);
}

/* Sets the rates of lanes whose loops do not close to NaN, which makes the integrator try shorter steps. */
static void invalidate(const dyn_robot_ode *ode, double *rate)
{
    for (size_t l = 0; l < ode->W; l++)
        for (size_t i = 0; i < ode->state.entries && dyn_loop_status_of(ode->loops, l) != DYN_LOOPS_CLOSED; i++)
            rate[i * ode->W + l] = NAN;
}

/* Computes the accelerations without held frames, io->qdd. */
static void accelerate_robot(dyn_robot_ode *ode, dyn_forward_dynamics *io)
{
    io->driven_qdd = dyn_ode_prescribed_accelerations(ode);
    io->driven     = ode->s->prescribed.mask;
    if (ode->stiction)
        dyn_ode_stiction_accelerate(ode, io);
    else
        ode->kernels->forward_dynamics(dyn_ode_friction_scene(ode), ode->workspace, io, 1);
}

/* Prepares calls of `kernels` at y, with prescribed coordinates in it: sets ode->q and closes the loops. Sets *closed
 * to false if the loops of a lane do not close. Returns the velocities. */
static const double *prepare_state(dyn_robot_ode *ode, double t, const double *y, bool *closed)
{
    const size_t  W = ode->W, nq = ode->s->mechanism.nq;
    const double *qd = y + nq * W;
    memcpy(ode->q, y, nq * W * sizeof *ode->q);
    dyn_robot_ode_normalize(ode, ode->q, W, W);
    check_velocities(ode, t, qd);
    for (size_t l = 0; ode->loops && l < W; l++)
        is_in_range(ode, y, t, l);
    freeze(ode, ode->q);
    *closed = dyn_robot_ode_close_loops(ode, t, ode->q);
    set_wrenches(ode, t, qd);
    return qd;
}

void dyn_robot_ode_control(dyn_robot_ode *ode, double t, const double *y, double *rate)
{
    bool closed      = true;
    y                = dyn_ode_prescribed_state(ode, t, y);
    const double *qd = prepare_state(ode, t, y, &closed);
    dyn_ode_input_control(ode, t, qd, rate + ode->state.nq * ode->W);
    note_singular(ode, y, t);
}

void dyn_robot_ode_rate(dyn_robot_ode *ode, double t, const double *y, double *rate)
{
    size_t W = ode->W, nq = ode->s->mechanism.nq;
    bool   closed    = true;
    y                = dyn_ode_prescribed_state(ode, t, y);
    const double *qd = prepare_state(ode, t, y, &closed);
    dyn_ode_input_apply(ode, t, qd, rate + nq * W);
    if (ode->s->input.controller) note_singular(ode, y, t);
    dyn_forward_dynamics io = {.q        = ode->q,
                               .qd       = qd,
                               .tau      = dyn_ode_friction_transmit(ode, qd),
                               .wrenches = ode->wrenches,
                               .qdd      = rate + nq * W,
                               .singular = ode->singular};
    accelerate_robot(ode, &io);
    note_singular(ode, y, t);
    check_passive_velocities(ode, t);
    if (ode->contact) dyn_ode_held_rate(ode, t, qd, rate + nq * W);
    if (ode->rigid) dyn_ode_rigid_rate(ode, t, qd, rate + nq * W);
    if (ode->stiction)
        dyn_ode_stiction_load(ode, qd, rate + nq * W,
                              rate + (ode->state.entries - DYN_WORKS - dyn_ode_stiction_count(ode)) * W);
    dyn_ode_prescribed_efforts(ode, qd, rate + nq * W);
    check_accelerations(ode, t, rate + nq * W);
    positions_rate(ode, qd, rate);
    find_powers(ode, qd, rate + (ode->state.entries - DYN_WORKS) * W);
    if (!closed) invalidate(ode, rate);
}

/* --- faults ----------------------------------------------------------------------------------------------------- */

void dyn_robot_ode_check_range(dyn_robot_ode *ode, double t)
{
    for (size_t l = 0; l < ode->W; l++)
        is_in_range(ode, ode->state.y, t, l);
}

bool dyn_robot_ode_may_continue(const dyn_robot_ode *ode)
{
    size_t l = 0, most = ode->s->fail_alone ? ode->state.rows : 1;
    while (l < most && (ode->state.fault[l].kind != DYN_FAULT_NONE || ode->ignored[l]))
        l++;
    return l < most;
}
