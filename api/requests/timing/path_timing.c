/* path_timing.c - reads requests for the operation path-timing: the fastest timings of paths within limits.
 *
 * A path is a B-spline q(s), 0 <= s <= 1, read and sampled like a motion of 1 s. The operation path evaluates the
 * coefficients of its torques at all samples; the timings are found when those of all samples are known. */
#include "path_timing.h"
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/motion/sampling.h"
#include "api/requests/motion/spline_fields.h"
#include "api/requests/operations/path.h"
#include "api/requests/operations/path_friction.h"
#include <math.h>

static const double whole_path = 1; /* range of s */

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_path(api_query *q, const api_node *given, api_motion *m)
{
    api_sampling sampling;
    *m = (api_motion){.path.robot = api_model_mechanism(q->model), .path.durations = &whole_path, .least = 1, .most = 1};
    if (!api_spline_read(q, given, NULL, 0, &m->path.spline, &m->points) ||
        !api_sampling_read(q, given, whole_path, "a path", &sampling))
        return false;
    m->path.samples = q->samples = sampling.n;
    return true;
}

static bool read_intervals(const api_query *q, const api_node *given, size_t *intervals)
{
    const api_node *value  = api_node_get(given, "intervals");
    const api_place at     = api_place_key(NULL, "intervals");
    const size_t    parts  = q->samples - 1;
    double          number = 0;
    *intervals             = parts;
    if (!value) return true;
    if (!api_read_number(q, value, &at, &number)) return false;
    if (!(number >= 1 && number <= (double)parts && number == floor(number)) || parts % (size_t)number != 0)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s given, a whole number that divides %zu, the number of samples less 1, expected",
                           API_NUMBER_TEXT(number), parts);
    *intervals = (size_t)number;
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_timing_options *o = api_take(q->pool, sizeof *o);
    api_motion      *m = api_take(q->pool, sizeof *m);
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "path-timing is for models without loops, and %s has loops", q->model->name);
    if (!o || !m || !read_path(q, given, m)) return false;
    *o = (api_timing_options){.motion = m, .path = {.operation = &api_path}};
    for (size_t k = API_PATH_A; k <= API_PATH_D; k++)
        o->path.outputs |= API_BIT(k);
    selected->options      = o;
    selected->all_in_lanes = true;
    return read_intervals(q, given, &o->intervals) && api_path_limits_read(q, given, &o->limits) &&
           api_path.options(q, &o->path, given, up);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_query *q = plan->query;
    api_timing_options *o = selected->options;
    if (api_path_has_smooth(q))
        return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                        "path-timing does not take friction with a coulomb_velocity, a stribeck_velocity or a load: send "
                        "\"friction\": false, and lower the limits of efforts by it");
    api_path_limits_order(q, &o->limits);
    if (!api_motion_sample(plan, o->motion) || !api_path.prepare(plan, &o->path)) return false;
    for (size_t k = API_PATH_A; k <= API_PATH_D; k++)
        if (!(o->path.result[k] = api_take_lanes(plan, q->model->nv))) return false;
    selected->result[Q] = plan->state[API_Q];
    o->rows             = api_take(q->pool, api_states(q) * o->limits.rows * sizeof *o->rows);
    o->durations        = api_take(q->pool, q->rows * sizeof *o->durations);
    return o->rows && o->durations;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    return api_path.spare(model, &((const api_timing_options *)selected->options)->path);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    const api_timing_options *o = selected->options;
    if (!api_path.evaluate(e, &o->path, block, blocks)) return false;
    const api_path_lanes lanes = {.dq  = api_state_block(e, API_QD, block),
                                  .d2q = api_state_block(e, API_QDD, block),
                                  .a   = api_result_block(e, &o->path, API_PATH_A, block),
                                  .b   = api_result_block(e, &o->path, API_PATH_B, block),
                                  .c   = api_result_block(e, &o->path, API_PATH_C, block),
                                  .d   = api_result_block(e, &o->path, API_PATH_D, block)};
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < api_states(e->query); lane++)
        api_path_limits_rows(&o->limits, &lanes, e->lanes, lane,
                             o->rows + (block * e->lanes + lane) * o->limits.rows);
    return true;
}

/* --- answer ------------------------------------------------------------------------------------------------------- */

static void emit_durations(const api_plan *plan, const api_timing_options *o, api_emit *to)
{
    const api_query *q = plan->query;
    if (q->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(q); row++)
        if (to->buffer && api_failed_rows_has(plan->failed_rows, row * q->samples))
            api_emit_null(to);
        else
            api_emit_number(to, to->buffer ? o->durations[row] : 0);
    if (q->batched) api_emit_end(to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_timing_options *o = selected->options;
    if (output == LIMITS)
        api_limits_emit(&o->limits.list, to);
    else
        emit_durations(plan, o, to);
}

/* Seconds of the passes over all rows of limits: two, and with damping until x is settled. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const double rows = 4 * (double)(q->model->n_joints + q->model->nv);
    (void)selected;
    return (double)api_states(q) * rows * (api_path_is_damped(q) ? 400e-9 : 60e-9);
}

const api_operation api_path_timing = {
    .name  = "path-timing",
    .needs = API_BIT(API_DEGREE) | API_BIT(API_CONTROL_POINTS) | API_BIT(API_SAMPLES),
    .takes = API_BIT(API_KNOTS) | API_BIT(API_INTERVALS) | API_BIT(API_KINDS) | API_BIT(API_JOINT_LIMITS_FIELD) |
             API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) |
             API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs         = {[TIMES]    = {"times", true, {0}},
                        [S]        = {"s", true, {0}},
                        [SD]       = {"sd", true, {0}},
                        [SDD]      = {"sdd", true, {0}},
                        [Q]        = {"q", true, {API_NQ}},
                        [QD]       = {"qd", true, {API_NV}},
                        [QDD]      = {"qdd", true, {API_NV}},
                        [TAU]      = {"tau", true, {API_NV}},
                        [ACTIVE]   = {"active", true, {0}},
                        [LIMITS]   = {"limits", true, {API_STRUCTURED}},
                        [DURATION] = {"duration", true, {API_STRUCTURED}}},
    .alone           = true,
    .one_by_one      = true,
    .weight          = 12,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .emit            = emit,
    .evaluate        = evaluate,
    .finish          = api_path_search,
    .unordered       = true,
};
