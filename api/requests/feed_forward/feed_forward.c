/* feed_forward.c - computes motions and torques of the motors of elastic joints that move the links along a given
 * motion.
 *
 * The motion of the links determines the motion of a motor whose spring has no damper: theta'' of a joint of level n
 * (motor_orders.h) depends on derivatives of q up to the order 2 + 2 n (De Luca & Book 2016). With a damper the motor's
 * position is a state of its own: it is given for every row, or the rows are instants of one motion, along which it is
 * integrated. Inverse dynamics at theta, theta' and theta'' gives the torques of all motors.
 *
 * If motors are integrated, the evaluation of the blocks only computes the efforts tau_s at the elastic joints of the
 * lowest level with a damper (motor_orders.h). `finish` integrates the motors level by level, and then computes the
 * results of all states.
 */
#include "api/requests/lanes/failed_rows.h"
#include "damped_joints.h"
#include <string.h>

enum { Q, QD, QDD, TAU, QDD_ERRORS };

_Static_assert(API_MAX_HIGHER == DYN_MAX_DERIVATIVE - API_GIVEN_ORDERS,
               "requests give all derivatives that the kernel takes");

typedef struct feed_forward_options {
    api_motor_motion  motion;
    api_damped_joints damped;
} feed_forward_options;

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "feed-forward is for models without loops, and %s has loops", q->model->name);
    feed_forward_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (feed_forward_options){0};
    if (!api_damped_joints_read(q, given, up, &o->damped) ||
        !api_motor_orders_find(q, o->damped.integrated, &o->motion.orders))
        return false;
    o->motion.positions_given = o->damped.positions_given && !o->damped.integrated;
    selected->all_in_lanes    = o->damped.integrated;
    if (o->damped.times && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(QDD_ERRORS);
    return o->damped.times || !(selected->outputs & API_BIT(QDD_ERRORS)) ||
           api_fail_output(q, selected, QDD_ERRORS, given, up, "qdd_errors are of an integration: give times");
}

/* Checks that the request gives all derivatives of q that the torques depend on. Those up to the fourth are zero if
 * they are missing. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    feed_forward_options   *o            = selected->options;
    const api_motor_orders *orders       = &o->motion.orders;
    const size_t            orders_given = API_GIVEN_ORDERS + plan->query->n_higher;
    if (orders_given < orders->motion)
        return api_fail(plan->query->problem, API_MISSING_FIELD, "/higher_derivatives",
                        "elastic joint %s moves motors of elastic joints: its torque depends on derivatives of q up to "
                        "order %zu, and order %zu is missing",
                        api_elastic_joint(plan->query->model, orders->highest), orders->motion, orders_given + 1);
    return api_damped_joints_open(plan->query, &o->damped, &o->motion);
}

/* Returns the time of one pass (motor_motion.h) in units of inverse dynamics. The kernel computes with truncated power
 * series in time; with n terms it takes 1.5 n + 0.3 n^2 times as long. */
static double pass_weight(const api_motor_orders *orders, size_t level)
{
    const double n = (double)orders->pass[level] + 3;
    return 1.5 * n + 0.3 * n * n;
}

/* Returns the seconds of all passes but the last, which the weight covers, and of computing tau_s of the joints that
 * are integrated. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const feed_forward_options *o      = selected->options;
    double                      passes = 0, below = 0;
    for (size_t level = 1; level <= o->motion.orders.levels; level++) {
        const double weight = pass_weight(&o->motion.orders, level);
        if (level < o->motion.orders.levels) passes += weight;
        below += weight;
        if (o->damped.integrated) passes += below;
    }
    return passes * (double)api_states(q) * (double)q->model->dyn->n_bodies * q->call->api->calibration.body;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    const feed_forward_options *o = selected->options;
    return api_motor_lanes_entries(model, &o->motion.orders) + api_missing_entries(model, selected, Q, TAU);
}

/* Computes the torques; those at the links' sides of elastic joints, zero up to rounding, become zero. */
static void find_torques(const api_evaluation *e, double *const out[3], double *tau, size_t block)
{
    const dyn_model     *m  = e->query->scene.model;
    dyn_inverse_dynamics io = {
        .q = out[0], .qd = out[1], .qdd = out[2], .wrenches = api_wrench_block(e, block), .tau = tau};
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &io, 1);
    for (size_t i = 0; i < m->n_couplings; i++)
        memset(tau + (size_t)m->coupling[i].v * e->lanes, 0, e->lanes * sizeof *tau);
}

