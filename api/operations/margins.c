/* margins.c - computes how far joints are from their limits of position, velocity, effort and effort rate, with
 * gradients.
 *
 * The margin of a quantity x with lower <= x <= upper is the distance to the nearer limit, min(x - lower, upper - x),
 * and negative beyond it. Its gradient is that of the nearer side. x is q, qd, tau(q, qd, qdd), or tau'(q, qd, qdd,
 * qddd); with ' for the time derivative along the motion (dynamics.h),
 *
 *     dtau'/dq = (dtau/dq)',  dtau'/dqd = (dtau/dqd)' + dtau/dq,  dtau'/dqdd = (dtau/dqdd)' + dtau/dqd,  dtau'/dqddd =
 * M. */
#include "api/lanes/evaluation.h"
#include "api/lanes/failed_rows.h"
#include "api/model/actuation.h"
#include "api/request/fields.h"
#include <math.h>
#include <string.h>

enum { LIMITS, MARGINS, DMARGINS_DQ, DMARGINS_DQD, DMARGINS_DQDD, DMARGINS_DQDDD, LEAST };
#define GRADIENTS (API_BIT(DMARGINS_DQ) | API_BIT(DMARGINS_DQD) | API_BIT(DMARGINS_DQDD) | API_BIT(DMARGINS_DQDDD))

typedef enum limit_kind { POSITION, VELOCITY, EFFORT, EFFORT_RATE, KINDS } limit_kind;
static const char *const kind_names[KINDS] = {"position", "velocity", "effort", "effort_rate"};

/* A limit of the coordinate `entry` of q for positions, of qd, tau or tau' otherwise. */
typedef struct limit {
    const char *joint;
    limit_kind  kind;
    size_t      entry, v; /* v: the velocity coordinate of the entry */
    double      lower, upper;
} limit;

typedef struct margins_options {
    bool   chosen[KINDS];
    size_t n;
    limit *limit; /* [n] */
} margins_options;

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_kinds(const api_query *q, const api_node *list, const api_place *at, margins_options *o)
{
    api_names known = api_names_from_array(kind_names, KINDS);
    for (size_t i = 0; i < KINDS; i++)
        o->chosen[i] = !list;
    if (!list) return true;
    if (!api_check_list(q, list, at, "of position, velocity, effort, effort_rate")) return false;
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  name;
        api_place entry = api_place_index(at, i);
        int k = api_node_item(list, i, &name) ? api_read_choice(q, &name, &entry, "a kind of limits", &known) : -1;
        if (k < 0) return false;
        if (o->chosen[k])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%s is listed twice", kind_names[k]);
        o->chosen[k] = true;
    }
    return true;
}

static void add(margins_options *o, limit one)
{
    if (o->chosen[one.kind]) o->limit[o->n++] = one;
}

/* Lists the limits of a coordinate. An elastic joint has the effort of its motor. */
static void add_coordinate(const api_model *m, const api_coordinate *c, size_t v, margins_options *o)
{
    const api_joint_name *j      = &m->joints[c->joint];
    limit                 one    = {.joint = j->name, .v = v};
    size_t                effort = c->motor >= 0 ? (size_t)c->motor : v;
    if (j->has_position_limits) {
        one.kind = POSITION, one.entry = (size_t)c->position, one.lower = j->lower, one.upper = j->upper;
        add(o, one);
    }
    one.entry = v;
    if (j->has_velocity_limit) {
        one.kind = VELOCITY, one.lower = -j->velocity, one.upper = j->velocity;
        add(o, one);
    }
    one.entry = effort;
    if (j->has_effort_limit && (c->actuated || c->motor >= 0)) {
        one.kind = EFFORT, one.lower = -j->effort, one.upper = j->effort;
        add(o, one);
    }
    if (j->has_effort_rate_limit && (c->actuated || c->motor >= 0)) {
        one.kind = EFFORT_RATE, one.lower = -j->effort_rate, one.upper = j->effort_rate;
        add(o, one);
    }
}

/* True for the velocity coordinate of a joint with one coordinate, and not for that of its motor. */
static bool is_joint(const api_model *m, const api_coordinate *all, size_t v)
{
    if (all[v].joint < 0 || all[v].position < 0) return false;
    for (size_t i = 0; i < m->nv; i++)
        if (all[i].motor == (int)v) return false;
    return true;
}

static bool list_limits(api_query *q, margins_options *o, const api_place *at)
{
    const api_model *m   = q->model;
    api_coordinate  *all = api_take(q->pool, m->nv * sizeof *all);
    o->limit             = api_take(q->pool, KINDS * m->nv * sizeof *o->limit);
    if (!all || !o->limit) return false;
    api_coordinates_describe(m, all);
    for (size_t v = 0; v < m->nv; v++)
        if (is_joint(m, all, v)) add_coordinate(m, &all[v], v, o);
    return o->n > 0 || api_fail_at(q->problem, at, API_BAD_VALUE, "%s has no limits of these kinds", m->name);
}

static bool has_kind(const margins_options *o, limit_kind kind)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->limit[i].kind == kind) return true;
    return false;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_place        at = api_place_key(up, "kinds");
    margins_options *o  = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o                     = (margins_options){0};
    selected->options      = o;
    selected->all_in_lanes = selected->outputs & API_BIT(LEAST);
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL, "margins are for models without loops, and %s has loops",
                        q->model->name);
    if (!read_kinds(q, api_node_get(given, "kinds"), &at, o) || !list_limits(q, o, &at)) return false;
    api_set_extent(selected, API_JOINT_LIMITS, o->n);
    if (selected->outputs & GRADIENTS && has_kind(o, EFFORT_RATE) && q->model->nq != q->model->nv)
        return api_fail_at(
            q->problem, &at, API_NOT_SUPPORTED,
            "gradients of effort rates are for models with as many positions as velocities: list other kinds");
    return true;
}

