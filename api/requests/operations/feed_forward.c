/* feed_forward.c - computes motions and torques of the motors of elastic joints that move the links along a given
 * motion.
 *
 * No actuator acts on the link's side of an elastic joint. Its row of the equation of motion is
 *
 *     tau_s + k (q - theta - rest) = 0,    theta^(r) = q^(r) - rest + tau_s^(r) / k
 *
 * for the derivative of order r, where tau_s contains everything but the spring. If the joint moves no link that
 * carries the motor of an elastic joint, tau_s does not depend on theta: its level is 1. Otherwise tau_s contains the
 * accelerations of these motors, and the level of the joint is 1 + the highest level of theirs (De Luca & Book 2016).
 * theta'' of a joint of level n depends on derivatives of q up to the order 2 + 2 n.
 *
 * All motors first follow their joints, theta = q. The residual of the row, divided by k, is then added to theta
 * once for each level: after pass n the motors of the joints up to level n move as they must. The derivatives of the
 * residual are those of torque_series.h. Inverse dynamics at theta, theta' and theta'' gives the torques of all motors.
 */
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/actuation.h"
#include "api/requests/fields/fields.h"
#include "dynamics/torque_series.h"
#include <string.h>

enum { Q, QD, QDD, TAU };
enum { GIVEN = 4 /* q and its derivatives up to this order are fields of their own */ };
enum { MAX_LEVEL = (DYN_MAX_DERIVATIVE - 2) / 2 };

_Static_assert(API_MAX_HIGHER == DYN_MAX_DERIVATIVE - GIVEN, "requests give all derivatives that the kernel takes");

static const api_field order_field[GIVEN + 1] = {API_Q, API_QD, API_QDD, API_QDDD, API_QDDDD};

/* --- options ------------------------------------------------------------------------------------------------------ */

typedef struct feed_forward_options {
    size_t              levels;  /* highest level of an elastic joint; 0: there are none */
    const dyn_coupling *highest; /* the first joint of this level; NULL: there is none */
} feed_forward_options;

static size_t levels_of(const api_selection *selected)
{
    return ((const feed_forward_options *)selected->options)->levels;
}

/* Returns the order of the highest derivative of q that the torques depend on. */
static size_t order_of(size_t levels)
{
    return 2 + 2 * levels;
}

static const char *elastic_joint(const api_model *m, const dyn_coupling *c)
{
    for (size_t i = 0; i < m->n_joints; i++)
        if (m->joints[i].elastic && m->dyn->body[m->joints[i].body].joint.v == c->v) return m->joints[i].name;
    return "";
}

/* Returns the index of the coupling whose joint, or whose motor, has the velocity coordinate v; n_couplings if there is
 * none.
 */
static size_t coupling_of(const dyn_model *m, int v, bool motor)
{
    size_t i = 0;
    while (i < m->n_couplings && (motor ? m->coupling[i].v_theta : m->coupling[i].v) != v)
        i++;
    return i;
}

/* Raises the levels of the joints that move the rotor of coupling `motor` above its own. True if a level has changed.
 */
static bool raise_levels(const dyn_model *m, const dyn_body *rotor, size_t motor, size_t *level)
{
    bool changed = false;
    for (int i = rotor->tree.parent; i != DYN_WORLD; i = m->body[i].tree.parent) {
        const size_t moved_by = coupling_of(m, m->body[i].joint.v, false);
        if (moved_by == m->n_couplings || level[moved_by] > level[motor]) continue;
        level[moved_by] = level[motor] + 1;
        changed         = true;
    }
    return changed;
}

/* Sets the level of every coupling. Levels grow with each round until they are right. If motors move each other's
 * joints in a circle, levels grow beyond MAX_LEVEL. */
