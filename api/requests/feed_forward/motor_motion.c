/* motor_motion.c - computes motions of the motors of elastic joints: see motor_motion.h. */
#include "motor_motion.h"
#include <string.h>

static const api_field order_field[API_GIVEN_ORDERS + 1] = {API_Q, API_QD, API_QDD, API_QDDD, API_QDDDD};

size_t api_motor_lanes_entries(const api_model *model, const api_motor_orders *orders)
{
    const size_t order = orders->motion, motion = api_motion_entries(model, order);
    return orders->levels == 0 ? motion
                               : motion + (order - 1) * model->nv + dyn_torque_series_work(model->dyn, (int)order - 2);
}

static double *divide(double **next, size_t size)
{
    double *taken = *next;
    *next += size;
    return taken;
}

api_motor_lanes api_motor_lanes_place(const api_evaluation *e, const api_motor_orders *orders, double **next)
{
    const size_t    W = e->lanes, order = orders->motion;
    api_motor_lanes b = {.motion = divide(next, api_motion_entries(e->model, order) * W)};
    if (orders->levels == 0) return b;
    b.residual = divide(next, (order - 1) * e->model->nv * W);
    b.work     = divide(next, dyn_torque_series_work(e->model->dyn, (int)order - 2) * W);
    return b;
}

/* Returns the lanes of the motor's derivative of this order. */
static double *motor_lanes(const api_evaluation *e, const api_motor_lanes *b, const dyn_coupling *c, size_t order)
{
    return api_motor_derivative(e, b, order) + (size_t)(order == 0 ? c->theta : c->v_theta) * e->lanes;
}

/* Copies the given motion, and lets every motor follow its joint, except for given positions. */
static void let_motors_follow(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b,
                              size_t block)
{
    const dyn_model *model = e->query->scene.model;
    const size_t     W     = e->lanes;
    for (size_t r = 0; r <= m->orders.motion; r++) {
        const double *field =
            r <= API_GIVEN_ORDERS ? api_state_block(e, order_field[r], block) : api_higher_block(e, r, block);
        const size_t bytes = (r == 0 ? e->model->nq : e->model->nv) * W * sizeof *field;
        double      *x     = api_motor_derivative(e, b, r);
        if (field)
            memcpy(x, field, bytes);
        else
            memset(x, 0, bytes);
        for (size_t i = 0; i < model->n_couplings; i++) {
            const dyn_coupling *c = &model->coupling[i];
            if (r == 0 && m->positions_given && c->spring.damping != 0) continue;
            memcpy(motor_lanes(e, b, c, r), x + (size_t)(r == 0 ? c->q : c->v) * W, W * sizeof *x);
        }
    }
}

/* Returns the residual of order r in the row of an elastic joint. */
static double *residual_lanes(const api_evaluation *e, const api_motor_lanes *b, const dyn_coupling *c, size_t r)
{
    return b->residual + (r * e->model->nv + (size_t)c->v) * e->lanes;
}

/* Adds the correction delta (motor_motion.h) of a joint without a damper to the motor's motion up to derivative
 * `order`. */
static void load_spring(const api_evaluation *e, const api_motor_lanes *b, const dyn_coupling *c, size_t order)
{
    for (size_t r = 0; r <= order; r++) {
        const double *residual = residual_lanes(e, b, c, r);
        double       *x        = motor_lanes(e, b, c, r);
        for (size_t lane = 0; lane < e->lanes; lane++)
            x[lane] += residual[lane] / c->spring.stiffness;
    }
}

/* Adds the correction delta (motor_motion.h) of a joint with a damper and a given position of its motor: d delta^(r+1)
 * = residual^(r) - k delta^(r). The residuals become the deltas of the next order. */
static void load_damped_spring(const api_evaluation *e, const api_motor_lanes *b, const dyn_coupling *c, size_t order)
{
    for (size_t r = 0; r <= order; r++) {
        double       *delta = residual_lanes(e, b, c, r), *x = motor_lanes(e, b, c, r + 1);
        const double *below = r > 0 ? residual_lanes(e, b, c, r - 1) : NULL;
        for (size_t lane = 0; lane < e->lanes; lane++) {
            delta[lane] = (delta[lane] - (below ? c->spring.stiffness * below[lane] : 0)) / c->spring.damping;
            x[lane] += delta[lane];
        }
    }
}

/* Returns the numbers of a state in the series of joint i. Padding states get those of the last state. */
static double *series_of(const api_evaluation *e, const api_motor_motion *m, size_t i, size_t state)
{
    const size_t last = api_states(e->query) - 1;
    return m->series[i] + (state < last ? state : last) * (m->orders.joint[i].motion + 1);
}

/* Adds the correction delta of joint i, read from its series, to the motor's motion. */
static void load_integrated_spring(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b,
                                   size_t i, size_t block)
{
    for (size_t r = 0; r <= m->orders.joint[i].motion; r++) {
        double *x = motor_lanes(e, b, &e->query->scene.model->coupling[i], r);
        for (size_t lane = 0; lane < e->lanes; lane++)
            x[lane] += series_of(e, m, i, block * e->lanes + lane)[r];
    }
}

static void store_residuals(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t i,
                            size_t block)
{
    const size_t states = api_states(e->query);
    for (size_t r = 0; r <= m->orders.joint[i].motion; r++) {
        const double *residual = residual_lanes(e, b, &e->query->scene.model->coupling[i], r);
        for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < states; lane++)
            series_of(e, m, i, block * e->lanes + lane)[r] = residual[lane];
    }
}

/* Corrects the motors in the pass of one level (motor_motion.h). */
static void load_springs(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t level,
                         size_t block)
{
    const dyn_model *model = e->query->scene.model;
    for (size_t i = 0; i < model->n_couplings; i++) {
        const dyn_coupling *c = &model->coupling[i];
        if (c->spring.damping == 0)
            load_spring(e, b, c, m->orders.pass[level]);
        else if (m->orders.joint[i].level != level)
            continue;
        else if (m->series)
            load_integrated_spring(e, m, b, i, block);
        else
            load_damped_spring(e, b, c, m->orders.joint[i].load);
    }
}

/* Computes the residuals of the joints up to a level (motor_motion.h). */
static void find_residuals(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t level,
                           size_t block)
{
    dyn_torque_series io = {.order    = (int)m->orders.pass[level],
                            .motion   = b->motion,
                            .wrenches = api_wrench_block(e, block),
                            .tau      = b->residual,
                            .work     = b->work};
    e->kernels->torque_series(&e->query->scene, e->workspace, &io, 1);
}

void api_motor_motion_find(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t block)
{
    let_motors_follow(e, m, b, block);
    for (size_t level = 1; level <= m->orders.levels; level++) {
        if (!m->all_integrated) find_residuals(e, m, b, level, block);
        load_springs(e, m, b, level, block);
    }
}

void api_motor_motion_load(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t level,
                           size_t block)
{
    const dyn_model *model = e->query->scene.model;
    let_motors_follow(e, m, b, block);
    for (size_t below = 1; below < level; below++) {
        if (!m->all_integrated) find_residuals(e, m, b, below, block);
        load_springs(e, m, b, below, block);
    }
    find_residuals(e, m, b, level, block);
    for (size_t i = 0; i < model->n_couplings; i++)
        if (model->coupling[i].spring.damping != 0 && m->orders.joint[i].level == level)
            store_residuals(e, m, b, i, block);
}
