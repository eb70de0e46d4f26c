/* trajectory.c - compute the dynamics along joint motions, with gradients by the control points and the duration.
 *
 * With x_r the r-th derivative of q (x_0 = q), b_rk of motion.h and T the duration, the chain rule (Barman 2020, eq.
 * 4.15) is
 *
 *     d tau / d c_k = sum_r b_rk d tau / d x_r, d tau / dT = -1/T sum_r r (d tau / d x_r) x_r
 *
 * the latter at a constant fraction of the motion, where x_r is proportional to T^-r. The partial derivatives of
 * tau_dot are those of dyn_sensitivity_rate (dynamics.h). Wrenches that change with time add the terms of
 * wrench_rate_terms.h. */
#include "api/evaluate/loop_evaluation.h"
#include "api/request/operation.h"
#include "motion.h"
#include "wrench_rate_terms.h"
#include <string.h>

enum {
    TIMES,
    Q,
    QD,
    QDD,
    QDDD,
    TAU,
    TAU_DOT,
    JOINT_WRENCHES,
    FIRST_CONTROL_POINT,
    BASIS,
    DTAU_DPOINTS,
    DTAU_DDURATION,
    DTAU_DOT_DPOINTS,
    DTAU_DOT_DDURATION,
    D_JOINT_WRENCHES_DPOINTS,
    D_JOINT_WRENCHES_DDURATION
};

#define OF_TAU      (API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DDURATION))
#define OF_TAU_DOT  (API_BIT(DTAU_DOT_DPOINTS) | API_BIT(DTAU_DOT_DDURATION))
#define OF_WRENCHES (API_BIT(D_JOINT_WRENCHES_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DDURATION))
#define BY_POINTS                                                                                                      \
    (API_BIT(BASIS) | API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DOT_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DPOINTS))

static const api_motion *motion_of(const api_selection *selected)
{
    return selected->options;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *at)
{
    (void)at; /* the options are members of the request: a trajectory is its only operation */
    api_motion *m = api_motion_read(q, given);
    if (!m) return false;
    selected->options = m;
    api_set_extent(selected, API_SUPPORT, m->dense ? m->spline.n : m->spline.degree + 1);
    if ((selected->outputs & BY_POINTS) && !m->dense) selected->outputs |= API_BIT(FIRST_CONTROL_POINT);
    return true;
}

/* Samples the motion. The outputs that are its samples (times, q and its derivatives) are complete then. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    api_motion *m = selected->options;
    if (!api_motion_sample(plan, m)) return false;
    selected->result[TIMES] = m->time;
    for (int r = 0; r < API_SPLINE_ORDERS; r++)
        selected->result[Q + r] = plan->state[API_Q + r];
    selected->result[FIRST_CONTROL_POINT] = m->first;
    if (!m->dense) selected->result[BASIS] = m->basis;
    return true;
}

/* --- partial derivatives of a block ----------------------------------------------------------------------------- */

/* Partial derivatives of results y by the derivatives x_r of q, d y / d x_r for r < orders; rows x nv each. */
typedef struct partials {
    size_t  rows, orders;
    double *by[API_SPLINE_ORDERS];
} partials;

static size_t spare(const api_model *model, const api_selection *selected)
{
    size_t nv = model->nv, matrices = selected->outputs & (OF_TAU | OF_TAU_DOT | OF_WRENCHES) ? 3 : 0;
    size_t pushed = motion_of(selected)->wrenches.n > 0
                        ? api_wrench_terms_entries(model, api_selected_extent(selected, API_REQUEST_WRENCHES))
                        : 0;
    if (selected->outputs & OF_TAU_DOT) matrices += 3;
    return matrices * nv * nv + (selected->outputs & OF_WRENCHES ? 3 * 6 * model->n_bodies * nv : 0) + pushed;
}

/* Takes three matrices, rows x nv, from the spare lanes at *next; none if they are not wanted. */
static partials take(const api_evaluation *e, size_t rows, bool wanted, double **next)
{
    partials p    = {.rows = wanted ? rows : 0, .orders = 3};
    size_t   size = rows * e->model->nv * e->lanes;
    for (size_t r = 0; wanted && r < 3; r++, *next += size)
        p.by[r] = *next;
    return p;
}

