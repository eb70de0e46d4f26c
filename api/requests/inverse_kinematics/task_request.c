/* task_request.c - reads tasks of frames and of the centre of mass (task_request.h). */
#include "pose_request.h"
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/rows.h"
#include "api/requests/lanes/vector_reader.h"
#include "dynamics/math/geometry.h"
#include <math.h>

enum { MOST_PRIORITY = 15 };

/* --- a task ------------------------------------------------------------------------------------------------------- */

static bool read_weight(const api_query *q, const api_node *node, const api_place *up, dyn_frame_task *task)
{
    const api_place weight_at = api_place_key(up, "weight"), priority_at = api_place_key(up, "priority");
    const api_node *weight = api_node_get(node, "weight"), *priority = api_node_get(node, "priority");
    double          level = 0;
    if (weight && !api_read_number(q, weight, &weight_at, &task->weight)) return false;
    if (!(task->weight > 0))
        return api_fail_at(q->problem, &weight_at, API_BAD_VALUE, "%s given, a weight greater than 0 expected",
                           API_NUMBER_TEXT(task->weight));
    if (priority && !api_read_number(q, priority, &priority_at, &level)) return false;
    if (!(level >= 0 && level <= MOST_PRIORITY) || level != floor(level))
        return api_fail_at(q->problem, &priority_at, API_BAD_VALUE, "%s given, a whole number from 0 to %d expected",
                           API_NUMBER_TEXT(level), MOST_PRIORITY);
    task->priority = (size_t)level;
    return true;
}

static bool read_task_axis(const api_query *q, const api_node *node, const api_place *up, dyn_frame_task *task)
{
    const api_node *axis  = api_node_get(node, "axis");
    const api_place where = api_place_key(up, "axis");
    task->axis[2]         = 1;
    if (!axis) return true;
    if (!api_node_get(node, "direction"))
        return api_fail_at(q->problem, &where, API_BAD_VALUE, "axis is given without direction, along which it points");
    if (!api_read_numbers(q, axis, &where, 3, task->axis)) return false;
    const double length = dyn_norm(task->axis);
    for (int i = 0; i < 3; i++)
        task->axis[i] /= length;
    return (length > 0 && isfinite(length)) ||
           api_fail_at(q->problem, &where, API_BAD_VALUE, "the axis must have a length");
}

/* Stores the node and the place of a vector of the task, and counts its rows. */
static bool take_vector(api_query *q, const api_node *node, const char *name, size_t i, api_task_goal *goal)
{
    goal->given[i] = api_node_get(node, name);
    goal->where[i] = api_place_key(&goal->at, name);
    return !goal->given[i] || api_batch_measure(q, goal->given[i], &goal->where[i]);
}

/* Reads the vectors of a frame's pose. */
static bool read_pose(api_query *q, const api_node *node, dyn_frame_task *task, api_task_goal *goal)
{
    const bool turned = api_node_get(node, "orientation") != NULL, pointed = api_node_get(node, "direction") != NULL;
    if (turned && pointed)
        return api_fail_at(q->problem, &goal->at, API_BAD_VALUE,
                           "direction and orientation are both given: leave out one, or make two tasks");
    if (!take_vector(q, node, "position", 0, goal) ||
        !take_vector(q, node, turned ? "orientation" : "direction", 1, goal))
        return false;
    task->positioned = goal->given[0] != NULL;
    task->turn       = turned ? DYN_TURN_ORIENTATION : pointed ? DYN_TURN_DIRECTION : DYN_TURN_FREE;
    goal->entries[0] = 3;
    goal->entries[1] = turned ? 4 : 3;
    return task->positioned || turned || pointed ||
           api_fail_at(q->problem, &goal->at, API_MISSING_FIELD,
                       "a task of a frame needs position, orientation or direction");
}

