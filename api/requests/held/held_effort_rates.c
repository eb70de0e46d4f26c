/* held_effort_rates.c - finds the time derivatives of the wrenches on held frames (held_effort_rates.h). */
#include "held_effort_rates.h"
#include <string.h>

size_t api_held_effort_rates_entries(const api_model *model, const api_held_efforts *h, size_t n_wrenches)
{
    const dyn_held_set *contact = h->choice.contact;
    return dyn_held_rates_entries(model->nv, &h->choice) + API_FRAME_AXES * (n_wrenches + contact->n) + model->nv +
           contact->k;
}

bool api_held_effort_rates_begin(const api_evaluation *e, const api_held_wrenches *w, dyn_held_rates *r, size_t block)
{
    for (size_t lane = 0; lane < e->lanes; lane++)
        if (w->found[lane] && !dyn_held_rates_begin(r, lane) &&
            !api_fail_state(
                e, API_INFEASIBLE_CONTACTS, API_QDD, block * e->lanes + lane,
                "the derivatives of the contact wrenches do not exist: at this state the held axes do not bear "
                "each coordinate without actuator, or active limits depend on each other. Hold more axes"))
            return false;
    return true;
}

/* Checks that the motion keeps the frames of these states held: the jerks of their held directions must be zero. */
static bool check_jerks(const api_evaluation *e, const api_held_efforts *h, const dyn_held_rates *r, size_t block)
{
    const size_t W = e->lanes;
    for (size_t lane = 0; lane < W; lane++) {
        const size_t moving = dyn_held_rates_find_moving(r, lane), entry = (moving - 1) * W + lane;
        if (moving == 0 || !r->ready[lane]) continue;
        const api_held_residual residual = {
            .row = moving - 1, .left = r->jerks[entry], .most = DYN_HELD_MOTION * r->jerks_scale[entry], .jerks = true};
        if (!api_held_efforts_fail_moving(e, h, &residual, block * W + lane)) return false;
    }
    return true;
}

/* Sets h of held_rates.h: the rates of the efforts of coordinates without actuator at constant contact wrenches. */
static void set_efforts(const api_evaluation *e, const api_held_efforts *h, dyn_torque_derivative motion,
                        const dyn_held_rates *r, double *tau_dot)
{
    const size_t W = e->lanes;
    motion.tau = motion.joint_wrenches = motion.joint_wrench_rates = NULL;
    motion.tau_dot                                                 = tau_dot;
    e->kernels->torque_derivative(&h->scene, e->workspace, &motion, 1);
    for (size_t u = 0; u < h->choice.n_passive; u++)
        memcpy(r->effort + u * W, tau_dot + h->choice.passive[u] * W, W * sizeof *tau_dot);
}

const double *api_held_effort_rates(const api_evaluation *e, const api_held_efforts *h, size_t block,
                                    const dyn_torque_derivative *motion, double *next, api_held_wrenches *w)
{
    const size_t   nv = e->model->nv, W = e->lanes;
    const size_t   requested = API_FRAME_AXES * e->query->scene.n_wrenches * W;
    double        *rates = next, *tau_dot = rates + API_FRAME_AXES * h->scene.n_wrenches * W, *l = tau_dot + nv * W;
    dyn_held_rates r = dyn_held_rates_lay_out(&w->block, h->limits ? w->limited : NULL, l + h->choice.contact->k * W);
    dyn_torque_derivative    moving = *motion;
    const dyn_contact_states now    = {
           .kernels = e->kernels, .scene = &e->query->scene, .workspace = e->workspace, .q = motion->q, .qd = motion->qd};
    memset(rates, 0, API_FRAME_AXES * h->scene.n_wrenches * W * sizeof *rates);
    if (motion->wrench_rates) memcpy(rates, motion->wrench_rates, requested * sizeof *rates);
    moving.wrenches     = w->wrenches;
    moving.wrench_rates = rates;
    if (!api_held_effort_rates_begin(e, w, &r, block)) return NULL;
    dyn_held_rates_follow(&r, &now, motion->qdd, motion->qddd);
    if (!check_jerks(e, h, &r, block)) return NULL;
    set_efforts(e, h, moving, &r, tau_dot);
    dyn_held_rates_solve(&r, l);
    dyn_contact_spread(h->choice.contact, W, l, 1, rates + requested);
    return rates;
}
