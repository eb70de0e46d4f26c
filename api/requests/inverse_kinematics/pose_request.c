/* pose_request.c - see pose_request.h. */
#include "pose_request.h"
#include "api/requests/lanes/vector_reader.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/rows.h"
#include "api/codec/number.h"
#include <math.h>

static const char *const part_names[API_POSE_PARTS] = {"position", "orientation", "direction", "velocity",
                                                       "acceleration"};

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* Narrows the bounds of the coordinate that a limit of positions bounds. */
static void narrow(const dyn_limit *limit, api_pose_request *r)
{
    const size_t i     = limit->entry[0];
    const double one   = (limit->lower - limit->offset) / limit->weight[0],
                 other = (limit->upper - limit->offset) / limit->weight[0];
    r->lower[i]        = fmax(r->lower[i], fmin(one, other));
    r->upper[i]        = fmin(r->upper[i], fmax(one, other));
}

/* Sets the bounds of all coordinates and the start of states without q: the middle of the bounds; 0, or the bound that
 * is nearest to it, where they are infinite. */
static void set_bounds(const api_model *m, const api_limit_list *limits, api_pose_request *r)
{
    const size_t nq = (size_t)m->dyn->nq;
    for (size_t i = 0; i < nq; i++)
        r->lower[i] = -INFINITY, r->upper[i] = INFINITY, r->start[i] = 0;
    for (size_t i = 0; i < limits->n; i++)
        narrow(&limits->limit[i], r);
    for (size_t i = 0; i < nq; i++)
        r->start[i] = isfinite(r->lower[i] + r->upper[i]) ? 0.5 * (r->lower[i] + r->upper[i])
                                                          : fmin(fmax(0, r->lower[i]), r->upper[i]);
    for (size_t i = 0; i < m->dyn->n_bodies; i++) {
        int quaternion = dyn_quaternion_offset(&m->dyn->body[i]);
        if (quaternion >= 0) r->start[m->dyn->body[i].joint.q + quaternion + 3] = 1;
    }
}

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_not_negative(const api_query *q, const api_node *options, const char *name, const api_place *up,
                              double *value)
{
    api_place       where = api_place_key(up, name);
    const api_node *node  = api_node_get(options, name);
    if (!node) return true;
    if (!api_read_number(q, node, &where, value)) return false;
    return *value >= 0 || api_fail_at(q->problem, &where, API_BAD_VALUE, "%s given, a number not less than 0 expected",
                                      API_NUMBER_TEXT(*value));
}

static bool read_starts(const api_query *q, const api_node *options, const api_place *up, size_t *starts)
{
    api_place       where = api_place_key(up, "starts");
    const api_node *node  = api_node_get(options, "starts");
    double          value = API_POSE_USUAL_STARTS;
    if (node && !api_read_number(q, node, &where, &value)) return false;
    if (!(value >= 1 && value <= API_POSE_MOST_STARTS) || value != floor(value))
        return api_fail_at(q->problem, &where, API_BAD_VALUE, "%s given, a whole number from 1 to %d expected",
                           API_NUMBER_TEXT(value), API_POSE_MOST_STARTS);
    *starts = (size_t)value;
    return true;
}

/* Reads the axis of the frame that points along the direction; by default z. */
static bool read_axis(const api_query *q, const api_node *options, const api_place *up, double axis[3])
{
    api_place       where = api_place_key(up, "axis");
    const api_node *node  = api_node_get(options, "axis");
    axis[0] = axis[1] = 0, axis[2] = 1;
    if (!node) return true;
    if (!api_node_get(options, "direction"))
        return api_fail_at(q->problem, &where, API_BAD_VALUE, "axis is given without direction, along which it points");
    if (!api_read_numbers(q, node, &where, 3, axis)) return false;
    double length = dyn_norm(axis);
    for (int i = 0; i < 3; i++)
        axis[i] /= length;
    return (length > 0 && isfinite(length)) ||
           api_fail_at(q->problem, &where, API_BAD_VALUE, "the axis must have a length");
}