static void sensitivities(const api_evaluation *e, size_t block, const partials *tau, const partials *wrenches)
{
    dyn_sensitivity io = {
        .q                    = api_state_block(e, API_Q, block),
        .qd                   = api_state_block(e, API_QD, block),
        .qdd                  = api_state_block(e, API_QDD, block),
        .wrenches             = api_wrench_block(e, block),
        .dtau_dq              = tau->by[0],
        .dtau_dqd             = tau->by[1],
        .dtau_dqdd            = tau->by[2],
        .djoint_wrenches_dq   = wrenches->by[0],
        .djoint_wrenches_dqd  = wrenches->by[1],
        .djoint_wrenches_dqdd = wrenches->by[2],
    };
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
}

/* Finds the partial derivatives of tau_dot by the derivatives x_r of q: d tau_dot / d x_r = (d tau / d x_r)' + d tau /
 * d x_r-1, for r = 1 to 3; the term (d tau / d x_3)' is zero. */
static void find_torque_rate_partials(const api_evaluation *e, size_t block, const partials *tau, partials *rate)
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
    size_t n = rate->rows * e->model->nv * e->lanes;
    for (size_t r = 1; r < 3; r++)
        for (size_t i = 0; i < n; i++)
            rate->by[r][i] += tau->by[r - 1][i];
    rate->by[3]  = tau->by[2];
    rate->orders = 4;
}

/* --- the chain rule --------------------------------------------------------------------------------------------- */

/* Reads the index of the first control point that affects the state of each lane. */
static void read_first_points(const api_evaluation *e, const api_motion *m, size_t block, size_t first[DYN_MAX_LANES])
{
    const double *lanes = api_block(e, m->first, 1, block);
    for (size_t l = 0; l < e->lanes; l++)
        first[l] = (size_t)lanes[l];
}

/* Returns the block of an output with an entry for each control point; NULL: not requested. With "dense" the block is
 * cleared, because most control points do not affect a state. */
static double *clean_result(const api_evaluation *e, const api_selection *selected, size_t output, size_t block)
{
    double *out = api_result_block(e, selected, output, block);
    if (out && motion_of(selected)->dense)
        memset(out, 0, api_output_entries(e->model, selected, output) * e->lanes * sizeof *out);
    return out;
}

/* One row of partial derivatives and the basis functions that the chain rule multiplies with it. */
typedef struct chain {
    size_t        nv, support, orders;
    const double *basis;                 /* orders x support: b_rk of each control point */
    const double *by[API_SPLINE_ORDERS]; /* nv each: derivatives of one result by x_r */
    const size_t *first;                 /* index of the first control point in each lane; NULL: 0 (not dense) */
} chain;

/* Applies the chain rule to a result y: out[first + k][j] = sum_r b_rk dy / d x_r,j, with b_rk the derivative r of
 * basis function k, and x_r the derivative r of q. */
static inline __attribute__((always_inline)) void put_row_by(size_t W, const chain *c, double *out)
{
    for (size_t k = 0; k < c->support; k++)
        for (size_t j = 0; j < c->nv; j++) {
            double sum[DYN_MAX_LANES] = {0};
            for (size_t r = 0; r < c->orders; r++)
                for (size_t l = 0; l < W; l++)
                    sum[l] += c->basis[(r * c->support + k) * W + l] * c->by[r][j * W + l];
            for (size_t l = 0; c->first && l < W; l++)
                out[((c->first[l] + k) * c->nv + j) * W + l] = sum[l];
            if (!c->first) memcpy(out + (k * c->nv + j) * W, sum, W * sizeof *sum);
        }
}

/* Calls put_row_by with the number of lanes as a constant, so that the compiler unrolls the loops over lanes. */
static void put_row(size_t W, const chain *c, double *out)
{
    switch (W) {
    case 8: put_row_by(8, c, out); break;
    case 4: put_row_by(4, c, out); break;
    case 2: put_row_by(2, c, out); break;
    default: put_row_by(W, c, out); break;
    }
}

