/* torque_rate_partials.c - see torque_rate_partials.h. */
#include "torque_rate_partials.h"
#include "dynamics/model/coordinates.h"

/* Adds the row y A of a joint's rotation to `to`; a is y's part of the velocity `u`, y A = u x a. */
static void add_cross_product(const double *u, const double *a, size_t W, double *to)
{
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3 * W, k = (i + 2) % 3 * W;
        to[i * W] += u[j] * a[k] - u[k] * a[j];
    }
}

/* Adds y A of all rows y of a joint in one lane. `first` is the joint's first velocity, `linear` the number of those
 * before its rotation. */
static void add_joint_brackets(const double *qd, const double *y, size_t rows, size_t nv, size_t W, size_t linear,
                               double *to)
{
    const double *w = qd + linear * W;
    for (size_t row = 0; row < rows; row++, y += nv * W, to += nv * W) {
        add_cross_product(w, y + linear * W, W, to + linear * W);
        if (linear == 0) continue;
        add_cross_product(w, y, W, to);
        add_cross_product(qd, y, W, to + linear * W);
    }
}

static void add_brackets(const api_evaluation *e, size_t block, size_t rows, const double *dtau_dq, double *to)
{
    const dyn_model *model = e->model->dyn;
    const double    *qd    = api_state_block(e, API_QD, block);
    const size_t     nv = e->model->nv, W = e->lanes;
    for (size_t i = 0; qd && i < model->n_bodies; i++) {
        const dyn_body *body = &model->body[i];
        if (!dyn_joint_has_quaternion(body->joint.kind)) continue;
        const size_t linear = (size_t)dyn_quaternion_offset(body);
        for (size_t lane = 0; lane < W; lane++) {
            const size_t at = (size_t)body->joint.v * W + lane;
            add_joint_brackets(qd + at, dtau_dq + at, rows, nv, W, linear, to + at);
        }
    }
}

void api_torque_rate_matrices(const api_evaluation *e, size_t block, const dyn_partials *rate)
{
    dyn_sensitivity_rate io = {
        .q             = api_state_block(e, API_Q, block),
        .qd            = api_state_block(e, API_QD, block),
        .qdd           = api_state_block(e, API_QDD, block),
        .qddd          = api_state_block(e, API_QDDD, block),
        .wrenches      = api_wrench_block(e, block),
        .dtau_dq_dot   = rate->by[0],
        .dtau_dqd_dot  = rate->by[1],
        .dtau_dqdd_dot = rate->by[2],
    };
    e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &io, 1);
}

void api_torque_rate_partials(const api_evaluation *e, size_t block, const dyn_partials *tau, dyn_partials *rate)
{
    const size_t n = rate->rows * e->model->nv * e->lanes;
    add_brackets(e, block, rate->rows, tau->by[0], rate->by[0]);
    for (size_t r = 1; r < 3; r++)
        for (size_t i = 0; i < n; i++)
            rate->by[r][i] += tau->by[r - 1][i];
    rate->by[3]  = tau->by[2];
    rate->orders = 4;
}
