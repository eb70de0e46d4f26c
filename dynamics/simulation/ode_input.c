/* ode_input.c - evaluates torque signals and controllers during a simulation (ode_input.h). */
#include "ode_input.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include <string.h>

size_t dyn_ode_input_states(const dyn_simulation *s)
{
    const dyn_actuator_input *d = &s->input;
    return dyn_controller_states(d->controller, s->mechanism.tree) + (d->gains[DYN_KI] ? s->mechanism.nv : 0);
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Allocates the contact block with which a controller computes the wrenches on held frames. */
static bool open_contact(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_held_set *contact = ode->s->contact;
    bool                room    = true;
    if (!contact || !ode->s->input.actuated) return true;
    ode->controller_contact = dyn_take(memory, sizeof *ode->controller_contact);
    double *lanes = dyn_take_zeroed(memory, dyn_contact_entries(ode->s->mechanism.nv, contact) * ode->W, &room);
    ode->controller_wrenches = dyn_take_zeroed(memory, DYN_FRAME_AXES * contact->n * ode->W, &room);
    if (!room || !ode->controller_contact) return false;
    *ode->controller_contact = dyn_contact_lay_out(contact, ode->s->mechanism.nv, ode->W, lanes);
    return true;
}

bool dyn_ode_input_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_actuator_input *d    = &ode->s->input;
    size_t                    nv   = ode->s->mechanism.nv;
    bool                      room = true;
    ode->unclipped                 = dyn_take_zeroed(memory, nv * ode->W, &room);
    for (int r = 0; d->controller && r < DYN_SIGNAL_ORDERS; r++)
        ode->reference[r] = dyn_take_zeroed(memory, nv * ode->W, &room);
    for (int i = 0; d->controller && i < 2; i++)
        ode->error[i] = dyn_take_zeroed(memory, nv * ode->W, &room);
    if (d->controller)
        ode->controller_work =
            dyn_take_zeroed(memory, dyn_controller_entries(d->controller, ode->s->mechanism.tree) * ode->W, &room);
    return room && (!d->controller || (open_contact(memory, ode) && dyn_ode_sampling_open(memory, ode)));
}

/* --- controllers ------------------------------------------------------------------------------------------------ */

/* Evaluates the controller's signal at time t and its errors. If the signal is the reference of coordinates, joints
 * with a quaternion have no reference, and their errors are 0. */
static void find_errors(dyn_robot_ode *ode, double t, const double *qd)
{
    const dyn_actuator_input *d = &ode->s->input;
    size_t                    W = ode->W;
    dyn_signal_at(d->signal, W, ode->row, (dyn_moment){t, ode->interval_time}, DYN_SIGNAL_ORDERS, ode->reference);
    if (d->controller->errors) {
        const dyn_controlled_state x = {&ode->s->mechanism, d->position, W, ode->row, ode->q, qd, ode->error};
        d->controller->errors(d->options, &x);
        return;
    }
    for (size_t v = 0; v < ode->state.nv; v++) {
        int position = d->position[v];
        for (size_t i = v * W; i < (v + 1) * W && position >= 0; i++) {
            ode->error[0][i] = ode->reference[0][i] - ode->q[(size_t)position * W + i - v * W];
            ode->error[1][i] = ode->reference[1][i] - qd[i];
        }
    }
}

const dyn_model *dyn_ode_input_model(const dyn_simulation *s)
{
    if (s->input.model) return s->input.model;
    return s->input.knows_payload ? s->scene->model : s->mechanism.tree;
}

/* Returns the index at which the integrals of errors begin in y after the positions, or in its rate after the
 * velocities. */
static size_t integrals_at(const dyn_robot_ode *ode)
{
    return (ode->state.nv + dyn_controller_states(ode->s->input.controller, ode->s->mechanism.tree)) * ode->W;
}

/* Returns the input of the controller at time t. In y the state of the controller comes after q'. */
static dyn_controller_input controller_input(dyn_robot_ode *ode, double t, const double *qd, double *rate)
{
    const dyn_actuator_input *d  = &ode->s->input;
    size_t                    nv = ode->state.nv, W = ode->W;
    find_errors(ode, t, qd);
    for (size_t l = 0; l < W; l++)
        ode->singular[l] = -1;
    return (dyn_controller_input){
        .kernels          = ode->kernels,
        .scene            = &ode->controller_scene,
        .actual_scene     = ode->s->scene,
        .wrenches         = ode->wrenches,
        .workspace        = ode->workspace,
        .nv               = nv,
        .W                = W,
        .states           = dyn_robot_ode_distinct_lanes(ode),
        .motor            = d->motor,
        .actuated         = d->actuated,
        .driven           = d->driven,
        .prescribed_qdd   = dyn_ode_prescribed_accelerations(ode),
        .supported        = d->supported,
        .contact          = ode->controller_contact,
        .contact_wrenches = ode->controller_wrenches,
        .singular         = ode->singular,
        .q                = ode->q,
        .qd               = qd,
        .gains            = {d->gains[DYN_KP], d->gains[DYN_KD], d->gains[DYN_KI]},
        .position         = d->position,
        .nq               = ode->state.nq,
        .reference        = {ode->reference[0], ode->reference[1], ode->reference[2]},
        .error            = {ode->error[0], ode->error[1]},
        .integral         = d->gains[DYN_KI] ? qd + integrals_at(ode) : NULL,
        .options          = d->options,
        .state            = qd + nv * W,
        .state_rate       = rate + nv * W,
        .work             = ode->controller_work,
    };
}