static bool read_flag_of_limits(const api_query *q, const api_node *options, const api_place *up, bool *limited)
{
    api_place where = api_place_key(up, "limits");
    *limited        = true;
    return api_read_flag(q, api_node_get(options, "limits"), &where, limited);
}

/* Checks which vectors are given together, and counts their rows. */
static bool measure_parts(api_query *q, const api_node *options, const api_place *up, api_pose_request *r)
{
    for (size_t i = 0; i < API_POSE_PARTS; i++) {
        api_place where = api_place_key(up, part_names[i]);
        r->given[i]     = api_node_get(options, part_names[i]);
        if (r->given[i] && !api_batch_measure(q, r->given[i], &where)) return false;
    }
    bool      turned = r->given[API_POSE_ORIENTATION] != NULL, pointed = r->given[API_POSE_DIRECTION] != NULL;
    api_place where = api_place_key(up, "direction");
    if (turned && pointed)
        return api_fail_at(q->problem, &where, API_BAD_VALUE,
                           "direction and orientation are both given: leave out one");
    for (size_t i = API_POSE_VELOCITY; pointed && i < API_POSE_PARTS; i++)
        if (r->given[i]) {
            where = api_place_key(up, part_names[i]);
            return api_fail_at(q->problem, &where, API_BAD_VALUE,
                               "%s is for a position or a pose, and a direction is given", part_names[i]);
        }
    r->problem.kind               = turned ? DYN_GOAL_POSE : pointed ? DYN_GOAL_DIRECTION : DYN_GOAL_POSITION;
    r->entries[API_POSE_POSITION] = r->entries[API_POSE_DIRECTION] = 3;
    r->entries[API_POSE_ORIENTATION]                               = 4;
    r->entries[API_POSE_VELOCITY] = r->entries[API_POSE_ACCELERATION] = turned ? 6 : 3;
    return true;
}

static api_pose_request *take(api_query *q)
{
    api_pose_request *r = api_take(q->pool, sizeof *r);
    if (!r) return NULL;
    const size_t nq = (size_t)q->model->dyn->nq;
    *r              = (api_pose_request){.start = api_take(q->pool, 3 * nq * sizeof(double))};
    r->lower        = r->start + nq;
    r->upper        = r->lower + nq;
    return r->start ? r : NULL;
}

/* Reads the frame and its goal, which "tasks" replace. */
static bool read_goal(api_query *q, const api_node *options, const api_place *up, api_pose_request *r)
{
    const api_place frame_at = api_place_key(up, "frame"), position_at = api_place_key(up, "position");
    if (!api_node_get(options, "frame"))
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD, "inverse-kinematics needs frame, or tasks");
    if (!api_node_get(options, "position"))
        return api_fail_at(q->problem, &position_at, API_MISSING_FIELD, "inverse-kinematics needs position, or tasks");
    const int frame = api_read_frame(q, api_node_get(options, "frame"), &frame_at);
    if (frame < 0) return false;
    r->problem.frame = &q->model->frames[frame].frame;
    if (r->problem.frame->body == DYN_WORLD)
        return api_fail_at(q->problem, &frame_at, API_BAD_VALUE, "no joint moves this frame");
    r->problem.length = dyn_point_reach(q->model->dyn, r->problem.frame->body, r->problem.frame->X_bf.p);
    return measure_parts(q, options, up, r) && read_axis(q, options, up, r->problem.axis);
}

/* Reads "tasks" and "sequence". The fields of one frame are refused together with tasks. */
static bool read_tasks(api_query *q, const api_node *options, const api_place *up, api_pose_request *r)
{
    static const char *const alone[]  = {"frame", "position", "orientation",  "direction",
                                         "axis",  "velocity", "acceleration", "damping"};
    const api_place          sequence = api_place_key(up, "sequence");
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        const api_place where = api_place_key(up, alone[i]);
        if (api_node_get(options, alone[i]))
            return api_fail_at(q->problem, &where, API_BAD_VALUE,
                               "%s is the goal of one frame: with tasks, give the goals of all frames there", alone[i]);
    }
    r->tasks          = api_task_request_read(q, api_node_get(options, "tasks"), up, false);
    r->problem.length = 1;
    return r->tasks && api_read_flag(q, api_node_get(options, "sequence"), &sequence, &r->sequence);
}

