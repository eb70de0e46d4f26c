/* feed_forward.c - computes motions and torques of the motors of elastic joints that move the links along a given
 * motion.
 *
 * No actuator acts on the link's side of an elastic joint. Its row of the equation of motion is
 *
 *     tau_s + k (q - theta - rest) = 0,
 *
 * where tau_s contains everything but the spring. It does not depend on theta unless the joint moves a link that
 * carries the motor of an elastic joint; such models are refused. With ' for the time derivative along the motion,
 *
 *     theta = q - rest + tau_s / k,   theta' = q' + tau_s' / k,   theta'' = q'' + tau_s'' / k.
 *
 * tau_s and tau_s' are those of the motion on which every motor follows its joint, theta = q - rest: there the spring
 * is at rest. With the derivatives of inverse dynamics (dynamics.h) along that motion,
 *
 *     tau'  = dtau/dq q' + dtau/dqd q'' + M q''',
 *     tau'' = (dtau/dq)' q' + (dtau/dq + (dtau/dqd)') q'' + (dtau/dqd + M') q''' + M q''''.
 *
 * Inverse dynamics at theta, theta' and theta'' gives the torques of all motors. */
#include "api/lanes/evaluation.h"
#include "api/model/actuation.h"
#include <string.h>

enum { Q, QD, QDD, TAU };
enum { ORDERS = 5 /* q and its derivatives up to the fourth */ };

static const api_field order_field[ORDERS] = {API_Q, API_QD, API_QDD, API_QDDD, API_QDDDD};

/* --- options ------------------------------------------------------------------------------------------------------ */

static const char *elastic_joint(const api_model *m, const dyn_coupling *c)
{
    for (size_t i = 0; i < m->n_joints; i++)
        if (m->joints[i].elastic && m->dyn->body[m->joints[i].body].joint.v == c->v) return m->joints[i].name;
    return "";
}

/* True if coordinate v moves the link that carries the rotor of the motor coordinate v_theta. */
static bool carries(const dyn_model *m, int v, int v_theta)
{
    size_t rotor = m->n_bodies - 1; /* rotors are the last bodies */
    while (m->body[rotor].joint.v != v_theta)
        rotor--;
    for (int i = m->body[rotor].tree.parent; i != DYN_WORLD; i = m->body[i].tree.parent)
        if (m->body[i].joint.v == v) return true;
    return false;
}

static bool check_coupling(const api_query *q, const dyn_coupling *c)
{
    const api_model *m = q->model;
    if (c->spring.damping != 0)
        return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                        "elastic joint %s has damping: its motor's position depends on the past of the motion",
                        elastic_joint(m, c));
    for (size_t i = 0; i < m->dyn->n_couplings; i++)
        if (carries(m->dyn, c->v, m->dyn->coupling[i].v_theta))
            return api_fail(
                q->problem, API_NOT_SUPPORTED, NULL,
                "elastic joint %s moves the motor of elastic joint %s: its torque depends on derivatives of "
                "q up to the sixth, and only four are taken",
                elastic_joint(m, c), elastic_joint(m, &m->dyn->coupling[i]));
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    (void)selected, (void)given, (void)up;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "feed-forward is for models without loops, and %s has loops", q->model->name);
    for (size_t i = 0; i < q->model->dyn->n_couplings; i++)
        if (!check_coupling(q, &q->model->dyn->coupling[i])) return false;
    return true;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Scratch lanes of a block. */
typedef struct block_lanes {
    double *motion[ORDERS];              /* nq, then nv each: the motion on which every motor follows its joint */
    double *tau[3];                      /* nv each: tau and its first and second time derivatives along it */
    double *by_q, *by_qd, *by_qdd;       /* nv x nv: derivatives of tau */
    double *q_rate, *qd_rate, *qdd_rate; /* nv x nv: their time derivatives */
    double *next;                        /* for outputs that are not selected */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    const size_t nq = model->nq, nv = model->nv;
    return nq + (ORDERS - 1 + 3) * nv + 6 * nv * nv + api_missing_entries(model, selected, Q, TAU);
}

static double *take(double **next, size_t size)
{
    double *taken = *next;
    *next += size;
    return taken;
}

static block_lanes place(const api_evaluation *e)
{
    const size_t W = e->lanes, nq = e->model->nq * W, nv = e->model->nv * W, square = nv * e->model->nv;
    block_lanes  b = {.next = e->spare};
    for (size_t r = 0; r < ORDERS; r++)
        b.motion[r] = take(&b.next, r == 0 ? nq : nv);
    for (size_t r = 0; r < 3; r++)
        b.tau[r] = take(&b.next, nv);
    double **matrices[] = {&b.by_q, &b.by_qd, &b.by_qdd, &b.q_rate, &b.qd_rate, &b.qdd_rate};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = take(&b.next, square);
    return b;
}

