/* margins.c - computes how far joints and motors are from their limits of all kinds (api/robots/model/limits.h), with
 * gradients.
 *
 * The margin of a quantity x with lower <= x <= upper is the distance to the nearer limit, min(x - lower, upper - x),
 * less slope |w| for a torque-speed line (dynamics/motion/limit.h), and negative beyond the limit. Its gradient is that
 * of the distance to the nearer limit. x is a sum of entries of q, qd, tau(q, qd, qdd), or of its time derivative
 * (margin_lanes.h).
 *
 * The derivatives of the least margin of all rows are those of the row that has it; only this row is differentiated. */
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/scene/row_scene.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/limit_kinds.h"
#include "margin_lanes.h"
#include <math.h>
#include <string.h>

enum { LIMITS, MARGINS, DMARGINS_DQ, DMARGINS_DQD, DMARGINS_DQDD, DMARGINS_DQDDD, LEAST, LEAST_GRADIENTS };
#define OF_ROWS   (API_BIT(LEAST) | API_BIT(LEAST_GRADIENTS))
#define GRADIENTS (API_BIT(DMARGINS_DQ) | API_BIT(DMARGINS_DQD) | API_BIT(DMARGINS_DQDD) | API_BIT(DMARGINS_DQDDD))

enum { RATES = 4 /* a state is q, qd, qdd and qddd */, LOOK = 4 /* limits between two checks of the deadline */ };
static const char *const rate_names[RATES] = {"dq", "dqd", "dqdd", "dqddd"};

typedef struct margins_options {
    api_limited_joints limited;
    /* [limits.n][RATES][nv], of the least margins, in the order of the request's joints; NULL: not wanted */
    double *gradients;
} margins_options;

/* Refuses gradients that cannot be computed. */
static bool check_gradients(const api_query *q, const api_limit_list *limits, const api_place *where)
{
    const bool rates = api_limits_have(limits, DYN_LIMIT_EFFORT_RATE);
    if (q->model->loops) return api_limits_check_loops(q, limits, where);
    return !rates || q->model->nq == q->model->nv ||
           api_fail_at(q->problem, where, API_NOT_SUPPORTED,
                       "gradients of effort rates are for models with as many positions as velocities: list other "
                       "kinds");
}

static bool options(api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    api_place        where = api_place_key(up, "kinds");
    margins_options *o     = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o                     = (margins_options){0};
    selected->options      = o;
    selected->all_in_lanes = selected->outputs & OF_ROWS;
    if (!api_limits_read(q, api_node_get(fields, "kinds"), &where, &o->limited.limits)) return false;
    api_set_extent(selected, API_JOINT_LIMITS, o->limited.limits.n);
    return !(selected->outputs & (GRADIENTS | API_BIT(LEAST_GRADIENTS))) ||
           check_gradients(q, &o->limited.limits, &where);
}