/* The least margins are found in the margins of all states, which need lanes even if they are not in the answer. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    if (!(selected->outputs & API_BIT(LEAST))) return true;
    selected->result[MARGINS] = api_take_lanes(plan, api_output_entries(plan->query->model, selected, MARGINS));
    return selected->result[MARGINS] != NULL;
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
    if (has_kind(o, EFFORT_RATE))
        e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    else if (has_kind(o, EFFORT))
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
    if (!has_kind(o, EFFORT) && !has_kind(o, EFFORT_RATE)) return;
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
    if (has_kind(o, EFFORT_RATE)) e->kernels->sensitivity_rate(&e->query->scene, e->workspace, &rate, 1);
}

/* Returns the lanes of the limited quantity; NULL: it is zero. */
static const double *quantity(const api_evaluation *e, const limit *l, const block_lanes *b, size_t block)
{
    const double *of[KINDS] = {api_state_block(e, API_Q, block), api_state_block(e, API_QD, block), b->tau, b->tau_dot};
    return of[l->kind] ? of[l->kind] + l->entry * e->lanes : NULL;
}

/* Returns entry v of the gradient of the limited quantity by q, qd, qdd or qddd (`by` 0 to 3) in a lane. */
static double slope(const api_evaluation *e, const limit *l, const block_lanes *b, int by, size_t v, size_t lane)
{
    const size_t at = (l->entry * e->model->nv + v) * e->lanes + lane;
    switch (l->kind) {
    case POSITION: return by == 0 && v == l->v;
    case VELOCITY: return by == 1 && v == l->v;
    case EFFORT: return by == 0 ? b->by_q[at] : by == 1 ? b->by_qd[at] : by == 2 ? b->by_qdd[at] : 0;
    default:
        return by == 0   ? b->q_rate[at]
               : by == 1 ? b->qd_rate[at] + b->by_q[at]
               : by == 2 ? b->qdd_rate[at] + b->by_qd[at]
                         : b->by_qdd[at];
    }
}

/* Writes margin and gradients of limit i for one block. */
static void write_limit(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t block,
                        size_t i)
{
    const margins_options *o      = selected->options;
    const limit           *l      = &o->limit[i];
    const double          *x      = quantity(e, l, b, block);
    double                *margin = api_result_block(e, selected, MARGINS, block);
    const size_t           W = e->lanes, nv = e->model->nv;
    for (size_t lane = 0; lane < W; lane++) {
        const double value = x ? x[lane] : 0, below = value - l->lower, above = l->upper - value;
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
    if (selected->outputs & (API_BIT(MARGINS) | API_BIT(LEAST) | GRADIENTS)) find_efforts(e, o, &b, block);
    if (selected->outputs & GRADIENTS) find_derivatives(e, o, &b, block);
    for (size_t i = 0; i < o->n; i++)
        write_limit(e, selected, &b, block, i);
    return true;
}

/* Returns the state with the least margin of limit i, the first of several; states that failed alone do not count. */
static size_t find_least(const api_evaluation *e, const api_selection *selected, size_t i)
{
    const size_t n     = ((const margins_options *)selected->options)->n;
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

/* Emits the least margin of each limit. Before the evaluation the numbers are only measured. */
static void emit_least(const api_plan *plan, const api_selection *selected, api_emit *to)
{
    const margins_options *o = selected->options;
    const api_evaluation   e = api_evaluation_of(plan);
    api_emit_array(to);
    for (size_t i = 0; i < o->n; i++) {
        const size_t row = to->buffer ? find_least(&e, selected, i) : api_states(plan->query) - 1;
        api_emit_object(to);
        api_emit_string_member(to, "joint", o->limit[i].joint);
        api_emit_string_member(to, "kind", kind_names[o->limit[i].kind]);
        api_emit_number_member(to, "margin",
                               to->buffer ? api_state_lane(&e, selected->result[MARGINS], o->n, row)[i * e.lanes] : 0);
        api_emit_integer_member(to, "row", (long long)row);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const margins_options *o = selected->options;
    if (output == LEAST) {
        if (to->buffer && api_failed_rows_all(plan->failed_rows))
            api_emit_null(to);
        else
            emit_least(plan, selected, to);
        return;
    }
    api_emit_array(to);
    for (size_t i = 0; i < o->n; i++) {
        api_emit_object(to);
        api_emit_string_member(to, "joint", o->limit[i].joint);
        api_emit_string_member(to, "kind", kind_names[o->limit[i].kind]);
        api_emit_number_member(to, "lower", o->limit[i].lower);
        api_emit_number_member(to, "upper", o->limit[i].upper);
        api_emit_end(to);
    }
    api_emit_end(to);
}

const api_operation api_margins = {
    .name  = "margins",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_KINDS) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[LIMITS]         = {"limits", true, {API_STRUCTURED}},
                      [MARGINS]        = {"margins", true, {API_JOINT_LIMITS}},
                      [DMARGINS_DQ]    = {"dmargins_dq", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQD]   = {"dmargins_dqd", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQDD]  = {"dmargins_dqdd", false, {API_JOINT_LIMITS, API_NV}},
                      [DMARGINS_DQDDD] = {"dmargins_dqddd", false, {API_JOINT_LIMITS, API_NV}},
                      [LEAST]          = {"least", false, {API_STRUCTURED}}},
    .one_by_one    = true,
    .weight        = 8,
    .square_weight = 1,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .emit          = emit,
    .load          = API_LOAD_TAKEN,
    .evaluate      = evaluate,
};
