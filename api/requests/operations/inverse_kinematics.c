/* inverse_kinematics.c - finds the coordinates of a tree at which a frame has a position, direction or pose, and the
 * rates that give the frame its velocity and acceleration; or coordinates at which several frames meet tasks. */
#include "api/requests/inverse_kinematics/task_evaluate.h"
#include "api/requests/cost/peek.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/fields/fields.h"
#include "api/codec/emit.h"
#include <math.h>
#include <string.h>
#include <stdio.h>

/* --- options ------------------------------------------------------------------------------------------------------ */

/* Selects the rates that the request's velocity and acceleration determine; checks that no others are requested. */
static bool select_rates(const api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    const api_pose_request *r = selected->options;
    bool accelerates = r->given[API_POSE_ACCELERATION] != NULL, moves = r->given[API_POSE_VELOCITY] || accelerates;
    if (!api_node_get(fields, "outputs"))
        selected->outputs |= (moves ? API_BIT(QD) : 0) | (accelerates ? API_BIT(QDD) : 0);
    if (selected->outputs & API_BIT(QD) && !moves)
        return api_fail_output(q, selected, QD, fields, up, "qd is found only for a given velocity or acceleration");
    if (selected->outputs & API_BIT(QDD) && !accelerates)
        return api_fail_output(q, selected, QDD, fields, up, "qdd is found only for a given acceleration");
    return true;
}

/* Checks a request for a model with loops: it has tasks, and a start whose loops can be closed. */
static bool check_loops(const api_query *q, const api_node *fields)
{
    static const api_place q_at = {.key = "q"};
    if (!api_node_get(fields, "tasks"))
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "the goal of one frame is for models without loops: make the goal a list of one task, or give "
                        "a platform to any other operation");
    return q->field[API_Q] || api_fail_at(q->problem, &q_at, API_NOT_FOR_LOOPS,
                                          "a search without q is for models without loops: give q, such as the "
                                          "actuated positions of the reference");
}

static bool options(api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    if (q->model->loops && !check_loops(q, fields)) return false;
    const api_pose_request *r = selected->options = api_pose_request_read(q, fields, up);
    if (!r || !select_rates(q, selected, fields, up)) return false;
    selected->all_in_lanes = r->sequence || selected->outputs & API_BIT(AT_LIMITS);
    selected->shares_time  = true;
    api_set_extent(selected, API_REQUEST_TASKS, r->tasks ? r->tasks->n : 0);
    return r->tasks || !(selected->outputs & API_BIT(TASK_ERRORS)) ||
           api_fail_output(q, selected, TASK_ERRORS, fields, up, "task_errors is found only for tasks");
}

static size_t own_entries(const api_selection *selected)
{
    return api_pose_request_entries(selected->options);
}

/* Reserves the lanes of the positions, zeroed: a sequence is found after the results are checked. */
static bool take_positions(api_plan *plan, api_selection *selected)
{
    const size_t nq     = plan->query->model->nq;
    selected->result[Q] = api_take_lanes(plan, nq);
    if (selected->result[Q]) memset(selected->result[Q], 0, plan->window * plan->lanes * nq * sizeof(double));
    return selected->result[Q] != NULL;
}

/* The joints at their limits are found in the positions of all states, which need lanes even if they are not in the
 * answer. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    const bool        at_limits = selected->outputs & API_BIT(AT_LIMITS);
    const size_t      nq        = (size_t)plan->query->model->dyn->nq;
    api_pose_request *r         = selected->options;
    if (!api_pose_request_fill(plan, r)) return false;
    if (!plan->query->model->loops) return !at_limits || take_positions(plan, selected);
    r->closed = api_take_lanes(plan, nq);
    r->tree_q = at_limits ? api_take_lanes(plan, nq) : NULL;
    return r->closed && (!at_limits || r->tree_q);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Counts the scratch lanes: the workspace of the solver, the start, and q and qd if they are needed but not requested.
 */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const api_pose_request *r = selected->options;
    if (r->tasks) return api_task_spare(model, r);
    return dyn_pose_entries(model->nq, model->nv, 1) + 3 * model->nq + 2 * model->nv + 2;
}

/* Lanes of a block: start, workspace of the solver and results. */
typedef struct block_lanes {
    double *room, *start, *in_the_way, *q, *qd, *qdd, *distance, *angle;
} block_lanes;

