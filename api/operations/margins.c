/* margins.c - computes how far joints are from their limits of position, velocity, effort and effort rate, with
 * gradients.
 *
 * The margin of a quantity x with lower <= x <= upper is the distance to the nearer limit, min(x - lower, upper - x),
 * and negative beyond it. Its gradient is that of the nearer side. x is q, qd, tau(q, qd, qdd), or tau'(q, qd, qdd,
 * qddd), and of the motor of a coupled transmission a sum of these over its joints; with ' for the time derivative
 * along the motion (dynamics.h),
 *
 *     dtau'/dq = (dtau/dq)',  dtau'/dqd = (dtau/dqd)' + dtau/dq,  dtau'/dqdd = (dtau/dqdd)' + dtau/dqd,  dtau'/dqddd =
 * M.
 *
 * The derivatives of the least margin of all rows are those of the row that has it; only this row is differentiated. */
#include "api/lanes/evaluation.h"
#include "api/lanes/failed_rows.h"
#include "api/request/fields.h"
#include "api/request/margin_limits.h"
#include <math.h>
#include <string.h>

enum { LIMITS, MARGINS, DMARGINS_DQ, DMARGINS_DQD, DMARGINS_DQDD, DMARGINS_DQDDD, LEAST, LEAST_GRADIENTS };
#define OF_ROWS   (API_BIT(LEAST) | API_BIT(LEAST_GRADIENTS))
#define GRADIENTS (API_BIT(DMARGINS_DQ) | API_BIT(DMARGINS_DQD) | API_BIT(DMARGINS_DQDD) | API_BIT(DMARGINS_DQDDD))

enum { RATES = 4 /* a state is q, qd, qdd and qddd */ };
static const char *const rate_names[RATES] = {"dq", "dqd", "dqdd", "dqddd"};

typedef struct margins_options {
    api_margin_limits limits;
    /* [limits.n][RATES][nv], of the least margins, in the order of the request's joints; NULL: not wanted */
    double *gradients;
} margins_options;

static bool has_kind(const margins_options *o, api_margin_kind kind)
{
    for (size_t i = 0; i < o->limits.n; i++)
        if (o->limits.limit[i].kind == kind) return true;
    return false;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_place        at = api_place_key(up, "kinds");
    margins_options *o  = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o                     = (margins_options){0};
    selected->options      = o;
    selected->all_in_lanes = selected->outputs & OF_ROWS;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL, "margins are for models without loops, and %s has loops",
                        q->model->name);
    if (!api_margin_limits_list(q, api_node_get(given, "kinds"), &at, &o->limits)) return false;
    api_set_extent(selected, API_JOINT_LIMITS, o->limits.n);
    if (selected->outputs & (GRADIENTS | API_BIT(LEAST_GRADIENTS)) && has_kind(o, API_MARGIN_EFFORT_RATE) &&
        q->model->nq != q->model->nv)
        return api_fail_at(
            q->problem, &at, API_NOT_SUPPORTED,
            "gradients of effort rates are for models with as many positions as velocities: list other kinds");
    return true;
}

/* The least margins are found in the margins of all states, which need lanes even if they are not in the answer. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_query *q = plan->query;
    margins_options *o = selected->options;
    if (!(selected->outputs & OF_ROWS)) return true;
    selected->result[MARGINS] = api_take_lanes(plan, api_output_entries(q->model, selected, MARGINS));
    if (!selected->result[MARGINS] || !(selected->outputs & API_BIT(LEAST_GRADIENTS)))
        return selected->result[MARGINS] != NULL;
    const size_t bytes = o->limits.n * RATES * q->model->nv * sizeof *o->gradients;
    o->gradients       = api_take(q->pool, bytes);
    if (o->gradients) memset(o->gradients, 0, bytes);
    return o->gradients != NULL;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Scratch lanes of a block. */
typedef struct block_lanes {
    double *tau, *tau_dot;               /* nv */
    double *by_q, *by_qd, *by_qdd;       /* nv x nv: derivatives of tau */
    double *q_rate, *qd_rate, *qdd_rate; /* nv x nv: their time derivatives */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    (void)selected;
    return 2 * model->nv + 6 * model->nv * model->nv;
}