static void by_points(const api_evaluation *e, const api_selection *selected, size_t block, const partials *p,
                      size_t output)
{
    const api_motion *m = motion_of(selected);
    size_t            W = e->lanes, nv = e->model->nv, support = m->spline.degree + 1, first[DYN_MAX_LANES];
    double           *out = clean_result(e, selected, output, block);
    chain             c   = {.nv = nv, .support = support, .orders = p->orders, .first = m->dense ? first : NULL};
    c.basis               = api_block(e, m->basis, API_SPLINE_ORDERS * support, block);
    read_first_points(e, m, block, first);
    for (size_t row = 0; out && row < p->rows; row++, out += api_selected_extent(selected, API_SUPPORT) * nv * W) {
        for (size_t r = 0; r < p->orders; r++)
            c.by[r] = p->by[r] + row * nv * W;
        put_row(W, &c, out);
    }
}

/* Writes the derivatives of results y by the duration T: out[row] = -1/T sum_r r sum_j (dy_row / d x_r,j) x_r,j, with
 * x_r the derivative r of q. */
static void by_duration(const api_evaluation *e, const api_selection *selected, size_t block, const partials *p,
                        size_t output)
{
    size_t        W = e->lanes, nv = e->model->nv;
    const double *rate = api_block(e, motion_of(selected)->rate, 1, block);
    double       *out  = api_result_block(e, selected, output, block);
    for (size_t row = 0; out && row < p->rows; row++, out += W)
        for (size_t l = 0; l < W; l++) {
            double sum = 0;
            for (size_t r = 1; r < p->orders; r++) {
                const double *x = api_state_block(e, (api_field)(API_Q + r), block);
                for (size_t j = 0; j < nv; j++)
                    sum += (double)r * p->by[r][(row * nv + j) * W + l] * x[j * W + l];
            }
            out[l] = -rate[l] * sum;
        }
}

static void put_dense_basis(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_motion *m = motion_of(selected);
    size_t            W = e->lanes, support = m->spline.degree + 1, first[DYN_MAX_LANES];
    const double     *basis = api_block(e, m->basis, API_SPLINE_ORDERS * support, block);
    double           *out   = clean_result(e, selected, BASIS, block);
    read_first_points(e, m, block, first);
    for (size_t r = 0; out && r < API_SPLINE_ORDERS; r++)
        for (size_t k = 0; k < support; k++)
            for (size_t l = 0; l < W; l++)
                out[(r * api_selected_extent(selected, API_SUPPORT) + first[l] + k) * W + l] =
                    basis[(r * support + k) * W + l];
}

/* The argument of the functions of api_loop_curve, which let the loops follow the motion. */
typedef struct curve {
    const api_evaluation *e;
    const api_motion     *motion;
} curve;

static void interpolate_position(const void *arg, size_t row, size_t n, double s, double *q)
{
    const curve *c = arg;
    api_motion_between(c->e, c->motion, row, n, s, q);
}

static double bound_travel(const void *arg, size_t row, size_t n)
{
    const curve *c = arg;
    return api_motion_travel_bound(c->e, c->motion, row, n);
}

static double interpolate_time(const void *arg, size_t row, size_t n, double s)
{
    const curve *c = arg;
    return api_motion_time(c->motion, row, n, s);
}

