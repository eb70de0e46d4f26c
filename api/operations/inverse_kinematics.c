/* inverse_kinematics.c - finds the coordinates of a tree at which a frame has a position, direction or pose, and the
 * rates that give the frame its velocity and acceleration. */
#include "api/inverse_kinematics/pose_request.h"
#include "api/request/fields.h"
#include <math.h>

enum { Q, QD, QDD, DISTANCE, ANGLE, ITERATIONS, STARTS_NEEDED };

/* --- options ------------------------------------------------------------------------------------------------------ */

/* Selects the rates that the request's velocity and acceleration determine; checks that no others are requested. */
static bool select_rates(const api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_pose_request *r = selected->options;
    bool accelerates = r->given[API_POSE_ACCELERATION] != NULL, moves = r->given[API_POSE_VELOCITY] || accelerates;
    if (!api_node_get(given, "outputs"))
        selected->outputs |= (moves ? API_BIT(QD) : 0) | (accelerates ? API_BIT(QDD) : 0);
    if (selected->outputs & API_BIT(QD) && !moves)
        return api_fail_output(q, selected, QD, given, up, "qd is found only for a given velocity or acceleration");
    if (selected->outputs & API_BIT(QDD) && !accelerates)
        return api_fail_output(q, selected, QDD, given, up, "qdd is found only for a given acceleration");
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "inverse-kinematics is for models without loops: give a platform to any other operation");
    selected->options = api_pose_request_read(q, given, up);
    return selected->options && select_rates(q, selected, given, up);
}

static size_t own_entries(const api_selection *selected)
{
    return api_pose_request_entries(selected->options);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_pose_request_fill(plan, selected->options);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Counts the scratch lanes: the workspace of the solver, the start, and q and qd if they are needed but not requested.
 */
static size_t spare(const api_model *model, const api_selection *selected)
{
    (void)selected;
    return api_pose_entries(model, 1) + 2 * model->nq + 2 * model->nv + 2;
}

/* Lanes of a block. */
typedef struct block_lanes {
    double *room, *start, *q, *qd, *qdd, *distance, *angle;
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
    b.start        = b.room + api_pose_entries(e->model, W);
    double *next   = b.start + nq * W;
    if (!b.q) b.q = next;
    if (!b.qd) b.qd = next + nq * W;
    if (!b.distance) b.distance = next + (nq + nv) * W;
    if (!b.angle) b.angle = next + (nq + nv + 1) * W;
    return b;
}

/* Returns the starting positions of a block: those of the request, or the middle of the bounds. */
static const double *starts_of(const api_evaluation *e, const api_pose_request *r, size_t block, double *start)
{
    const double *given = api_state_block(e, API_Q, block);
    for (size_t i = 0; !given && i < e->model->nq; i++)
        for (size_t lane = 0; lane < e->lanes; lane++)
            start[i * e->lanes + lane] = r->start[i];
    return given ? given : start;
}

/* Fails a state whose frame does not reach its goal. */
static bool fail_goal(const api_evaluation *e, const api_pose_request *r, size_t state, double distance, double angle)
{
    api_problem found;
    api_problem_clear(&found);
    api_fail(
        &found, API_OUT_OF_REACH, NULL,
        "the frame came no nearer than %.3g m and %.3g rad, from %zu starting position%s: the goal is out of reach, or "
        "give a nearer q or more starts",
        distance, angle, r->problem.most_starts, r->problem.most_starts == 1 ? "" : "s");
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

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    const api_pose_request *r = selected->options;
    const block_lanes       b = place(e, selected, block);
    double                 *lanes[API_POSE_PARTS];
    size_t first = block * e->lanes, left = api_states(e->query) - first, live = left < e->lanes ? left : e->lanes;
    for (size_t i = 0; i < API_POSE_PARTS; i++)
        lanes[i] = api_block(e, r->lanes[i], r->entries[i], block);
    const api_pose_goals goals = {.position    = lanes[API_POSE_POSITION],
                                  .orientation = lanes[API_POSE_ORIENTATION],
                                  .direction   = lanes[API_POSE_DIRECTION],
                                  .start       = starts_of(e, r, block, b.start)};
    const api_pose_found found = {.q          = b.q,
                                  .distance   = b.distance,
                                  .angle      = b.angle,
                                  .iterations = api_result_block(e, selected, ITERATIONS, block),
                                  .starts     = api_result_block(e, selected, STARTS_NEEDED, block)};
    unsigned solved = api_pose_solve(&r->problem, e->plan->target, e->workspace, b.room, &goals, live, &found),
             moved  = solved;
    if (selected->outputs & (API_BIT(QD) | API_BIT(QDD)))
        moved = api_pose_rates(&r->problem, e->plan->target, e->workspace, b.room, b.q, lanes[API_POSE_VELOCITY],
                               lanes[API_POSE_ACCELERATION], live, b.qd, b.qdd);
    for (size_t lane = 0; lane < live; lane++) {
        if (!(solved >> lane & 1) && !fail_goal(e, r, first + lane, b.distance[lane], b.angle[lane])) return false;
        if (solved >> lane & 1 && !(moved >> lane & 1) && !fail_rates(e, r, first + lane)) return false;
    }
    return true;
}

const api_operation api_inverse_kinematics = {
    .name  = "inverse-kinematics",
    .takes = API_BIT(API_Q) | API_BIT(API_JOINTS) | API_BIT(API_FRAME) | API_BIT(API_POSITION) |
             API_BIT(API_ORIENTATION) | API_BIT(API_DIRECTION) | API_BIT(API_AXIS) | API_BIT(API_VELOCITY) |
             API_BIT(API_ACCELERATION) | API_BIT(API_LIMITS) | API_BIT(API_STARTS) | API_BIT(API_TOLERANCE) |
             API_BIT(API_DAMPING) | API_BIT(API_OUTPUTS),
    .needs_options = API_BIT(API_FRAME) | API_BIT(API_POSITION),
    .outputs       = {[Q]             = {"q", true, {API_NQ}},
                      [QD]            = {"qd", false, {API_NV}},
                      [QDD]           = {"qdd", false, {API_NV}},
                      [DISTANCE]      = {"distance", false, {0}},
                      [ANGLE]         = {"angle", false, {0}},
                      [ITERATIONS]    = {"iterations", false, {0}},
                      [STARTS_NEEDED] = {"starts_needed", false, {0}}},
    .alone         = true,
    .one_by_one    = true,
    .weight        = 60,
    .options       = options,
    .own_entries   = own_entries,
    .prepare       = prepare,
    .spare         = spare,
    .evaluate      = evaluate,
};