static bool check_sequence(const api_query *q, const api_node *options, const api_place *up)
{
    const api_place where = api_place_key(up, "sequence");
    return !api_node_get(options, "sequence") ||
           api_fail_at(q->problem, &where, API_BAD_VALUE, "sequence is for tasks: make the goal a list of one task");
}

api_pose_request *api_pose_request_read(api_query *q, const api_node *options, const api_place *up)
{
    const api_model  *m = q->model;
    api_pose_request *r = take(q);
    if (!r) return NULL;
    dyn_pose_problem *p       = &r->problem;
    bool              limited = true;
    p->robot = api_model_mechanism(m), p->tolerance = 1e-9;
    if (api_node_get(options, "tasks") ? !read_tasks(q, options, up, r)
                                       : !check_sequence(q, options, up) || !read_goal(q, options, up, r))
        return NULL;
    if (!read_flag_of_limits(q, options, up, &limited) ||
        !read_not_negative(q, options, "tolerance", up, &p->tolerance) ||
        !read_not_negative(q, options, "damping", up, &p->damping) || !read_starts(q, options, up, &p->most_starts))
        return NULL;
    static const dyn_limit_kind positions[] = {DYN_LIMIT_POSITION};
    if (!api_limits_list(q->pool, m, positions, limited, &r->limits)) return NULL;
    set_bounds(m, &r->limits, r);
    p->lower = r->lower, p->upper = r->upper;
    return r;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

size_t api_pose_request_entries(const api_pose_request *r)
{
    size_t sum = r->tasks ? api_task_request_entries(r->tasks) : 0;
    for (size_t i = 0; i < API_POSE_PARTS; i++)
        sum += r->given[i] ? r->entries[i] : 0;
    return sum;
}

bool api_check_orientation(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                           const api_place *row)
{
    return api_check_quaternion(e, v, 0, values, stride, lanes, row);
}

bool api_check_direction(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                         const api_place *row)
{
    (void)v;
    for (size_t lane = 0; lane < lanes; lane++) {
        double d[3], length;
        dyn_get3(values + lane, stride, 1, d);
        length = dyn_norm(d);
        if (!(length > 0 && isfinite(length)))
            return row && api_fail_at(e->problem, row, API_BAD_VALUE, "the direction must have a length");
        for (size_t i = 0; i < 3; i++)
            values[i * stride + lane] = d[i] / length;
    }
    return true;
}

bool api_pose_request_fill(api_plan *plan, api_pose_request *r)
{
    static const double upright[4] = {0, 0, 0, 1}, up[3] = {0, 0, 1};
    if (r->tasks) return api_task_request_fill(plan, r->tasks);
    for (size_t i = 0; i < API_POSE_PARTS; i++) {
        if (!r->given[i]) continue;
        api_vector v = {.value = r->given[i], .n = r->entries[i], .stride = r->entries[i]};
        v.at         = api_place_key(NULL, part_names[i]);
        if (i == API_POSE_ORIENTATION)
            v.check = api_check_orientation, v.neutral = upright, v.form = API_QUATERNION_FORM;
        if (i == API_POSE_DIRECTION) v.check = api_check_direction, v.neutral = up;
        v.lanes = r->lanes[i] = api_take_lanes(plan, v.n);
        if (!v.lanes || !api_vector_read(plan, &v)) return false;
    }
    return true;
}

bool api_pose_request_fail(const api_evaluation *e, const api_pose_request *r, size_t state, const api_problem *found)
{
    if (r->tasks) return api_task_fail(e, r->tasks, state, found);
    for (size_t i = 0; i < API_POSE_PARTS; i++) {
        api_place where = api_place_key(NULL, part_names[i]);
        if (r->given[i] && api_is_batch(r->given[i], 1)) return api_fail_entry(e, &where, state, found);
    }
    return api_fail_found(e, e->query->field[API_Q] && api_is_batch(e->query->field[API_Q], 1) ? API_Q : API_POSITION,
                          state, found);
}
