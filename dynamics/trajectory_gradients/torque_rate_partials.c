/* torque_rate_partials.c - completes the partial derivatives of tau_dot (torque_rate_partials.h). */
#include "torque_rate_partials.h"
#include "dynamics/model/coordinates.h"

/* Adds u x a to `to`, in one lane: the part of y A at a joint's rotation that comes from a, the angular or linear part
 * of the row y, and the corresponding part u of the joint's velocity. */
static void add_cross_product(const double *u, const double *a, size_t W, double *to)
{
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3 * W, k = (i + 2) % 3 * W;
        to[i * W] += u[j] * a[k] - u[k] * a[j];
    }
}

/* Adds y A (torque_rate_partials.h) of all rows y at one joint in one lane. Pointers are at the joint's first velocity;
 * `linear` is the number of velocities before the angular ones. */
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

static void add_brackets(const dyn_motion_block *b, const double *qd, size_t rows, const double *dtau_dq, double *to)
{
    const dyn_model *model = b->motion->robot.tree;
    const size_t     nv = b->motion->robot.nv, W = b->W;
    for (size_t i = 0; i < model->n_bodies; i++) {
        const dyn_body *body = &model->body[i];
        if (!dyn_joint_has_quaternion(body->joint.kind)) continue;
        const size_t linear = (size_t)dyn_quaternion_offset(body);
        for (size_t lane = 0; lane < W; lane++) {
            const size_t first = (size_t)body->joint.v * W + lane;
            add_joint_brackets(qd + first, dtau_dq + first, rows, nv, W, linear, to + first);
        }
    }
}

void dyn_torque_rate_partials(const dyn_motion_block *b, const double *qd, const dyn_partials *tau, dyn_partials *rate)
{
    const size_t n = rate->rows * b->motion->robot.nv * b->W;
    add_brackets(b, qd, rate->rows, tau->by[0], rate->by[0]);
    for (size_t r = 1; r < 3; r++)
        for (size_t i = 0; i < n; i++)
            rate->by[r][i] += tau->by[r - 1][i];
    rate->by[3]  = tau->by[2];
    rate->orders = 4;
}
