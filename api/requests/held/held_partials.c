/* held_partials.c - completes the derivatives of inverse dynamics with those of the wrenches on held frames
 * (held_partials.h). */
#include "held_partials.h"
#include "held_effort_rates.h"
#include "api/requests/fields/fields.h"
#include "dynamics/frame_sensitivity.h"
#include <string.h>

size_t api_held_partials_entries(const api_model *model, const api_selection *selected)
{
    const api_held_efforts *efforts = api_motion_options_of(selected)->held;
    const size_t            n = api_selected_extent(selected, API_REQUEST_WRENCHES), nv = model->nv;
    const dyn_held_set     *contact = efforts->choice.contact;
    return nv + api_held_efforts_entries(model, efforts, n) + dyn_held_rates_entries(nv, &efforts->choice) +
           6 * nv * (n + contact->n) + contact->k * (nv + 1) + 6 * nv;
}

/* The arrays of one block, in lanes. */
typedef struct partial_arrays {
    dyn_held_rates rates;
    double *levers;    /* (wrenches of the request and contacts) x nv x 6: derivatives of the efforts with respect to
                          wrenches */
    double *direction; /* k x nv: d/dq of the velocities along the held axes at the velocities mu */
    double *frame;     /* 6 x nv, derivatives of the velocity of one frame: scratch */
    double *l;         /* k: scratch of dyn_held_rates_complete */
} partial_arrays;

/* Sets `direction` at the velocities mu, the multipliers of the coordinates without actuator (held_rates.h). */
static void find_directions(const api_evaluation *e, const api_held_efforts *h, const partial_arrays *a,
                            const double *q)
{
    const dyn_held_set *contact = h->choice.contact;
    const size_t        row     = e->model->nv * e->lanes;
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n) {
        const dyn_held_frame       *frame = &contact->frame[i];
        const dyn_frame_sensitivity io    = {.q            = q,
                                             .qd           = a->rates.mu,
                                             .n_frames     = 1,
                                             .frames       = &frame->frame,
                                             .frame_axes   = frame->frame_axes,
                                             .dvelocity_dq = a->frame};
        e->kernels->frame_sensitivity(&e->query->scene, e->workspace, &io, 1);
        for (size_t j = 0; j < frame->n; j++)
            memcpy(a->direction + (first + j) * row, a->frame + (size_t)frame->axis[j] * row, row * sizeof *a->frame);
    }
}

/* Adds the effect of the contact wrenches to the derivatives of tau with respect to q, qd and qdd. */
static void complete_state(const partial_arrays *a, const dyn_sensitivity *io, const api_held_partials *p, size_t nv,
                           const double *levers)
{
    const dyn_held_columns by_q   = {nv, io->dtau_dq, a->direction, p->wrenches_dq};
    const dyn_held_columns by_qd  = {nv, io->dtau_dqd, NULL, p->wrenches_dqd};
    const dyn_held_columns by_qdd = {nv, io->dtau_dqdd, NULL, p->wrenches_dqdd};
    dyn_held_rates_complete(&a->rates, &by_q, levers, a->l);
    dyn_held_rates_complete(&a->rates, &by_qd, levers, a->l);
    dyn_held_rates_complete(&a->rates, &by_qdd, levers, a->l);
}

/* Completes the derivatives with respect to the request's wrenches (`requested`; NULL: not wanted), to gravity and to
 * parameters. */
static void complete_others(const api_evaluation *e, const partial_arrays *a, const dyn_sensitivity *io,
                            double *requested, const api_held_partials *p, const double *levers)
{
    const size_t nv = e->model->nv, W = e->lanes;
    for (size_t n = 0; requested && n < e->query->scene.n_wrenches; n++) {
        const dyn_held_columns by_wrench = {.n = 6, .tau = requested + n * nv * 6 * W};
        memcpy(by_wrench.tau, a->levers + n * nv * 6 * W, nv * 6 * W * sizeof *requested);
        dyn_held_rates_complete(&a->rates, &by_wrench, levers, a->l);
    }
    const dyn_held_columns by_gravity    = {.n = 3, .tau = io->dtau_dgravity};
    const dyn_held_columns by_parameters = {.n = 10 * e->model->n_bodies, .tau = p->dtau_dparameters};
    if (by_gravity.tau) dyn_held_rates_complete(&a->rates, &by_gravity, levers, a->l);
    if (by_parameters.tau) dyn_held_rates_complete(&a->rates, &by_parameters, levers, a->l);
}

/* Computes tau, joint wrenches and the regressor with the contact wrenches. */
static void find_values(const api_evaluation *e, const api_held_efforts *h, const dyn_sensitivity *io,
                        const api_held_partials *p)
{
    dyn_inverse_dynamics id = {.q              = io->q,
                               .qd             = io->qd,
                               .qdd            = io->qdd,
                               .wrenches       = io->wrenches,
                               .tau            = p->tau,
                               .joint_wrenches = p->joint_wrenches};
    const dyn_regressor  Y  = {
          .q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches, .regressor = p->dtau_dparameters};
    if (id.tau || id.joint_wrenches) e->kernels->inverse_dynamics(&h->scene, e->workspace, &id, 1);
    if (id.tau) api_held_efforts_clear(e, h, id.tau);
    if (Y.regressor) e->kernels->regressor(&h->scene, e->workspace, &Y, 1);
}

bool api_held_partials_evaluate(const api_evaluation *e, const api_selection *selected, size_t block,
                                dyn_sensitivity *io, const api_held_partials *p, double *next)
{
    api_held_efforts        of_row;
    const api_held_efforts *h  = api_held_efforts_in_row(e, api_motion_options_of(selected)->held, &of_row);
    const size_t            nv = e->model->nv, W = e->lanes;
    dyn_inverse_dynamics    motion = {.q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches, .tau = next};
    double                 *requested = io->dtau_dwrench;
    api_held_wrenches       w         = {.contacts = p->contact_wrenches};
    partial_arrays          a;
    next = api_behind(e, next, nv, 1);
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &motion, 1);
    if (!api_held_efforts_find(e, h, block, &motion, &next, &w)) return false;
    a.rates     = dyn_held_rates_lay_out(&w.block, h->limits ? w.limited : NULL, next);
    a.levers    = api_behind(e, next, dyn_held_rates_entries(nv, &h->choice), 1);
    a.direction = api_behind(e, a.levers, 6 * nv * h->scene.n_wrenches, 1);
    a.l         = api_behind(e, a.direction, nv * h->choice.contact->k, 1);
    a.frame     = api_behind(e, a.l, h->choice.contact->k, 1);
    if (!api_held_effort_rates_begin(e, &w, &a.rates, block)) return false;
    find_directions(e, h, &a, io->q);
    io->wrenches     = w.wrenches;
    io->dtau_dwrench = a.levers;
    e->kernels->sensitivity(&h->scene, e->workspace, io, 1);
    find_values(e, h, io, p);
    const double *levers = a.levers + 6 * nv * e->query->scene.n_wrenches * W;
    complete_state(&a, io, p, nv, levers);
    complete_others(e, &a, io, requested, p, levers);
    return true;
}