static bool begin(api_plan *plan, const api_selection *selected)
{
    api_evaluation e       = api_evaluation_of(plan);
    curve          c       = {&e, motion_of(selected)};
    api_loop_curve between = {interpolate_position, bound_travel, interpolate_time, &c};
    return api_loop_follow(plan, &between);
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

/* Calls the kernel torque_derivative only if tau_dot is requested, otherwise inverse_dynamics; both kernels give the
 * same bits of tau. */
static void torques(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_kernels    *kernels = e->kernels;
    dyn_torque_derivative io      = {.q              = api_state_block(e, API_Q, block),
                                     .qd             = api_state_block(e, API_QD, block),
                                     .qdd            = api_state_block(e, API_QDD, block),
                                     .qddd           = api_state_block(e, API_QDDD, block),
                                     .wrenches       = api_wrench_block(e, block),
                                     .wrench_rates   = api_wrench_rate_block(e, block),
                                     .tau            = api_result_block(e, selected, TAU, block),
                                     .tau_dot        = api_result_block(e, selected, TAU_DOT, block),
                                     .joint_wrenches = api_result_block(e, selected, JOINT_WRENCHES, block)};
    if (io.tau_dot) {
        kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    } else if (io.tau || io.joint_wrenches) {
        dyn_inverse_dynamics plain = {io.q, io.qd, io.qdd, io.wrenches, io.tau, io.joint_wrenches};
        kernels->inverse_dynamics(&e->query->scene, e->workspace, &plain, 1);
    }
}

static void gradients(const api_evaluation *e, const api_selection *selected, size_t block)
{
    double          *next     = e->spare;
    partials         tau      = take(e, e->model->nv, true, &next);
    partials         rate     = take(e, e->model->nv, selected->outputs & OF_TAU_DOT, &next);
    partials         wrenches = take(e, 6 * e->model->n_bodies, selected->outputs & OF_WRENCHES, &next);
    bool             changes  = motion_of(selected)->wrenches.n > 0;
    api_wrench_terms pushed   = api_wrench_terms_lay_out(e, block, next);
    sensitivities(e, block, &tau, &wrenches);
    by_points(e, selected, block, &tau, DTAU_DPOINTS);
    by_duration(e, selected, block, &tau, DTAU_DDURATION);
    by_points(e, selected, block, &wrenches, D_JOINT_WRENCHES_DPOINTS);
    by_duration(e, selected, block, &wrenches, D_JOINT_WRENCHES_DDURATION);
    if (selected->outputs & OF_TAU_DOT) {
        find_torque_rate_partials(e, block, &tau, &rate);
        if (changes) api_wrench_terms_add_by_q(&pushed, rate.by[0]);
        by_points(e, selected, block, &rate, DTAU_DOT_DPOINTS);
        by_duration(e, selected, block, &rate, DTAU_DOT_DDURATION);
    }
    api_wrench_term_results by_duration_of = {.tau     = api_result_block(e, selected, DTAU_DDURATION, block),
                                              .tau_dot = api_result_block(e, selected, DTAU_DOT_DDURATION, block),
                                              .joint_wrenches =
                                                  api_result_block(e, selected, D_JOINT_WRENCHES_DDURATION, block)};
    if (changes) api_wrench_terms_add_by_duration(&pushed, motion_of(selected), &by_duration_of);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    torques(e, selected, block);
    if (motion_of(selected)->dense) put_dense_basis(e, selected, block);
    if (selected->outputs & (OF_TAU | OF_TAU_DOT | OF_WRENCHES)) gradients(e, selected, block);
    return true;
}

const api_operation api_trajectory = {
    .name  = "trajectory",
    .needs = API_BIT(API_DEGREE) | API_BIT(API_DURATION) | API_BIT(API_CONTROL_POINTS),
    .takes = API_BIT(API_KNOTS) | API_BIT(API_SAMPLES) | API_BIT(API_TIMES) | API_BIT(API_DENSE) |
             API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) |
             API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS),
    .tree_outputs   = OF_TAU_DOT,
    .outputs        = {[TIMES]                      = {"times", true, {0}},
                       [Q]                          = {"q", true, {API_NV}},
                       [QD]                         = {"qd", true, {API_NV}},
                       [QDD]                        = {"qdd", true, {API_NV}},
                       [QDDD]                       = {"qddd", true, {API_NV}},
                       [TAU]                        = {"tau", true, {API_NV}},
                       [TAU_DOT]                    = {"tau_dot", true, {API_NV}},
                       [JOINT_WRENCHES]             = {"joint_wrenches", false, {API_BODIES, 6}},
                       [FIRST_CONTROL_POINT]        = {"first_control_point", false, {0}},
                       [BASIS]                      = {"basis", false, {API_SPLINE_ORDERS, API_SUPPORT}},
                       [DTAU_DPOINTS]               = {"dtau_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                       [DTAU_DDURATION]             = {"dtau_dduration", false, {API_NV}},
                       [DTAU_DOT_DPOINTS]           = {"dtau_dot_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                       [DTAU_DOT_DDURATION]         = {"dtau_dot_dduration", false, {API_NV}},
                       [D_JOINT_WRENCHES_DPOINTS]   = {"d_joint_wrenches_dcontrol_points",
                                                       false,
                                                       {API_BODIES, 6, API_SUPPORT, API_NV}},
                       [D_JOINT_WRENCHES_DDURATION] = {"d_joint_wrenches_dduration", false, {API_BODIES, 6}}},
    .alone          = true,
    .wrench_signals = true,
    .one_by_one     = true,
    .weight         = 4,
    .square_weight  = 1,
    .options        = options,
    .prepare        = prepare,
    .spare          = spare,
    .begin          = begin,
    .evaluate       = evaluate,
};