static block_lanes place(const api_evaluation *e)
{
    const size_t W = e->lanes, nv = e->model->nv, square = nv * nv * W;
    block_lanes  b = {.tau = e->spare};
    b.tau_dot      = b.tau + nv * W;
    b.by_q         = b.tau_dot + nv * W;
    b.by_qd        = b.by_q + square;
    b.by_qdd       = b.by_qd + square;
    b.q_rate       = b.by_qdd + square;
    b.qd_rate      = b.q_rate + square;
    b.qdd_rate     = b.qd_rate + square;
    return b;
}

static void find_efforts(const api_evaluation *e, const margins_options *o, const block_lanes *b, size_t block)
{
    dyn_torque_derivative io    = {.q        = api_state_block(e, API_Q, block),
                                   .qd       = api_state_block(e, API_QD, block),
                                   .qdd      = api_state_block(e, API_QDD, block),
                                   .qddd     = api_state_block(e, API_QDDD, block),
                                   .wrenches = api_wrench_block(e, block),
                                   .tau      = b->tau,
                                   .tau_dot  = b->tau_dot};
    dyn_inverse_dynamics  still = {.q = io.q, .qd = io.qd, .qdd = io.qdd, .wrenches = io.wrenches, .tau = b->tau};
    if (has_kind(o, API_MARGIN_EFFORT_RATE))
        e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    else if (has_kind(o, API_MARGIN_EFFORT))
        e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &still, 1);
}

static void find_derivatives(const api_evaluation *e, const margins_options *o, const block_lanes *b, size_t block)
{
    dyn_sensitivity      io   = {.q         = api_state_block(e, API_Q, block),
                                 .qd        = api_state_block(e, API_QD, block),
                                 .qdd       = api_state_block(e, API_QDD, block),
                                 .wrenches  = api_wrench_block(e, block),
                                 .dtau_dq   = b->by_q,
                                 .dtau_dqd  = b->by_qd,
                                 .dtau_dqdd = b->by_qdd};
    dyn_sensitivity_rate rate = {.q             = io.q,
                                 .qd            = io.qd,
                                 .qdd           = io.qdd,
                                 .qddd          = api_state_block(e, API_QDDD, block),
                                 .wrenches      = io.wrenches,
                                 .dtau_dq_dot   = b->q_rate,
                                 .dtau_dqd_dot  = b->qd_rate,
                                 .dtau_dqdd_dot = b->qdd_rate};
    if (!has_kind(o, API_MARGIN_EFFORT) && !has_kind(o, API_MARGIN_EFFORT_RATE)) return;
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
    if (has_kind(o, API_MARGIN_EFFORT_RATE)) e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &rate, 1);
}

/* Returns the limited quantity in a lane. Missing qd is zero. */
static double quantity(const api_evaluation *e, const api_margin_limit *l, const block_lanes *b, size_t block,
                       size_t lane)
{
    const double *of[API_MARGIN_KINDS] = {api_state_block(e, API_Q, block), api_state_block(e, API_QD, block), b->tau,
                                          b->tau_dot};
    return api_margin_quantity(l, of[l->kind], e->lanes, lane);
}

/* Returns an entry of the derivatives of tau or its rate by q, qd, qdd or qddd (`by` 0 to 3). */
static double effort_slope(const block_lanes *b, api_margin_kind kind, int by, size_t at)
{
    if (kind == API_MARGIN_EFFORT) return by == 0 ? b->by_q[at] : by == 1 ? b->by_qd[at] : by == 2 ? b->by_qdd[at] : 0;
    return by == 0   ? b->q_rate[at]
           : by == 1 ? b->qd_rate[at] + b->by_q[at]
           : by == 2 ? b->qdd_rate[at] + b->by_qd[at]
                     : b->by_qdd[at];
}

/* Returns entry v of the gradient of the limited quantity by q, qd, qdd or qddd (`by` 0 to 3) in a lane. */
static double slope(const api_evaluation *e, const api_margin_limit *l, const block_lanes *b, int by, size_t v,
                    size_t lane)
{
    double sum = 0;
    if (l->kind == API_MARGIN_POSITION) return by == 0 && v == l->v;
    for (size_t j = 0; j < l->n; j++) {
        const double s = l->kind == API_MARGIN_VELOCITY
                             ? by == 1 && v == l->entry[j]
                             : effort_slope(b, l->kind, by, (l->entry[j] * e->model->nv + v) * e->lanes + lane);
        sum            = j == 0 ? l->weight[j] * s : sum + l->weight[j] * s;
    }
    return sum;
}