/* Reads the twist of a frame: 3 linear entries, or 6 with the angular ones. */
static bool read_twist(api_query *q, const api_node *node, dyn_frame_task *task, api_task_goal *goal)
{
    if (!take_vector(q, node, "velocity", 0, goal)) return false;
    if (!goal->given[0])
        return api_fail_at(q->problem, &goal->where[0], API_MISSING_FIELD, "a task of a frame needs velocity");
    const api_node *one = goal->given[0];
    api_node        row;
    if (api_is_batch(one, 1) && api_node_item(one, 0, &row)) one = &row;
    const bool whole = api_node_is(one, API_ARRAY) && api_node_size(one) == 6;
    task->positioned = true;
    task->turn       = whole ? DYN_TURN_ORIENTATION : DYN_TURN_FREE;
    goal->entries[0] = whole ? 6 : 3;
    return true;
}

static bool read_frame_task(api_query *q, const api_node *node, bool velocities, dyn_frame_task *task,
                            api_task_goal *goal)
{
    static const char *const pose_keys[]  = {"frame", "position", "orientation", "direction",
                                             "axis",  "weight",   "priority",    NULL};
    static const char *const twist_keys[] = {"frame", "velocity", "weight", "priority", NULL};
    const api_place          frame_at     = api_place_key(&goal->at, "frame");
    if (!api_check_keys(q, node, &goal->at, velocities ? twist_keys : pose_keys, "a task of a frame")) return false;
    const int frame = api_read_frame(q, api_node_get(node, "frame"), &frame_at);
    if (frame < 0) return false;
    task->frame = &q->model->frames[frame].frame;
    if (task->frame->body == DYN_WORLD)
        return api_fail_at(q->problem, &frame_at, API_BAD_VALUE, "no joint moves this frame");
    task->reach = dyn_point_reach(q->model->dyn, task->frame->body, task->frame->X_bf.p);
    return velocities ? read_twist(q, node, task, goal)
                      : read_pose(q, node, task, goal) && read_task_axis(q, node, &goal->at, task);
}

static bool read_com_task(api_query *q, const api_node *node, bool velocities, dyn_frame_task *task,
                          api_task_goal *goal)
{
    static const char *const keys[2][4] = {{"com", "weight", "priority", NULL},
                                           {"com_velocity", "weight", "priority", NULL}};
    if (!api_check_keys(q, node, &goal->at, keys[velocities], "a task of the centre of mass")) return false;
    task->positioned = true;
    for (size_t i = 0; i < q->model->dyn->n_bodies; i++)
        task->reach = fmax(task->reach, dyn_point_reach(q->model->dyn, (int)i, (const double[3]){0}));
    goal->entries[0] = 3;
    return take_vector(q, node, keys[velocities][0], 0, goal);
}

