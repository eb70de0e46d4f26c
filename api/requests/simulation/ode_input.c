/* ode_input.c - evaluates torque signals and controllers during a simulation (ode_input.h). */
#include "ode_input.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Takes the contact block with which a controller finds the wrenches on held frames. */
static bool open_contact(api_evaluation *e, api_ode *ode)
{
    const dyn_contact *contact = ode->s->contact;
    bool               room    = true;
    if (!contact || !ode->s->input.actuated) return true;
    ode->controller_contact = api_take(e->query->pool, sizeof *ode->controller_contact);
    double *lanes = api_take_zeroed(e->query->pool, dyn_contact_entries(e->model->nv, contact) * ode->W, &room);
    ode->controller_wrenches = api_take_zeroed(e->query->pool, API_FRAME_AXES * contact->n * ode->W, &room);
    if (!room || !ode->controller_contact) return false;
    *ode->controller_contact = dyn_contact_lay_out(contact, e->model->nv, ode->W, lanes);
    return true;
}

bool api_ode_input_open(api_evaluation *e, api_ode *ode)
{
    const api_actuator_input *d    = &ode->s->input;
    size_t                    nv   = e->model->nv;
    bool                      room = true;
    ode->unclipped                 = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    for (int r = 0; d->controller && r < DYN_SIGNAL_ORDERS; r++)
        ode->reference[r] = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    for (int i = 0; d->controller && i < 2; i++)
        ode->error[i] = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    if (d->controller)
        ode->controller_work =
            api_take_zeroed(e->query->pool, dyn_controller_entries(d->controller, e->model->dyn) * ode->W, &room);
    return room && (!d->controller || open_contact(e, ode));
}

/* --- controllers ------------------------------------------------------------------------------------------------ */

/* error = reference - motion at time t; 0 for joints with a quaternion, which have no reference. */
static void find_errors(api_ode *ode, double t, const double *qd)
{
    const api_actuator_input *d = &ode->s->input;
    size_t                    W = ode->W;
    dyn_signal_at(&d->signal.curve, W, ode->row, (dyn_moment){t, ode->interval_time}, DYN_SIGNAL_ORDERS,
                  ode->reference);
    for (size_t v = 0; v < ode->e->model->nv; v++) {
        int position = d->coordinate[v].position;
        for (size_t i = v * W; i < (v + 1) * W && position >= 0; i++) {
            ode->error[0][i] = ode->reference[0][i] - ode->q[(size_t)position * W + i - v * W];
            ode->error[1][i] = ode->reference[1][i] - qd[i];
        }
    }
}

/* Returns the input of the controller at time t. The controller's own state follows q' in y. */
static dyn_controller_input controller_input(api_ode *ode, double t, const double *qd, double *rate)
{
    const api_actuator_input *d  = &ode->s->input;
    size_t                    nv = ode->e->model->nv, W = ode->W;
    find_errors(ode, t, qd);
    for (size_t l = 0; l < W; l++)
        ode->singular[l] = -1;
    return (dyn_controller_input){
        .kernels          = ode->kernels,
        .scene            = &ode->controller_scene,
        .actual_scene     = &ode->e->query->scene,
        .wrenches         = ode->wrenches,
        .workspace        = ode->workspace,
        .nv               = nv,
        .W                = W,
        .states           = api_ode_distinct_lanes(ode),
        .motor            = d->motor,
        .actuated         = d->actuated,
        .driven           = d->driven,
        .prescribed_qdd   = api_ode_prescribed_accelerations(ode),
        .supported        = d->supported,
        .contact          = ode->controller_contact,
        .contact_wrenches = ode->controller_wrenches,
        .singular         = ode->singular,
        .q                = ode->q,
        .qd               = qd,
        .gains            = {d->gains[0], d->gains[1]},
        .reference        = {ode->reference[0], ode->reference[1], ode->reference[2]},
        .error            = {ode->error[0], ode->error[1]},
        .options          = d->options,
        .state            = qd + nv * W,
        .state_rate       = rate + nv * W,
        .work             = ode->controller_work,
    };
}

void api_ode_input_start(api_ode *ode)
{
    const dyn_controller *controller = ode->s->input.controller;
    size_t                nq = ode->e->model->nq, nv = ode->e->model->nv, W = ode->W;
    if (!controller || !controller->start) return;
    memcpy(ode->q, ode->state.y, nq * W * sizeof *ode->q);
    dyn_controller_input c = controller_input(ode, 0, ode->state.y + nq * W, ode->state.stage_rate[0] + nq * W);
    controller->start(&c, ode->tau, ode->state.y + (nq + nv) * W);
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

/* Sets efforts of coordinates without actuator to zero and clips the others at their limits. NaN stays NaN. */
static void bound_efforts(api_ode *ode)
{
    const api_actuator_input *d = &ode->s->input;
    size_t                    W = ode->W;
    for (size_t v = 0; v < ode->e->model->nv; v++) {
        double most = d->effort_limit[v];
        for (size_t i = v * W; i < (v + 1) * W; i++) {
            if (d->actuated && !d->actuated[v]) ode->tau[i] = 0;
            ode->unclipped[i] = ode->tau[i];
            if (d->clip && ode->tau[i] > most) ode->tau[i] = most;
            if (d->clip && ode->tau[i] < -most) ode->tau[i] = -most;
        }
    }
}

/* Clips the effort of a motor of a transmission, and with it the efforts at its joints. The efforts of the other motors
 * of the transmission stay as they are. */
static void bound_motor(api_ode *ode, const api_coupled_motor *motor)
{
    const dyn_drive *drive = motor->drive;
    const double     most  = motor->limits.effort;
    double          *tau[DYN_MAX_DRIVEN];
    for (size_t j = 0; j < drive->n; j++)
        tau[j] = ode->tau + (size_t)api_model_coordinate(ode->e->model, drive->joint[j]) * ode->W;
    for (size_t l = 0; l < ode->W; l++) {
        double effort = 0;
        for (size_t j = 0; j < drive->n; j++)
            effort += motor->effort[j] * tau[j][l];
        const double excess = effort > most ? effort - most : effort < -most ? effort + most : 0;
        for (size_t j = 0; excess != 0 && j < drive->n; j++)
            tau[j][l] -= drive->weight[j] * excess;
    }
}

static void bound_motors(api_ode *ode)
{
    const api_model          *m = ode->e->model;
    const api_actuator_input *d = &ode->s->input;
    for (size_t k = 0; d->clip && k < m->dyn->n_drives; k++)
        if (m->coupled_motors[k].limits.has_effort && api_actuator_input_drives(m, d, &m->coupled_motors[k]))
            bound_motor(ode, &m->coupled_motors[k]);
}

void api_ode_input_apply(api_ode *ode, double t, const double *qd, double *rate)
{
    const api_actuator_input *d                      = &ode->s->input;
    double *const             tau[DYN_SIGNAL_ORDERS] = {ode->tau};
    if (!d->is_given) return; /* the efforts are zero from the start */
    if (d->controller) {
        dyn_controller_input c = controller_input(ode, t, qd, rate);
        d->controller->torques(&c, ode->tau);
        if (d->controller->compensates_friction) api_ode_friction_compensate(ode, qd);
        bound_efforts(ode);
        bound_motors(ode);
        return;
    }
    dyn_signal_at(&d->signal.curve, ode->W, ode->row, (dyn_moment){t, ode->interval_time}, 1, tau);
    memcpy(ode->unclipped, ode->tau, ode->e->model->nv * ode->W * sizeof *ode->tau);
}