static block_lanes place(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const size_t W = e->lanes, nq = e->model->nq, nv = e->model->nv;
    block_lanes  b = {.q        = api_result_block(e, selected, Q, block),
                      .qd       = api_result_block(e, selected, QD, block),
                      .qdd      = api_result_block(e, selected, QDD, block),
                      .distance = api_result_block(e, selected, DISTANCE, block),
                      .angle    = api_result_block(e, selected, ANGLE, block),
                      .room     = e->spare};
    b.start        = b.room + dyn_pose_entries(nq, nv, W);
    b.in_the_way   = b.start + nq * W;
    double *next   = b.in_the_way + nq * W;
    if (!b.q) b.q = next;
    if (!b.qd) b.qd = next + nq * W;
    if (!b.distance) b.distance = next + (nq + nv) * W;
    if (!b.angle) b.angle = next + (nq + nv + 1) * W;
    return b;
}

/* Returns the starting positions of a block: those of the request, or the middle of the bounds. */
static const double *starts_of(const api_evaluation *e, const api_pose_request *r, size_t block, double *start)
{
    const double *positions = api_state_block(e, API_Q, block);
    for (size_t i = 0; !positions && i < e->model->nq; i++)
        for (size_t lane = 0; lane < e->lanes; lane++)
            start[i * e->lanes + lane] = r->start[i];
    return positions ? positions : start;
}

enum { LIMITS_TEXT = 300 /* bytes of the names of limits in a message */ };

/* True if the limit is the bound that `side` marks: 1, the upper one of its coordinate, or -1, the lower one. The upper
 * limit of a mimic joint with a negative multiplier is the lower bound of its leader. */
static bool is_bound(const api_pose_request *r, const dyn_limit *limit, double side)
{
    const size_t i     = limit->entry[0];
    const double one   = (limit->lower - limit->offset) / limit->weight[0],
                 other = (limit->upper - limit->offset) / limit->weight[0];
    return side > 0 ? fmax(one, other) == r->upper[i] : side < 0 && fmin(one, other) == r->lower[i];
}

/* Writes which limits are in the way of a state, as the second part of a message. */
static void write_limits(const api_evaluation *e, const api_pose_request *r, const double *in_the_way, char *text)
{
    size_t length = 0;
    text[0]       = 0;
    for (size_t i = 0; i < r->limits.n && length < LIMITS_TEXT; i++) {
        const dyn_limit *limit = &r->limits.limit[i];
        const double     side  = in_the_way[limit->entry[0] * e->lanes];
        if (!is_bound(r, limit, side)) continue;
        const double bound = (side > 0) == (limit->weight[0] > 0) ? limit->upper : limit->lower;
        length += (size_t)snprintf(text + length, LIMITS_TEXT - length, "%s%.40s (%.6g)",
                                   length == 0 ? "; limits are in the way: " : ", ", r->limits.owner[i].name, bound);
    }
}

#define FAR_OFF 10.0 /* m, beyond which the goal may be in millimetres */

/* Fails a state whose frame does not reach its goal. */
static bool fail_goal(const api_evaluation *e, const api_pose_request *r, size_t state, const block_lanes *b)
{
    const size_t lane = state % e->lanes;
    api_problem  found;
    char         limits[LIMITS_TEXT];
    api_problem_clear(&found);
    write_limits(e, r, b->in_the_way + lane, limits);
    api_fail(
        &found, API_OUT_OF_REACH, NULL,
        "the frame came no nearer than %.3g m and %.3g rad, from %zu starting position%s: the goal is out of reach, or "
        "give a nearer q or more starts%s%s",
        b->distance[lane], b->angle[lane], r->problem.most_starts, r->problem.most_starts == 1 ? "" : "s",
        b->distance[lane] > FAR_OFF ? "; positions are in metres" : "", limits);
    return api_pose_request_fail(e, r, state, &found);
}

/* Fails a state whose frame cannot have the given velocity or acceleration. */
static bool fail_rates(const api_evaluation *e, const api_pose_request *r, size_t state)
{
    api_problem found;
    api_problem_clear(&found);
    api_fail(
        &found, API_SINGULAR_JACOBIAN, NULL,
        "at the position that was found, the frame cannot have the given velocity or acceleration: give damping, or "
        "another start q");
    return api_pose_request_fail(e, r, state, &found);
}