static bool read_task(api_query *q, const api_node *node, bool velocities, dyn_frame_task *task, api_task_goal *goal)
{
    *task                 = (dyn_frame_task){.weight = 1};
    const char *const com = velocities ? "com_velocity" : "com";
    if (!api_node_is(node, API_OBJECT))
        return api_fail_at(q->problem, &goal->at, API_WRONG_TYPE, "a task is an object with frame or %s", com);
    const bool of_com = api_node_get(node, com) != NULL;
    if (!of_com && !api_node_get(node, "frame"))
        return api_fail_at(q->problem, &goal->at, API_MISSING_FIELD, "a task needs frame or %s", com);
    return (of_com ? read_com_task(q, node, velocities, task, goal)
                   : read_frame_task(q, node, velocities, task, goal)) &&
           read_weight(q, node, &goal->at, task);
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

/* Inserts task i into the order of the priorities. */
static void sort_task(api_task_request *r, size_t i)
{
    const dyn_frame_task task = r->task[i];
    const api_task_goal  goal = r->goal[i];
    for (; i > 0 && r->task[i - 1].priority > task.priority; i--) {
        r->task[i] = r->task[i - 1];
        r->goal[i] = r->goal[i - 1];
    }
    r->task[i] = task;
    r->goal[i] = goal;
}

api_task_request *api_task_request_read(api_query *q, const api_node *list, const api_place *up, bool velocities)
{
    api_task_request *r = api_take(q->pool, sizeof *r);
    if (!r) return NULL;
    *r = (api_task_request){.list = api_place_key(up, "tasks"), .velocities = velocities};
    if (!api_check_list(q, list, &r->list, "task")) return NULL;
    if (q->model->dyn->nv > API_TASK_MOST_VELOCITIES) {
        api_fail_at(q->problem, &r->list, API_NOT_SUPPORTED,
                    "the model has %d velocities%s, and tasks are for at most %d: lock joints, or give the goal of "
                    "one frame",
                    q->model->dyn->nv, q->model->loops ? " with its passive joints" : "", API_TASK_MOST_VELOCITIES);
        return NULL;
    }
    r->n = api_node_size(list);
    if (r->n > DYN_MOST_TASKS) {
        api_fail_at(q->problem, &r->list, API_WRONG_SHAPE, "%zu tasks given, at most %d expected", r->n,
                    DYN_MOST_TASKS);
        return NULL;
    }
    r->task = api_take(q->pool, r->n * sizeof *r->task);
    r->goal = api_take(q->pool, r->n * sizeof *r->goal);
    for (size_t i = 0; r->task && r->goal && i < r->n; i++) {
        api_node node;
        r->goal[i] = (api_task_goal){.at = api_place_index(&r->list, i), .index = i};
        if (!api_node_item(list, i, &node) || !read_task(q, &node, velocities, &r->task[i], &r->goal[i])) return NULL;
    }
    for (size_t i = 1; r->task && r->goal && i < r->n; i++)
        sort_task(r, i);
    for (size_t i = 0; r->task && r->goal && i < r->n; i++)
        r->goal[i].where[0].parent = r->goal[i].where[1].parent = &r->goal[i].at;
    return r->task && r->goal ? r : NULL;
}

/* --- vectors ------------------------------------------------------------------------------------------------------ */

size_t api_task_request_entries(const api_task_request *r)
{
    size_t sum = 0;
    for (size_t i = 0; i < 2 * r->n; i++)
        sum += r->goal[i / 2].given[i % 2] ? r->goal[i / 2].entries[i % 2] : 0;
    return sum;
}

bool api_task_request_fill(api_plan *plan, api_task_request *r)
{
    static const double upright[4] = {0, 0, 0, 1}, up[3] = {0, 0, 1};
    for (size_t k = 0; k < 2 * r->n; k++) {
        api_task_goal *goal = &r->goal[k / 2];
        const size_t   i    = k % 2;
        if (!goal->given[i]) continue;
        api_vector v = {
            .value = goal->given[i], .at = goal->where[i], .n = goal->entries[i], .stride = goal->entries[i]};
        if (i == 1 && goal->entries[1] == 4) v.check = api_check_orientation, v.neutral = upright;
        if (i == 1 && goal->entries[1] == 3) v.check = api_check_direction, v.neutral = up;
        v.lanes = goal->lanes[i] = api_take_lanes(plan, v.n);
        if (!v.lanes || !api_vector_read(plan, &v)) return false;
    }
    return true;
}

void api_task_goals(const api_evaluation *e, const api_task_request *r, size_t state, double *goal)
{
    for (size_t k = 0; k < r->n; k++, goal += DYN_TASK_GOAL)
        for (size_t i = 0; i < 2; i++) {
            const api_task_goal *g = &r->goal[k];
            if (!g->given[i]) continue;
            const double *lane = api_state_lane(e, g->lanes[i], g->entries[i], state);
            for (size_t j = 0; j < g->entries[i]; j++)
                goal[3 * i + j] = lane[j * e->lanes];
        }
}

bool api_task_fail(const api_evaluation *e, const api_task_request *r, size_t state, const api_problem *found)
{
    for (size_t k = 0; k < 2 * r->n; k++) {
        const api_task_goal *goal = &r->goal[k / 2];
        if (goal->given[k % 2] && api_is_batch(goal->given[k % 2], 1))
            return api_fail_entry(e, &goal->where[k % 2], state, found);
    }
    const bool from_q = e->query->field[API_Q] && api_is_batch(e->query->field[API_Q], 1);
    return api_fail_found(e, from_q ? API_Q : API_TASKS, state, found);
}