/* The least margins are found in the margins of all states, which need lanes even if they are not in the answer. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_query *q = plan->query;
    margins_options *o = selected->options;
    if (!api_mimics_open(q, &o->limited.limits, &o->limited.followers)) return false;
    if (!(selected->outputs & OF_ROWS)) return true;
    selected->result[MARGINS] = api_take_lanes(plan, api_output_entries(q->model, selected, MARGINS));
    if (!selected->result[MARGINS] || !(selected->outputs & API_BIT(LEAST_GRADIENTS)))
        return selected->result[MARGINS] != NULL;
    const size_t bytes = o->limited.limits.n * RATES * q->model->nv * sizeof *o->gradients;
    o->gradients       = api_take(q->pool, bytes);
    if (o->gradients) memset(o->gradients, 0, bytes);
    return o->gradients != NULL;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    const margins_options *o = selected->options;
    return api_margin_lanes_entries(model, &o->limited);
}

/* Writes margin and gradients of limit i for one block. */
static void write_limit(const api_evaluation *e, const api_selection *selected, const api_margin_lanes *b, size_t block,
                        size_t i)
{
    const margins_options *o      = selected->options;
    const dyn_limit       *l      = &o->limited.limits.limit[i];
    double                *margin = api_result_block(e, selected, MARGINS, block);
    const size_t           W = e->lanes, nv = e->model->nv;
    for (size_t lane = 0; lane < W; lane++) {
        const api_limit_place place = {l, lane, dyn_limit_margin_at(l, b->of, W, lane)};
        if (margin) margin[i * W + lane] = place.margin.margin;
        for (int variable = 0; variable < 4; variable++) {
            double *gradient = api_result_block(e, selected, (size_t)(DMARGINS_DQ + variable), block);
            for (size_t v = 0; gradient && v < nv; v++)
                gradient[(i * nv + v) * W + lane] = api_margin_slope(e, b, &place, variable, v);
        }
    }
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const margins_options *o = selected->options;
    api_margin_lanes       b = api_margin_lanes_place(e, &o->limited);
    if (selected->outputs & (API_BIT(MARGINS) | OF_ROWS | GRADIENTS)) api_margin_lanes_find(e, &o->limited, &b, block);
    if (selected->outputs & GRADIENTS) api_margin_lanes_differentiate(e, &o->limited, &b, block);
    for (size_t i = 0; i < o->limited.limits.n; i++) {
        if (i % LOOK == 0 && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        write_limit(e, selected, &b, block, i);
    }
    return true;
}

/* Returns the state with the least margin of limit i, the first of several; states that failed alone do not count. */
static size_t find_least(const api_evaluation *e, const api_selection *selected, size_t i)
{
    const size_t n     = ((const margins_options *)selected->options)->limited.limits.n;
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
static bool store_gradients(const api_evaluation *e, const margins_options *o, const api_margin_lanes *b, size_t i,
                            size_t state)
{
    const size_t          W = e->lanes, nv = e->model->nv, lane = state % W;
    const dyn_limit      *l     = &o->limited.limits.limit[i];
    const api_limit_place place = {l, lane, dyn_limit_margin_at(l, b->of, W, lane)};
    double               *to = o->gradients + i * RATES * nv, sum = 0;
    for (int variable = 0; variable < RATES; variable++)
        for (size_t k = 0; k < nv; k++) {
            const size_t v = e->query->order ? (size_t)e->query->order[k] : k;
            *to            = api_margin_slope(e, b, &place, variable, v);
            sum += fabs(*to++);
        }
    return isfinite(sum) || api_fail(e->query->problem, API_RESULT_NOT_FINITE, NULL,
                                     "the gradient of the least margin of %.64s", o->limited.limits.owner[i].name);
}

/* Fails the states with margins that are not finite. The result is that of api_fail_state. */
static bool check_margins(const api_evaluation *e, const api_selection *selected)
{
    const size_t n = ((const margins_options *)selected->options)->limited.limits.n;
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

/* Evaluates a block again, in the scene of its row if rows have different ones. */
static bool evaluate_again(api_evaluation *again, const margins_options *o, api_margin_lanes *b, size_t block)
{
    if (!api_deadline_check(again->query->input->deadline, again->problem)) return false;
    if (again->own_query && !api_row_scene_set(again, block * again->lanes)) return false;
    if (again->model->loops && !api_loop_close_block(again, block)) return false;
    api_margin_lanes_find(again, &o->limited, b, block);
    api_margin_lanes_differentiate(again, &o->limited, b, block);
    return true;
}

/* Finds the gradients of all least margins. The blocks of their states are evaluated again, each block once for
 * neighbouring limits whose least margins are in it. */
static bool find_least_gradients(api_evaluation *again, const api_selection *selected)
{
    const margins_options *o     = selected->options;
    api_margin_lanes       b     = api_margin_lanes_place(again, &o->limited);
    size_t                 block = SIZE_MAX;
    for (size_t i = 0; i < o->limited.limits.n; i++) {
        const size_t state = find_least(again, selected, i);
        if (state / again->lanes != block) {
            block = state / again->lanes;
            if (!evaluate_again(again, o, &b, block)) return false;
        }
        if (!store_gradients(again, o, &b, i, state)) return false;
    }
    return true;
}

static bool finish(const api_evaluation *e, const api_selection *selected)
{
    const margins_options *o     = selected->options;
    api_evaluation         again = *e;
    if (!(selected->outputs & OF_ROWS)) return true;
    again.problem = e->query->problem;
    if (!check_margins(&again, selected)) return false;
    if (!o->gradients || api_failed_rows_all(e->plan->failed_rows)) return true;
    again.spare      = e->spares[selected - e->query->selected];
    const bool found = api_row_scene_open(&again) && find_least_gradients(&again, selected);
    api_row_scene_close(&again);
    return found;
}

/* Returns how many limits have a least margin: all, or 0 for a batch without rows. */
static size_t limits_with_least(const api_plan *plan, const margins_options *o)
{
    return plan->query->empty ? 0 : o->limited.limits.n;
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
        for (int variable = 0; variable < RATES; variable++) {
            api_emit_key(to, rate_names[variable]);
            api_emit_numbers(to, o->gradients + (i * RATES + (size_t)variable) * nv, 1, &nv);
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
        api_emit_string_member(to, "joint", o->limited.limits.owner[i].name);
        api_emit_string_member(to, "kind", api_limit_names[o->limited.limits.limit[i].kind]);
        api_emit_number_member(
            to, "margin",
            to->buffer ? api_state_lane(&e, selected->result[MARGINS], o->limited.limits.n, row)[i * e.lanes] : 0);
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
    api_limits_emit(&o->limited.limits, to);
}

const api_operation api_margins = {
    .name       = "margins",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_KINDS) | API_BIT(API_OUTPUTS),
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
