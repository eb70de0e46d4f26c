/* ode_input.c - see ode_input.h. */
#include "ode_input.h"
#include "ode_prescribed.h"
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Lanes of the contact block that a controller finds the forces on held frames with. */
static bool open_held(api_evaluation *e, api_ode *p)
{
    const api_contact *contact = p->s->contact;
    bool               room    = true;
    if (!contact || !p->s->drive.actuated) return true;
    p->control_contact  = api_take(e->pool, sizeof *p->control_contact);
    double *lanes       = api_take_zeroed(e->pool, api_contact_entries(e->model->nv, contact) * p->W, &room);
    p->control_wrenches = api_take_zeroed(e->pool, API_FRAME_AXES * contact->n * p->W, &room);
    if (!room || !p->control_contact) return false;
    *p->control_contact = api_contact_lay_out(contact, e->model->nv, p->W, lanes);
    return true;
}

bool api_ode_input_open(api_evaluation *e, api_ode *p)
{
    const api_actuator_input *d    = &p->s->drive;
    size_t                    nv   = e->model->nv;
    bool                      room = true;
    p->demand                      = api_take_zeroed(e->pool, nv * p->W, &room);
    for (int r = 0; d->controller && r < API_SIGNAL_ORDERS; r++)
        p->reference[r] = api_take_zeroed(e->pool, nv * p->W, &room);
    for (int i = 0; d->controller && i < 2; i++)
        p->error[i] = api_take_zeroed(e->pool, nv * p->W, &room);
    if (d->controller)
        p->control = api_take_zeroed(e->pool, api_controller_entries(d->controller, e->model->dyn) * p->W, &room);
    return room && (!d->controller || open_held(e, p));
}

/* --- controllers ------------------------------------------------------------------------------------------------ */

/* The reference at time t less the motion; 0 of joints with a quaternion, which have no reference. */
static void find_errors(api_ode *p, double t, const double *qd)
{
    const api_actuator_input *d = &p->s->drive;
    size_t                    W = p->W;
    api_signal_at(&d->signal, W, p->row, (api_moment){t, p->inside}, API_SIGNAL_ORDERS, p->reference);
    for (size_t v = 0; v < p->e->model->nv; v++) {
        int position = d->coordinate[v].position;
        for (size_t i = v * W; i < (v + 1) * W && position >= 0; i++) {
            p->error[0][i] = p->reference[0][i] - p->q[(size_t)position * W + i - v * W];
            p->error[1][i] = p->reference[1][i] - qd[i];
        }
    }
}

/* What a controller sees at time t. Behind q' stands its own state. */
static api_controller_input look_at(api_ode *p, double t, const double *qd, double *rate)
{
    const api_actuator_input *d  = &p->s->drive;
    size_t                    nv = p->e->model->nv, W = p->W;
    find_errors(p, t, qd);
    for (size_t l = 0; l < W; l++)
        p->singular[l] = -1;
    return (api_controller_input){
        .kernels       = p->kernels,
        .scene         = &p->known,
        .actual        = &p->e->scene,
        .wrenches      = p->wrenches,
        .workspace     = p->workspace,
        .nv            = nv,
        .W             = W,
        .states        = p->s->stiff ? W : p->rows, /* columns of a Jacobian are states of their own */
        .coordinate    = d->coordinate,
        .actuated      = d->actuated,
        .driven        = d->driven,
        .given         = api_ode_prescribed_accelerations(p),
        .resting       = d->resting,
        .held          = p->control_contact,
        .held_wrenches = p->control_wrenches,
        .singular      = p->singular,
        .q             = p->q,
        .qd            = qd,
        .gains         = {d->gains[0], d->gains[1]},
        .reference     = {p->reference[0], p->reference[1], p->reference[2]},
        .error         = {p->error[0], p->error[1]},
        .filter        = d->filter,
        .state         = qd + nv * W,
        .state_rate    = rate + nv * W,
        .room          = p->control,
    };
}

void api_ode_input_start(api_ode *p)
{
    const api_controller *controller = p->s->drive.controller;
    size_t                nq = p->e->model->nq, nv = p->e->model->nv, W = p->W;
    if (!controller || !controller->start) return;
    memcpy(p->q, p->y, nq * W * sizeof *p->q);
    api_controller_input c = look_at(p, 0, p->y + nq * W, p->slope[0] + nq * W);
    controller->start(&c, p->tau, p->y + (nq + nv) * W);
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

/* A controller's efforts are zero where no actuator is, and within the limits elsewhere. What is no number stays. */
static void bound_efforts(api_ode *p)
{
    const api_actuator_input *d = &p->s->drive;
    size_t                    W = p->W;
    for (size_t v = 0; v < p->e->model->nv; v++) {
        double most = d->most[v];
        for (size_t i = v * W; i < (v + 1) * W; i++) {
            if (d->actuated && !d->actuated[v]) p->tau[i] = 0;
            p->demand[i] = p->tau[i];
            if (d->clip && p->tau[i] > most) p->tau[i] = most;
            if (d->clip && p->tau[i] < -most) p->tau[i] = -most;
        }
    }
}

void api_ode_input_apply(api_ode *p, double t, const double *qd, double *rate)
{
    const api_actuator_input *d                      = &p->s->drive;
    double *const             tau[API_SIGNAL_ORDERS] = {p->tau};
    if (!d->given) return; /* zero from the beginning */
    if (d->controller) {
        api_controller_input c = look_at(p, t, qd, rate);
        d->controller->torques(&c, p->tau);
        bound_efforts(p);
        return;
    }
    api_signal_at(&d->signal, p->W, p->row, (api_moment){t, p->inside}, 1, tau);
    memcpy(p->demand, p->tau, p->e->model->nv * p->W * sizeof *p->tau);
}