/* Writes margin and gradients of limit i for one block. */
static void write_limit(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t block,
                        size_t i)
{
    const margins_options  *o      = selected->options;
    const api_margin_limit *l      = &o->limits.limit[i];
    double                 *margin = api_result_block(e, selected, MARGINS, block);
    const size_t            W = e->lanes, nv = e->model->nv;
    for (size_t lane = 0; lane < W; lane++) {
        const double value = quantity(e, l, b, block, lane), below = value - l->lower, above = l->upper - value;
        if (margin) margin[i * W + lane] = fmin(below, above);
        for (int by = 0; by < 4; by++) {
            double *gradient = api_result_block(e, selected, (size_t)(DMARGINS_DQ + by), block);
            for (size_t v = 0; gradient && v < nv; v++) {
                const double s                    = slope(e, l, b, by, v, lane);
                gradient[(i * nv + v) * W + lane] = below < above ? s : 0 - s;
            }
        }
    }
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    const margins_options *o = selected->options;
    const block_lanes      b = place(e);
    if (selected->outputs & (API_BIT(MARGINS) | OF_ROWS | GRADIENTS)) find_efforts(e, o, &b, block);
    if (selected->outputs & GRADIENTS) find_derivatives(e, o, &b, block);
    for (size_t i = 0; i < o->limits.n; i++)
        write_limit(e, selected, &b, block, i);
    return true;
}

/* Returns the state with the least margin of limit i, the first of several; states that failed alone do not count. */
static size_t find_least(const api_evaluation *e, const api_selection *selected, size_t i)
{
    const size_t n     = ((const margins_options *)selected->options)->limits.n;
    size_t       least = 0;
    double       value = HUGE_VAL;
    for (size_t state = 0; state < api_states(e->query); state++) {
        const double margin = api_state_lane(e, selected->result[MARGINS], n, state)[i * e->lanes];
        if (api_failed_rows_has(e->plan->failed_rows, state) || !(margin < value)) continue;
        least = state;
        value = margin;
    }
    return least;
}

/* --- gradients of least margins ----------------------------------------------------------------------------------- */

/* Stores the gradients of limit i at a state of the block, whose derivatives are in `b`. */
static bool store_gradients(const api_evaluation *e, const margins_options *o, const block_lanes *b, size_t i,
                            size_t state)
{
    const size_t            W = e->lanes, nv = e->model->nv, lane = state % W, block = state / W;
    const api_margin_limit *l  = &o->limits.limit[i];
    const double            x  = quantity(e, l, b, block, lane);
    double                 *to = o->gradients + i * RATES * nv, sum = 0;
    for (int by = 0; by < RATES; by++)
        for (size_t k = 0; k < nv; k++) {
            const size_t v = e->query->order ? (size_t)e->query->order[k] : k;
            const double s = slope(e, l, b, by, v, lane);
            *to++          = x - l->lower < l->upper - x ? s : 0 - s;
            sum += fabs(s);
        }
    return isfinite(sum) || api_fail(e->query->problem, API_RESULT_NOT_FINITE, NULL,
                                     "the gradient of the least margin of %.64s", l->name);
}

/* Fails the states with margins that are not finite. The result is that of api_fail_state. */
static bool check_margins(const api_evaluation *e, const api_selection *selected)
{
    const size_t n = ((const margins_options *)selected->options)->limits.n;
    for (size_t state = 0; state < api_states(e->query); state++) {
        const double *margin = api_state_lane(e, selected->result[MARGINS], n, state);
        bool          finite = true;
        for (size_t i = 0; i < n; i++)
            finite = finite && isfinite(margin[i * e->lanes]);
        if (finite || api_failed_rows_has(e->plan->failed_rows, state)) continue;
        if (!api_fail_state(e, API_RESULT_NOT_FINITE, API_Q, state,
                            "a margin is not finite: the figures are too large"))
            return false;
    }
    return true;
}

/* Finds the gradients of all least margins. The blocks of their states are evaluated again, each for the limits that
 * follow each other with it. */