/* Fails a state whose search did not end in its share of the time. */
static bool fail_stopped(const api_evaluation *e, const api_pose_request *r, size_t state)
{
    api_problem found;
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    api_problem_clear(&found);
    api_row_share_problem(e->plan, &found);
    return api_pose_request_fail(e, r, state, &found);
}

/* Sets of lanes: bit i is set for lane i. */
typedef struct lane_sets {
    unsigned stopped; /* the search did not end in its time */
    unsigned solved, moved;
} lane_sets;

/* Fails the states of a block that were not solved: those whose share of the time was used up, and those whose frame
 * does not reach its goal, or whose frame cannot have its velocity or acceleration. */
static bool check_found(const api_evaluation *e, const api_pose_request *r, size_t first, size_t live,
                        const block_lanes *b, const lane_sets *sets)
{
    for (size_t lane = 0; lane < live; lane++) {
        const unsigned bit  = 1u << lane;
        bool           good = true;
        if (sets->stopped & bit)
            good = fail_stopped(e, r, first + lane);
        else if (!(sets->solved & bit))
            good = fail_goal(e, r, first + lane, b);
        else if (!(sets->moved & bit))
            good = fail_rates(e, r, first + lane);
        if (!good) return false;
    }
    return true;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const api_pose_request *r = selected->options;
    if (r->tasks) return api_task_evaluate(e, selected, block);
    const block_lanes b = place(e, selected, block);
    double           *lanes[API_POSE_PARTS];
    size_t first = block * e->lanes, left = api_states(e->query) - first, live = left < e->lanes ? left : e->lanes;
    const api_row_share share   = api_row_share_take(e->plan, live);
    dyn_pose_problem    problem = r->problem;
    lane_sets           sets    = {0};
    problem.deadline            = api_row_share_for_dynamics(&share);
    for (size_t i = 0; i < API_POSE_PARTS; i++)
        lanes[i] = api_block(e, r->lanes[i], r->entries[i], block);
    const dyn_pose_goals goals = {.position    = lanes[API_POSE_POSITION],
                                  .orientation = lanes[API_POSE_ORIENTATION],
                                  .direction   = lanes[API_POSE_DIRECTION],
                                  .start       = starts_of(e, r, block, b.start)};
    const dyn_pose_found found = {.q          = b.q,
                                  .distance   = b.distance,
                                  .angle      = b.angle,
                                  .iterations = api_result_block(e, selected, ITERATIONS, block),
                                  .starts     = api_result_block(e, selected, STARTS_NEEDED, block),
                                  .in_the_way = b.in_the_way,
                                  .stopped    = &sets.stopped};
    sets.solved = sets.moved = dyn_pose_solve(&problem, e->plan->target, e->workspace, b.room, &goals, live, &found);
    if (selected->outputs & (API_BIT(QD) | API_BIT(QDD)))
        sets.moved = dyn_pose_rates(&problem, e->plan->target, e->workspace, b.room, b.q, lanes[API_POSE_VELOCITY],
                                    lanes[API_POSE_ACCELERATION], live, b.qd, b.qdd);
    return check_found(e, r, first, live, &b, &sets);
}

/* --- cost --------------------------------------------------------------------------------------------------------- */

/* Returns the expected seconds of the search of one state. Most searches end at the first start, after some ten
 * iterations. In one state of sixteen the goal is hard or out of reach, and every start may be needed, with some 25
 * iterations each. An iteration finds a Jacobian of `rows` rows and the products of its rows, in scalar code. */
static double search_seconds(const api_model *m, double starts, double rows)
{
    const double begun = 1.5e-6, entry = 22e-9, first = 10, further = 25.0 / 16;
    return (first + further * fmax(starts - 1, 0)) * (begun + entry * rows * (double)m->nv);
}

static double state_seconds(const api_call *call, const api_input *input)
{
    const double starts = api_peek_number(call, input, API_STARTS);
    return search_seconds(call->model, starts > 0 ? fmin(starts, API_POSE_MOST_STARTS) : API_POSE_USUAL_STARTS,
                          DYN_GOAL_ROWS);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_pose_request *r = selected->options;
    const dyn_pose_problem *p = &r->problem;
    if (r->tasks) return (double)api_states(q) * api_task_seconds(q->model, r);
    const double rows = p->kind == DYN_GOAL_POSITION ? 3 : DYN_GOAL_ROWS;
    return (double)api_states(q) * search_seconds(q->model, (double)p->most_starts, rows);
}