/* Computes the results of a block. */
static void find_results(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const feed_forward_options *o    = selected->options;
    double                     *next = e->spare, *out[3], *tau;
    const api_motor_lanes       b    = api_motor_lanes_place(e, &o->motion.orders, &next);
    for (size_t r = 0; r < 3; r++)
        out[r] = api_result_or_spare(e, selected, Q + r, block, &next);
    tau = api_result_or_spare(e, selected, TAU, block, &next);
    api_motor_motion_find(e, &o->motion, &b, block);
    for (size_t r = 0; r < 3; r++)
        memcpy(out[r], api_motor_derivative(e, &b, r),
               (r == 0 ? e->model->nq : e->model->nv) * e->lanes * sizeof *out[r]);
    find_torques(e, out, tau, block);
}

/* Computes tau_s of the elastic joints of one level (motor_orders.h) for a block, as input of the integration. */
static void find_loads(const api_evaluation *e, const api_selection *selected, size_t level, size_t block)
{
    const feed_forward_options *o    = selected->options;
    double                     *next = e->spare;
    const api_motor_lanes       b    = api_motor_lanes_place(e, &o->motion.orders, &next);
    api_motor_motion_load(e, &o->motion, &b, level, block);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const feed_forward_options *o      = selected->options;
    double                     *errors = api_result_block(e, selected, QDD_ERRORS, block);
    if (errors) memset(errors, 0, e->model->nv * e->lanes * sizeof *errors);
    if (o->damped.integrated)
        find_loads(e, selected, api_damped_level(e->query, &o->motion.orders, 1), block);
    else
        find_results(e, selected, block);
    return true;
}

/* Computes tau_s of the elastic joints of one level (motor_orders.h) for all states, block by block. False with
 * e->problem: the deadline has passed. */
static bool load_level(const api_evaluation *e, const api_selection *selected, size_t level)
{
    for (size_t block = 0; block < e->plan->blocks; block++) {
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        find_loads(e, selected, level, block);
    }
    return true;
}

static bool finish(const api_evaluation *e, const api_selection *selected)
{
    const feed_forward_options *o = selected->options;
    if (!o->damped.integrated) return true;
    api_evaluation again           = *e;
    again.spare                    = e->spares[selected - e->query->selected];
    const api_motor_orders *all    = &o->motion.orders;
    const size_t            lowest = api_damped_level(e->query, all, 1);
    for (size_t level = lowest; level <= all->levels; level = api_damped_level(e->query, all, level + 1))
        if ((level > lowest && !load_level(&again, selected, level)) ||
            !api_damped_joints_integrate(&again, &o->damped, &o->motion, level, selected->result[QDD_ERRORS]))
            return false;
    for (size_t block = 0; block < e->plan->blocks; block++) {
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        find_results(&again, selected, block);
    }
    return true;
}

const api_operation api_feed_forward = {
    .name       = "feed-forward",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_QDDDD) |
             API_BIT(API_HIGHER_DERIVATIVES) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_TIMES) | API_BIT(API_MOTOR_POSITIONS) |
             API_BIT(API_OUTPUTS),
    .outputs         = {[Q]          = {"q", true, {API_NQ}},
                        [QD]         = {"qd", true, {API_NV}},
                        [QDD]        = {"qdd", true, {API_NV}},
                        [TAU]        = {"tau", true, {API_NV}},
                        [QDD_ERRORS] = {"qdd_errors", false, {API_NV}}},
    .one_by_one      = true,
    .weight          = 27,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .load_in_trees   = true,
    .evaluate        = evaluate,
    .finish          = finish,
    .unordered       = true,
};