/* Copies the given motion, and lets every motor follow its joint. */
static void let_motors_follow(const api_evaluation *e, const block_lanes *b, size_t block)
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes;
    for (size_t r = 0; r < ORDERS; r++) {
        const double *given = api_state_block(e, order_field[r], block);
        const size_t  bytes = (r == 0 ? e->model->nq : e->model->nv) * W * sizeof *given;
        if (given)
            memcpy(b->motion[r], given, bytes);
        else
            memset(b->motion[r], 0, bytes);
        for (size_t i = 0; i < m->n_couplings; i++) {
            const dyn_coupling *c = &m->coupling[i];
            const size_t joint = (size_t)(r == 0 ? c->q : c->v), motor = (size_t)(r == 0 ? c->theta : c->v_theta);
            for (size_t lane = 0; lane < W; lane++)
                b->motion[r][motor * W + lane] = b->motion[r][joint * W + lane] - (r == 0 ? c->spring.rest : 0);
        }
    }
}

/* Finds tau, tau', and the derivatives of tau with their rates. */
static void differentiate(const api_evaluation *e, const block_lanes *b, size_t block)
{
    double *const *x        = b->motion;
    const double  *wrenches = api_wrench_block(e, block);

    dyn_torque_derivative torques = {
        .q = x[0], .qd = x[1], .qdd = x[2], .qddd = x[3], .wrenches = wrenches, .tau = b->tau[0], .tau_dot = b->tau[1]};
    dyn_sensitivity      by    = {.q         = x[0],
                                  .qd        = x[1],
                                  .qdd       = x[2],
                                  .wrenches  = wrenches,
                                  .dtau_dq   = b->by_q,
                                  .dtau_dqd  = b->by_qd,
                                  .dtau_dqdd = b->by_qdd};
    dyn_sensitivity_rate rates = {.q             = x[0],
                                  .qd            = x[1],
                                  .qdd           = x[2],
                                  .qddd          = x[3],
                                  .wrenches      = wrenches,
                                  .dtau_dq_dot   = b->q_rate,
                                  .dtau_dqd_dot  = b->qd_rate,
                                  .dtau_dqdd_dot = b->qdd_rate};
    e->kernels->torque_derivative(&e->query->scene, e->workspace, &torques, 1);
    e->kernels->sensitivity(&e->query->scene, e->workspace, &by, 1);
    e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &rates, 1);
}

/* tau''(v) = sum_j (dtau/dq)'_vj q'_j + ... of the equation at the top, in every lane. */
static void find_second_rate(const api_evaluation *e, const block_lanes *b, size_t v)
{
    const size_t W = e->lanes, nv = e->model->nv;
    for (size_t lane = 0; lane < W; lane++) {
        double sum = 0;
        for (size_t j = 0; j < nv; j++) {
            const size_t at = (v * nv + j) * W + lane, x = j * W + lane;
            sum += b->q_rate[at] * b->motion[1][x] + (b->by_q[at] + b->qd_rate[at]) * b->motion[2][x] +
                   (b->by_qd[at] + b->qdd_rate[at]) * b->motion[3][x] + b->by_qdd[at] * b->motion[4][x];
        }
        b->tau[2][v * W + lane] = sum;
    }
}

/* Moves every motor away from its joint, by what the spring must transmit. */
static void load_springs(const api_evaluation *e, const block_lanes *b, double *const out[3])
{
    const dyn_model *m = e->query->scene.model;
    const size_t     W = e->lanes;
    for (size_t r = 0; r < 3; r++) {
        memcpy(out[r], b->motion[r], (r == 0 ? e->model->nq : e->model->nv) * W * sizeof(double));
        for (size_t i = 0; i < m->n_couplings; i++) {
            const dyn_coupling *c     = &m->coupling[i];
            const size_t        motor = (size_t)(r == 0 ? c->theta : c->v_theta);
            for (size_t lane = 0; lane < W; lane++)
                out[r][motor * W + lane] += b->tau[r][(size_t)c->v * W + lane] / c->spring.stiffness;
        }
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
    (void)blocks; /* always 1 */
    const dyn_model *m = e->query->scene.model;
    block_lanes      b = place(e);
    double          *out[3], *tau;
    for (size_t r = 0; r < 3; r++)
        out[r] = api_result_or_spare(e, selected, Q + r, block, &b.next);
    tau = api_result_or_spare(e, selected, TAU, block, &b.next);
    let_motors_follow(e, &b, block);
    differentiate(e, &b, block);
    for (size_t i = 0; i < m->n_couplings; i++)
        find_second_rate(e, &b, (size_t)m->coupling[i].v);
    load_springs(e, &b, out);
    find_torques(e, out, tau, block);
    return true;
}

const api_operation api_feed_forward = {
    .name  = "feed-forward",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_QDDDD) | API_BIT(API_GRAVITY) |
             API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[Q]   = {"q", true, {API_NQ}},
                      [QD]  = {"qd", true, {API_NV}},
                      [QDD] = {"qdd", true, {API_NV}},
                      [TAU] = {"tau", true, {API_NV}}},
    .one_by_one    = true,
    .weight        = 9,
    .square_weight = 1,
    .options       = options,
    .spare         = spare,
    .load          = API_LOAD_FRICTION,
    .evaluate      = evaluate,
};