static void set_levels(const dyn_model *m, size_t *level)
{
    bool changed = true;
    for (size_t i = 0; i < m->n_couplings; i++)
        level[i] = 1;
    for (size_t round = 0; changed && round <= MAX_LEVEL; round++) {
        changed = false;
        for (size_t i = m->n_bodies; i-- > 0 && m->body[i].joint.is_rotor;) { /* rotors are the last bodies */
            const size_t motor = coupling_of(m, m->body[i].joint.v, true);
            if (motor < m->n_couplings && raise_levels(m, &m->body[i], motor, level)) changed = true;
        }
    }
}

static bool check_damping(const api_query *q, const dyn_coupling *c)
{
    return c->spring.damping == 0 ||
           api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "elastic joint %s has damping: its motor's position depends on the past of the motion",
                    elastic_joint(q->model, c));
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    (void)given, (void)up;
    const dyn_model *m = q->model->dyn;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "feed-forward is for models without loops, and %s has loops", q->model->name);
    feed_forward_options *o     = api_take(q->pool, sizeof *o);
    size_t               *level = api_take(q->pool, (m->n_couplings + 1) * sizeof *level);
    if (!o || !level) return false;
    set_levels(m, level);
    *o                = (feed_forward_options){0};
    selected->options = o;
    for (size_t i = 0; i < m->n_couplings; i++) {
        if (!check_damping(q, &m->coupling[i])) return false;
        if (level[i] > o->levels) *o = (feed_forward_options){level[i], &m->coupling[i]};
    }
    return o->levels <= MAX_LEVEL ||
           api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "elastic joint %s moves motors of elastic joints: its torque depends on derivatives of q of "
                    "orders above %d, the highest that is taken",
                    elastic_joint(q->model, o->highest), DYN_MAX_DERIVATIVE);
}

/* Checks that the request gives all derivatives of q that the torques depend on. Those up to the fourth are zero if
 * they are missing. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    const feed_forward_options *o     = selected->options;
    const size_t                given = GIVEN + plan->query->n_higher;
    return given >= order_of(o->levels) ||
           api_fail(plan->query->problem, API_MISSING_FIELD, "/higher_derivatives",
                    "elastic joint %s moves motors of elastic joints: its torque depends on derivatives of q up to "
                    "order %zu, and order %zu is missing",
                    elastic_joint(plan->query->model, o->highest), order_of(o->levels), given + 1);
}

/* Returns the seconds of the passes of chains of elastic joints, before the last pass, which the weight covers. A pass
 * over series of n terms takes 1.5 n + 0.3 n^2 as long as inverse dynamics. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    double passes = 0;
    for (size_t level = 1; level < levels_of(selected); level++) {
        const double n = (double)order_of(level) + 3;
        passes += 1.5 * n + 0.3 * n * n;
    }
    return passes * (double)api_states(q) * (double)q->model->dyn->n_bodies * q->call->api->calibration.body;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Returns the entries per state of q and its derivatives up to an order. */
static size_t motion_entries(const api_model *model, size_t order)
{
    return model->nq + order * model->nv;
}

/* Scratch lanes of a block. */
typedef struct block_lanes {
    double *motion;   /* q, qd, qdd, ... up to the order that the torques depend on */
    double *residual; /* nv each: tau and its derivatives; residuals in the rows of elastic joints */
    double *work;     /* scratch of the kernel */
    double *next;     /* for outputs that are not selected */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    const size_t levels = levels_of(selected), order = order_of(levels);
    const size_t series = levels > 0 ? (order - 1) * model->nv + dyn_torque_series_work(model->dyn, (int)order - 2) : 0;
    return motion_entries(model, order) + series + api_missing_entries(model, selected, Q, TAU);
}

static double *take(double **next, size_t size)
{
    double *taken = *next;
    *next += size;
    return taken;
}

static block_lanes place(const api_evaluation *e, size_t levels)
{
    const size_t W = e->lanes, order = order_of(levels);
    block_lanes  b = {.next = e->spare};
    b.motion       = take(&b.next, motion_entries(e->model, order) * W);
    if (levels == 0) return b;
    b.residual = take(&b.next, (order - 1) * e->model->nv * W);
    b.work     = take(&b.next, dyn_torque_series_work(e->model->dyn, (int)order - 2) * W);
    return b;
}