static bool finish(const api_evaluation *e, const api_selection *selected)
{
    const margins_options *o     = selected->options;
    api_evaluation         again = *e;
    size_t                 block = SIZE_MAX;
    if (!(selected->outputs & OF_ROWS)) return true;
    again.problem = e->query->problem;
    if (!check_margins(&again, selected)) return false;
    if (!o->gradients || api_failed_rows_all(e->plan->failed_rows)) return true;
    again.spare         = e->spares[selected - e->query->selected];
    const block_lanes b = place(&again);
    for (size_t i = 0; i < o->limits.n; i++) {
        const size_t state = find_least(e, selected, i);
        if (state / e->lanes != block) {
            if (!api_deadline_check(e->query->input->deadline, e->query->problem)) return false;
            block = state / e->lanes;
            find_efforts(&again, o, &b, block);
            find_derivatives(&again, o, &b, block);
        }
        if (!store_gradients(&again, o, &b, i, state)) return false;
    }
    return true;
}

/* The limits that have a least margin: none without rows. */
static size_t limits_with_least(const api_plan *plan, const margins_options *o)
{
    return plan->query->empty ? 0 : o->limits.n;
}

static void emit_gradients(const api_plan *plan, const api_selection *selected, api_emit *to)
{
    const margins_options *o  = selected->options;
    const api_evaluation   e  = api_evaluation_of(plan);
    const size_t           nv = plan->query->model->nv;
    api_emit_array(to);
    for (size_t i = 0; i < limits_with_least(plan, o); i++) {
        api_emit_object(to);
        api_emit_integer_member(to, "row",
                                (long long)(to->buffer ? find_least(&e, selected, i) : api_states(plan->query) - 1));
        for (int by = 0; by < RATES; by++) {
            api_emit_key(to, rate_names[by]);
            api_emit_numbers(to, o->gradients + (i * RATES + (size_t)by) * nv, 1, &nv);
        }
        api_emit_end(to);
    }
    api_emit_end(to);
}

/* --- answer ------------------------------------------------------------------------------------------------------- */

/* Emits the least margin of each limit. Before the evaluation the numbers are only measured. */
static void emit_least(const api_plan *plan, const api_selection *selected, api_emit *to)
{
    const margins_options *o = selected->options;
    const api_evaluation   e = api_evaluation_of(plan);
    api_emit_array(to);
    for (size_t i = 0; i < limits_with_least(plan, o); i++) {
        const size_t row = to->buffer ? find_least(&e, selected, i) : api_states(plan->query) - 1;
        api_emit_object(to);
        api_emit_string_member(to, "joint", o->limits.limit[i].name);
        api_emit_string_member(to, "kind", api_margin_names[o->limits.limit[i].kind]);
        api_emit_number_member(to, "margin",
                               to->buffer ? api_state_lane(&e, selected->result[MARGINS], o->limits.n, row)[i * e.lanes]
                                          : 0);
        api_emit_integer_member(to, "row", (long long)row);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const margins_options *o = selected->options;
    if (output != LIMITS && to->buffer && api_failed_rows_all(plan->failed_rows)) {
        api_emit_null(to);
        return;
    }
    if (output == LEAST) {
        emit_least(plan, selected, to);
        return;
    }
    if (output == LEAST_GRADIENTS) {
        emit_gradients(plan, selected, to);
        return;
    }
    api_margin_limits_emit(&o->limits, to);
}

const api_operation api_margins = {
    .name  = "margins",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_KINDS) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[LIMITS]          = {"limits", true, {API_STRUCTURED}},
                      [MARGINS]         = {"margins", true, {API_JOINT_LIMITS}},
                      [DMARGINS_DQ]     = {"dmargins_dq", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQD]    = {"dmargins_dqd", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQDD]   = {"dmargins_dqdd", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQDDD]  = {"dmargins_dqddd", false, {API_JOINT_LIMITS, API_NV}},
                      [LEAST]           = {"least", false, {API_STRUCTURED}},
                      [LEAST_GRADIENTS] = {"least_gradients", false, {API_STRUCTURED}}},
    .one_by_one    = true,
    .weight        = 8,
    .square_weight = 1,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .emit          = emit,
    .evaluate      = evaluate,
    .finish        = finish,
    .unordered     = true,
};
