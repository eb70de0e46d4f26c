/* margin_lanes.c - see margin_lanes.h. With ' for the time derivative along the motion (dynamics.h),
 *
 *     dtau'/dq = (dtau/dq)',  dtau'/dqd = (dtau/dqd)' + dtau/dq,  dtau'/dqdd = (dtau/dqdd)' + dtau/dqd,  dtau'/dqddd =
 * M. */
#include "margin_lanes.h"

static size_t efforts_of(const api_model *model, const api_limited_joints *o)
{
    return model->nv + o->followers.n;
}

size_t api_margin_lanes_entries(const api_model *model, const api_limited_joints *o)
{
    return api_mimics_room(&o->followers, true) + api_limited_rates_entries(model) +
           efforts_of(model, o) * (2 + 6 * model->nv);
}

api_margin_lanes api_margin_lanes_place(const api_evaluation *e, const api_limited_joints *o)
{
    const size_t     W = e->lanes, n = efforts_of(e->model, o) * W, rows = n * e->model->nv;
    api_margin_lanes b = {.follower_room = e->spare};
    b.motion_room      = b.follower_room + api_mimics_room(&o->followers, true) * W;
    b.tau              = b.motion_room + api_limited_rates_entries(e->model) * W;
    b.tau_dot          = b.tau + n;
    b.by_q             = b.tau_dot + n;
    b.by_qd            = b.by_q + rows;
    b.by_qdd           = b.by_qd + rows;
    b.q_rate           = b.by_qdd + rows;
    b.qd_rate          = b.q_rate + rows;
    b.qdd_rate         = b.qd_rate + rows;
    return b;
}

/* Returns the motion of a block, without outputs. */
static dyn_torque_derivative motion_of(const api_evaluation *e, size_t block)
{
    return (dyn_torque_derivative){.q        = api_state_block(e, API_Q, block),
                                   .qd       = api_state_block(e, API_QD, block),
                                   .qdd      = api_state_block(e, API_QDD, block),
                                   .qddd     = api_state_block(e, API_QDDD, block),
                                   .wrenches = api_wrench_block(e, block)};
}

void api_margin_lanes_find(const api_evaluation *e, const api_limited_joints *o, api_margin_lanes *b, size_t block)
{
    const api_mimic_block followers = api_mimic_block_of(e, &o->followers, b->follower_room);
    const bool            rates     = api_limits_have(&o->limits, DYN_LIMIT_EFFORT_RATE);
    dyn_torque_derivative io        = motion_of(e, block);
    dyn_inverse_dynamics  still     = {.q = io.q, .qd = io.qd, .qdd = io.qdd, .wrenches = io.wrenches, .tau = b->tau};
    double               *behind    = b->tau_dot + e->model->nv * e->lanes;
    io.tau                          = b->tau;
    io.tau_dot                      = b->tau_dot;
    if (rates)
        e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    else if (api_limits_bound_efforts(&o->limits))
        e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &still, 1);
    if (o->followers.n > 0) api_mimic_efforts(&followers, &io, b->tau + e->model->nv * e->lanes, rates ? behind : NULL);
    api_limited_quantities(e, block, b->of);
    b->of[DYN_LIMIT_EFFORT]       = b->tau;
    b->of[DYN_LIMIT_EFFORT_RATE]  = b->tau_dot;
    b->of[DYN_LIMIT_EFFORT_SPEED] = b->tau;
}

/* Finds the derivatives of the efforts of mimic joints, and their time derivatives. */
static void differentiate_followers(const api_evaluation *e, const api_limited_joints *o, const api_margin_lanes *b,
                                    size_t block)
{
    const size_t                first      = e->model->nv * e->model->nv * e->lanes;
    const dyn_torque_derivative motion     = motion_of(e, block);
    const api_mimic_block       means      = api_mimic_block_of(e, &o->followers, b->follower_room);
    double *const               partials[] = {b->by_q + first, b->by_qd + first, b->by_qdd + first};
    double *const               rate[]     = {b->q_rate + first, b->qd_rate + first, b->qdd_rate + first};
    if (o->followers.n > 0)
        api_mimic_sensitivity(&means, &motion, partials,
                              api_limits_have(&o->limits, DYN_LIMIT_EFFORT_RATE) ? rate : NULL);
}

void api_margin_lanes_differentiate(const api_evaluation *e, const api_limited_joints *o, api_margin_lanes *b,
                                    size_t block)
{
    const bool           rates = api_limits_have(&o->limits, DYN_LIMIT_EFFORT_RATE);
    dyn_sensitivity      io    = {.q         = api_state_block(e, API_Q, block),
                                  .qd        = api_state_block(e, API_QD, block),
                                  .qdd       = api_state_block(e, API_QDD, block),
                                  .wrenches  = api_wrench_block(e, block),
                                  .dtau_dq   = b->by_q,
                                  .dtau_dqd  = b->by_qd,
                                  .dtau_dqdd = b->by_qdd};
    dyn_sensitivity_rate rate  = {.q             = io.q,
                                  .qd            = io.qd,
                                  .qdd           = io.qdd,
                                  .qddd          = api_state_block(e, API_QDDD, block),
                                  .wrenches      = io.wrenches,
                                  .dtau_dq_dot   = b->q_rate,
                                  .dtau_dqd_dot  = b->qd_rate,
                                  .dtau_dqdd_dot = b->qdd_rate};
    api_limited_rates_find(e, block, b->motion_room, &b->motion);
    if (!rates && !api_limits_bound_efforts(&o->limits)) return;
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
    if (rates) e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &rate, 1);
    differentiate_followers(e, o, b, block);
}

/* Returns an entry of the derivatives of tau or its rate with respect to q, qd, qdd or qddd (`variable` 0 to 3). */
static double effort_slope(const api_margin_lanes *b, dyn_limit_kind kind, int variable, size_t entry)
{
    if (kind != DYN_LIMIT_EFFORT_RATE)
        return variable == 0 ? b->by_q[entry] : variable == 1 ? b->by_qd[entry] : variable == 2 ? b->by_qdd[entry] : 0;
    return variable == 0   ? b->q_rate[entry]
           : variable == 1 ? b->qd_rate[entry] + b->by_q[entry]
           : variable == 2 ? b->qdd_rate[entry] + b->by_qd[entry]
                           : b->by_qdd[entry];
}

/* Returns entry v of the gradient of a limited quantity. */
static double quantity_slope(const api_evaluation *e, const dyn_limit *l, const api_margin_lanes *b, int variable,
                             size_t v, size_t lane)
{
    double sum = 0;
    if (dyn_limit_is_of_motion(l->kind)) return dyn_limit_slope(l, &b->motion, variable, v, lane);
    for (size_t j = 0; j < l->n; j++) {
        const double s = effort_slope(b, l->kind, variable, (l->entry[j] * e->model->nv + v) * e->lanes + lane);
        sum            = j == 0 ? l->weight[j] * s : sum + l->weight[j] * s;
    }
    return sum;
}

double api_margin_slope(const api_evaluation *e, const api_margin_lanes *b, const api_limit_place *l, int variable,
                        size_t v)
{
    const double slope  = quantity_slope(e, l->limit, b, variable, v, l->lane),
                 nearer = l->margin.side > 0 ? slope : 0 - slope;
    if (l->margin.speed_side == 0) return nearer;
    const dyn_limit speed = dyn_limit_speed(l->limit);
    return nearer + l->margin.speed_side * dyn_limit_slope(&speed, &b->motion, variable, v, l->lane);
}