void dyn_ode_input_start(dyn_robot_ode *ode)
{
    const dyn_controller *controller = ode->s->input.controller;
    size_t                nq = ode->state.nq, nv = ode->state.nv, W = ode->W;
    if (ode->sampling) dyn_ode_sampling_start(ode);
    if (!controller || !controller->start) return;
    memcpy(ode->q, ode->state.y, nq * W * sizeof *ode->q);
    dyn_controller_input c = controller_input(ode, 0, ode->state.y + nq * W, ode->state.stage_rate[0] + nq * W);
    controller->start(&c, ode->tau, ode->state.y + (nq + nv) * W);
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

/* Sets the efforts of coordinates without actuator to zero and clips the other efforts at their limits. NaN stays
 * NaN. */
static void bound_efforts(dyn_robot_ode *ode, const double *qd)
{
    const dyn_actuator_input *d = &ode->s->input;
    size_t                    W = ode->W;
    for (size_t v = 0; v < ode->state.nv; v++) {
        for (size_t i = v * W; i < (v + 1) * W; i++) {
            const double most = dyn_largest_effort(d->effort_limit[v], &d->line[v], qd[i]);
            if (d->actuated && !d->actuated[v]) ode->tau[i] = 0;
            ode->unclipped[i] = ode->tau[i];
            if (d->clip && ode->tau[i] > most) ode->tau[i] = most;
            if (d->clip && ode->tau[i] < -most) ode->tau[i] = -most;
        }
    }
}

/* Clips the effort of a motor of a transmission by changing the efforts at its joints. The efforts of the other motors
 * of the transmission stay the same. */
static void bound_motor(dyn_robot_ode *ode, const dyn_motor_limit *motor, const double *qd)
{
    const dyn_drive *drive = motor->drive;
    double          *tau[DYN_MAX_DRIVEN];
    const double    *rate[DYN_MAX_DRIVEN];
    for (size_t j = 0; j < drive->n; j++) {
        const size_t entry = (size_t)dyn_mechanism_velocity(&ode->s->mechanism, drive->joint[j]) * ode->W;
        tau[j]             = ode->tau + entry;
        rate[j]            = qd + entry;
    }
    for (size_t l = 0; l < ode->W; l++) {
        double effort = 0, speed = 0;
        for (size_t j = 0; j < drive->n; j++) {
            effort += motor->effort[j] * tau[j][l];
            speed += drive->weight[j] * rate[j][l];
        }
        const double most   = dyn_largest_effort(motor->most, &motor->line, speed);
        const double excess = effort > most ? effort - most : effort < -most ? effort + most : 0;
        for (size_t j = 0; excess != 0 && j < drive->n; j++)
            tau[j][l] -= drive->weight[j] * excess;
    }
}

/* Writes the rates z' = r - q of the integrals of errors (anti-windup: 0 if z' would move the unclipped effort further
 * away from the clipped effort; the limit of a transmission's motor may clip upwards, too). */
static void integrate_errors(const dyn_robot_ode *ode, double *rate)
{
    const dyn_actuator_input *d  = &ode->s->input;
    double                   *to = rate + integrals_at(ode);
    const size_t              W  = ode->W;
    for (size_t i = 0; d->gains[DYN_KI] && i < ode->state.nv * W; i++) {
        const bool driven = d->position[i / W] >= 0 && (!d->actuated || d->actuated[i / W]);
        const bool winds  = (ode->unclipped[i] - ode->tau[i]) * ode->error[0][i] > 0;
        to[i]             = driven && !winds ? ode->error[0][i] : 0;
    }
}

void dyn_ode_input_control(dyn_robot_ode *ode, double t, const double *qd, double *rate)
{
    const dyn_actuator_input *d = &ode->s->input;
    dyn_controller_input      c = controller_input(ode, t, qd, rate);
    d->controller->torques(&c, ode->tau);
    if (d->controller->compensates_friction && d->knows_friction) dyn_ode_friction_compensate(ode, qd);
    bound_efforts(ode, qd);
    for (size_t k = 0; d->clip && k < d->n_motor_limits; k++)
        bound_motor(ode, &d->motor_limit[k], qd);
    integrate_errors(ode, rate);
}

void dyn_ode_input_apply(dyn_robot_ode *ode, double t, const double *qd, double *rate)
{
    const dyn_actuator_input *d                      = &ode->s->input;
    double *const             tau[DYN_SIGNAL_ORDERS] = {ode->tau};
    if (!d->signal) return; /* the efforts are zero from the start */
    if (d->controller && ode->sampling) {
        find_errors(ode, t, qd);
        dyn_ode_sampling_apply(ode, rate);
    } else if (d->controller) {
        dyn_ode_input_control(ode, t, qd, rate);
    } else {
        dyn_signal_at(d->signal, ode->W, ode->row, (dyn_moment){t, ode->interval_time}, 1, tau);
        memcpy(ode->unclipped, ode->tau, ode->state.nv * ode->W * sizeof *ode->tau);
    }
}