/* --- joints at their limits --------------------------------------------------------------------------------------- */

/* Distance of a position that counts as at the limit, relative to the limit or to 1 rad or m. Passive joints of loops
 * come to their limits by Newton's steps. */
#define AT_LIMIT         1e-12
#define AT_PASSIVE_LIMIT 2e-9

/* Returns the limit at which the position of a joint is; NAN: none. `q` is a lane. */
static double limit_at(const api_evaluation *e, const api_pose_request *r, const dyn_limit *limit, const double *q)
{
    const double near = r->tree_q ? AT_PASSIVE_LIMIT : AT_LIMIT;
    const double x    = dyn_limit_quantity(limit, q, e->lanes, 0);
    for (size_t side = 0; side < 2; side++) {
        const double bound = side == 0 ? limit->lower : limit->upper;
        if (fabs(x - bound) <= near * fmax(1, fabs(bound))) return bound;
    }
    return NAN;
}

/* Emits the joints of one state that are at their limits; before the evaluation, all of them. */
static void emit_state(const api_evaluation *e, const api_pose_request *r, const double *q, api_emit *to)
{
    api_emit_array(to);
    for (size_t i = 0; i < r->limits.n; i++) {
        const double bound = q ? limit_at(e, r, &r->limits.limit[i], q) : 0;
        if (isnan(bound)) continue;
        api_emit_object(to);
        api_emit_string_member(to, "joint", r->limits.owner[i].name);
        api_emit_number_member(to, "limit", bound);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    (void)output; /* always at_limits, the only output that this function writes */
    const api_pose_request *r     = selected->options;
    const api_evaluation    e     = api_evaluation_of(plan);
    const size_t            n     = plan->query->empty ? 0 : api_states(plan->query);
    double *const           lanes = r->tree_q ? r->tree_q : selected->result[Q];
    if (plan->query->batched) api_emit_array(to);
    for (size_t state = 0; state < n; state++)
        if (plan->failed_rows && (to->buffer ? api_failed_rows_has(plan->failed_rows, state) : r->limits.n == 0))
            api_emit_null(to); /* null, which is longer than an empty list: measures the answer before the evaluation */
        else
            emit_state(&e, r, to->buffer ? api_state_lane(&e, lanes, (size_t)e.model->dyn->nq, state) : NULL, to);
    if (plan->query->batched) api_emit_end(to);
}

const api_operation api_inverse_kinematics = {
    .name  = "inverse-kinematics",
    .takes = API_BIT(API_Q) | API_BIT(API_JOINTS) | API_BIT(API_FRAME) | API_BIT(API_POSITION) |
             API_BIT(API_ORIENTATION) | API_BIT(API_DIRECTION) | API_BIT(API_AXIS) | API_BIT(API_VELOCITY) |
             API_BIT(API_ACCELERATION) | API_BIT(API_LIMITS) | API_BIT(API_STARTS) | API_BIT(API_TOLERANCE) |
             API_BIT(API_DAMPING) | API_BIT(API_TASKS) | API_BIT(API_SEQUENCE) | API_BIT(API_GUESS) |
             API_BIT(API_OUTPUTS),
    .outputs         = {[Q]             = {"q", true, {API_NQ}},
                        [QD]            = {"qd", false, {API_NV}},
                        [QDD]           = {"qdd", false, {API_NV}},
                        [DISTANCE]      = {"distance", false, {0}},
                        [ANGLE]         = {"angle", false, {0}},
                        [ITERATIONS]    = {"iterations", false, {0}},
                        [STARTS_NEEDED] = {"starts_needed", false, {0}},
                        [AT_LIMITS]     = {"at_limits", false, {API_STRUCTURED}},
                        [TASK_ERRORS]   = {"task_errors", false, {API_REQUEST_TASKS, 2}}},
    .alone           = true,
    .one_by_one      = true,
    .weight          = 1,
    .state_seconds   = state_seconds,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .own_entries     = own_entries,
    .prepare         = prepare,
    .spare           = spare,
    .emit            = emit,
    .evaluate        = evaluate,
    .finish          = api_task_follow,
    .unordered       = true,
};