/* Returns the derivative of q of this order, of all coordinates. */
static double *derivative(const api_evaluation *e, const block_lanes *b, size_t order)
{
    return b->motion + (order > 0 ? motion_entries(e->model, order - 1) : 0) * e->lanes;
}

/* Copies the given motion, and lets every motor follow its joint. */
static void let_motors_follow(const api_evaluation *e, const block_lanes *b, size_t highest, size_t block)
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes;
    for (size_t r = 0; r <= highest; r++) {
        const double *given = r <= GIVEN ? api_state_block(e, order_field[r], block) : api_higher_block(e, r, block);
        const size_t  bytes = (r == 0 ? e->model->nq : e->model->nv) * W * sizeof *given;
        double       *x     = derivative(e, b, r);
        if (given)
            memcpy(x, given, bytes);
        else
            memset(x, 0, bytes);
        for (size_t i = 0; i < m->n_couplings; i++) {
            const dyn_coupling *c = &m->coupling[i];
            const size_t joint = (size_t)(r == 0 ? c->q : c->v), motor = (size_t)(r == 0 ? c->theta : c->v_theta);
            for (size_t lane = 0; lane < W; lane++)
                x[motor * W + lane] = x[joint * W + lane];
        }
    }
}

/* Adds the residual to the motors' motion: theta^(r) += tau^(r) / k for all orders r up to `order`. */
static void load_springs(const api_evaluation *e, const block_lanes *b, size_t order)
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes, nv = e->model->nv;
    for (size_t r = 0; r <= order; r++) {
        const double *tau = b->residual + r * nv * W;
        double       *x   = derivative(e, b, r);
        for (size_t i = 0; i < m->n_couplings; i++) {
            const dyn_coupling *c     = &m->coupling[i];
            const size_t        motor = (size_t)(r == 0 ? c->theta : c->v_theta);
            for (size_t lane = 0; lane < W; lane++)
                x[motor * W + lane] += tau[(size_t)c->v * W + lane] / c->spring.stiffness;
        }
    }
}

/* Finds the motion of all motors, level by level. A level needs two derivatives of theta more than the level above. */
static void move_motors(const api_evaluation *e, const block_lanes *b, size_t levels, size_t block)
{
    for (size_t level = 1; level <= levels; level++) {
        const size_t      order = order_of(levels - level);
        dyn_torque_series io    = {.order    = (int)order,
                                   .motion   = b->motion,
                                   .wrenches = api_wrench_block(e, block),
                                   .tau      = b->residual,
                                   .work     = b->work};
        e->kernels->torque_series(&e->query->scene, e->workspace, &io, 1);
        load_springs(e, b, order);
    }
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

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const size_t levels = levels_of(selected);
    block_lanes  b      = place(e, levels);
    double      *out[3], *tau;
    for (size_t r = 0; r < 3; r++)
        out[r] = api_result_or_spare(e, selected, Q + r, block, &b.next);
    tau = api_result_or_spare(e, selected, TAU, block, &b.next);
    let_motors_follow(e, &b, order_of(levels), block);
    move_motors(e, &b, levels, block);
    for (size_t r = 0; r < 3; r++)
        memcpy(out[r], derivative(e, &b, r), (r == 0 ? e->model->nq : e->model->nv) * e->lanes * sizeof *out[r]);
    find_torques(e, out, tau, block);
    return true;
}

const api_operation api_feed_forward = {
    .name       = "feed-forward",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_QDDDD) |
             API_BIT(API_HIGHER_DERIVATIVES) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs         = {[Q]   = {"q", true, {API_NQ}},
                        [QD]  = {"qd", true, {API_NV}},
                        [QDD] = {"qdd", true, {API_NV}},
                        [TAU] = {"tau", true, {API_NV}}},
    .one_by_one      = true,
    .weight          = 27,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .load_in_trees   = true,
    .evaluate        = evaluate,
};
