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
#include "api/requests/operations/operation_list.h"
#include "path_between.h"
#include "path_friction.h"
#include <math.h>

static const double whole_path = 1; /* range of s */

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_path_spline(api_query *q, const api_node *fields, api_motion *m)
{
    api_sampling sampling;
    *m =
        (api_motion){.path.robot = api_model_mechanism(q->model), .path.durations = &whole_path, .least = 1, .most = 1};
    if (!api_spline_read(q, fields, NULL, 0, &m->path.spline, &m->points) ||
        !api_sampling_read(q, fields, whole_path, "a path", &sampling))
        return false;
    m->path.samples = q->samples = sampling.n;
    return true;
}

enum { MOST_PARTS_GIVEN = 100 /* most parts of an interval of the request */, LEAST_PARTS = 4, MOST_PARTS = 10 };

/* True if the control points from number `first` on are equal. */
static bool are_equal(const double *point, size_t first, size_t n, size_t width)
{
    for (size_t k = (first + 1) * width; k < (first + n) * width; k++)
        if (point[k] != point[k - width]) return false;
    return true;
}

/* True if the spline begins at its first control point and ends at its last. */
static bool is_clamped(const dyn_spline *s)
{
    for (size_t k = 1; k < s->degree; k++)
        if (s->knots[k] != s->knots[s->degree] || s->knots[s->n + k] != s->knots[s->n]) return false;
    return true;
}

/* True if all paths have three equal control points at both ends: their first two derivatives are zero there. */
static bool rest_at_both_ends(const api_query *q, const api_motion *m)
{
    enum { EQUAL = 3 };
    const dyn_points *points = &m->path.points;
    const size_t      n = points->n, width = points->width;
    if (m->path.spline.degree < EQUAL || n < 2 * EQUAL || !is_clamped(&m->path.spline)) return false;
    for (size_t row = 0; row < (points->batch ? q->rows : 1); row++) {
        const double *point = dyn_points_of(points, row);
        if (!are_equal(point, 0, EQUAL, width) || !are_equal(point, n - EQUAL, EQUAL, width)) return false;
    }
    return true;
}

/* Sets the places of a path with limits of the third order (smooth_timing.h). */
static bool grade(const api_query *q, api_timing_options *o)
{
    double *times = api_take(q->pool, q->samples * sizeof *times);
    if (!times || !api_motion_load(q, o->motion)) return false;
    o->resting = rest_at_both_ends(q, o->motion);
    for (size_t n = 0; n < q->samples; n++)
        times[n] = dyn_grading_at(n, q->samples - 1, o->resting).s;
    o->motion->path.times = times;
    return true;
}

/* Chooses the number of intervals with limits of the third order. */
static bool choose_intervals(const api_query *q, const api_place *where, size_t *intervals)
{
    for (size_t parts = MOST_PARTS; parts >= LEAST_PARTS; parts--)
        if ((q->samples - 1) % parts == 0) {
            *intervals = (q->samples - 1) / parts;
            return true;
        }
    return api_fail_at(q->problem, where, API_MISSING_FIELD,
                       "with limits of jerk or effort_rate the number of samples less 1, %zu, must be divisible by a "
                       "number from %d to %d, or intervals be given",
                       q->samples - 1, LEAST_PARTS, MOST_PARTS);
}

static bool read_intervals(const api_query *q, const api_node *fields, bool smooth, size_t *intervals)
{
    const api_node *value  = api_node_get(fields, "intervals");
    const api_place where  = api_place_key(NULL, "intervals");
    const size_t    parts  = q->samples - 1;
    double          number = 0;
    *intervals             = parts;
    if (!value) return !smooth || choose_intervals(q, &where, intervals);
    if (!api_read_number(q, value, &where, &number)) return false;
    if (!(number >= 1 && number <= (double)parts && number == floor(number)) || parts % (size_t)number != 0)
        return api_fail_at(q->problem, &where, API_BAD_VALUE,
                           "%s given, a whole number that divides %zu, the number of samples less 1, expected",
                           API_NUMBER_TEXT(number), parts);
    *intervals = (size_t)number;
    if (parts / *intervals > MOST_PARTS_GIVEN)
        return api_fail_at(q->problem, &where, API_BAD_VALUE,
                           "%zu intervals given for %zu samples: an interval has at most %d parts", *intervals,
                           q->samples, MOST_PARTS_GIVEN);
    return !smooth || parts / *intervals >= LEAST_PARTS ||
           api_fail_at(
               q->problem, &where, API_BAD_VALUE,
               "%zu intervals given for %zu samples: with limits of jerk or effort_rate an interval has at least "
               "%d parts; give fewer intervals or more samples",
               *intervals, q->samples, LEAST_PARTS);
}

static size_t last_coefficient(const api_timing_options *o)
{
    return o->limits.smooth ? API_PATH_DD_DS : API_PATH_D;
}

/* Refuses splines with too few continuous derivatives: a corner of the path would need an infinite acceleration, a jump
 * of its curvature an infinite jerk. */
static bool check_smoothness(const api_query *q, const api_timing_options *o)
{
    const dyn_spline *s     = &o->motion->path.spline;
    const size_t      least = o->limits.smooth ? 2 : 1;
    const api_place   where = api_place_key(NULL, "degree");
    size_t            equal = 0;
    for (size_t k = s->degree + 1; k < s->n; k++) {
        equal = k > s->degree + 1 && s->knots[k] == s->knots[k - 1] ? equal + 1 : 1;
        if (s->degree < equal + least)
            return api_fail_at(
                q->problem, &where, API_BAD_VALUE,
                "degree %zu with a knot that occurs %zu times: the path needs %zu continuous derivatives "
                "with these limits; give a degree of at least %zu",
                s->degree, equal, least, equal + least);
    }
    return true;
}

static bool check_outputs(const api_query *q, const api_selection *selected, const api_node *fields,
                          const api_place *up)
{
    const api_timing_options *o       = selected->options;
    const api_set             refused = o->limits.smooth ? 0 : selected->outputs & OF_THIRD;
    if (o->limits.contacts && selected->outputs & API_BIT(SLOPES))
        return api_fail_output(q, selected, SLOPES, fields, up,
                               "dduration_dlimits is not computed with held frames: leave out this output");
    return !refused || api_fail_output(q, selected, (size_t)api_first_member(refused), fields, up,
                                       "only with a limit of jerk or effort_rate, in the model or in joint_limits");
}

/* Refuses limits that are not linear in sdd and sd^2, for which there are no polygons. */
static bool check_kinds_with_held(const api_query *q, const api_path_limits *limits)
{
    const api_place where = api_place_key(NULL, "held");
    for (size_t i = 0; limits->contacts && i < limits->list.n; i++) {
        const dyn_limit_kind kind = limits->list.limit[i].kind;
        if (kind == DYN_LIMIT_JERK || kind == DYN_LIMIT_EFFORT_RATE || kind == DYN_LIMIT_EFFORT_SPEED)
            return api_fail_at(
                q->problem, &where, API_NOT_SUPPORTED,
                "path-timing with held frames takes no limits of %s, and %.64s has one: list other kinds in "
                "\"kinds\"%s",
                api_limit_names[kind], limits->list.owner[i].name,
                limits->replacing[kind] ? ", and leave it out of joint_limits" : "");
    }
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    api_timing_options *o        = api_take(q->pool, sizeof *o);
    api_motion         *m        = api_take(q->pool, sizeof *m);
    api_path_contacts  *contacts = NULL;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "path-timing is for models without loops, and %s has loops", q->model->name);
    if (!o || !m || !read_path_spline(q, fields, m)) return false;
    *o                     = (api_timing_options){.motion = m, .path = {.operation = &api_path}};
    selected->options      = o;
    selected->all_in_lanes = true;
    if (!api_path_contacts_read(q, selected, CONTACT_WRENCHES, fields, &contacts) ||
        !api_path_limits_read(q, fields, contacts, &o->limits) || !check_kinds_with_held(q, &o->limits))
        return false;
    for (size_t k = API_PATH_A; k <= last_coefficient(o); k++)
        o->path.outputs |= API_BIT(k);
    if (o->limits.smooth && !api_node_get(fields, "outputs")) selected->outputs |= OF_THIRD;
    return read_intervals(q, fields, o->limits.smooth, &o->intervals) && check_smoothness(q, o) &&
           check_outputs(q, selected, fields, up) && api_path.options(q, &o->path, fields, up);
}

/* Allocates the rows and norms of all places, and results that are not in lanes. */
static bool take_rows(const api_query *q, const api_selection *selected)
{
    api_timing_options    *o      = selected->options;
    const api_path_limits *limits = &o->limits;
    const size_t           n = api_states(q), norms = n * limits->frames.n_accelerations;
    o->rows      = api_take(q->pool, n * limits->rows * sizeof *o->rows);
    o->norms     = api_take(q->pool, norms * sizeof *o->norms);
    o->durations = api_take(q->pool, q->rows * sizeof *o->durations);
    o->bounds    = api_take(q->pool, q->rows * sizeof *o->bounds);
    if (!o->rows || !o->norms || !o->durations || !o->bounds) return false;
    bool room = true;
    if (selected->outputs & API_BIT(SLOPES))
        o->slopes = api_take_zeroed(q->pool, q->rows * api_path_limits_count(limits), &room);
    if (!room) return false;
    if (!limits->smooth) return true;
    o->smooth_rows  = api_take(q->pool, n * (limits->second + limits->third) * sizeof *o->smooth_rows);
    o->smooth_norms = api_take(q->pool, norms * sizeof *o->smooth_norms);
    return o->smooth_rows && o->smooth_norms && api_path_between_open(q, o);
}

/* Prepares the held frames, once the order of joint_limits is known. The efforts are needed in any case. */
static bool prepare_path_contacts(api_plan *plan, const api_selection *selected)
{
    const api_query    *q = plan->query;
    api_timing_options *o = selected->options;
    if (api_path_is_damped(q))
        return api_fail(
            q->problem, API_NOT_SUPPORTED, NULL,
            "path-timing with held frames takes no viscous friction: send \"friction\": false, and lower the limits of "
            "efforts by it; and no springs with damping, which a model for paths leaves out");
    if (!(selected->outputs & API_BIT(TAU)) && !(o->tau = api_take_lanes(plan, q->model->nv))) return false;
    return api_path_contacts_prepare(plan, o->limits.contacts, &o->limits.list,
                                     o->limits.list.n + o->limits.frames.n_limits);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_query    *q = plan->query;
    api_timing_options *o = selected->options;
    if (api_path_has_smooth(q))
        return api_fail(
            q->problem, API_NOT_SUPPORTED, NULL,
            "path-timing does not take friction with a coulomb_velocity, a stribeck_velocity or a load: send "
            "\"friction\": false, and lower the limits of efforts by it");
    api_path_limits_order(q, &o->limits);
    o->jumps = api_path_has_coulomb(q) && api_limits_have(&o->limits.list, DYN_LIMIT_EFFORT_RATE);
    if (o->jumps) o->path.outputs |= API_BIT(API_PATH_JUMPS);
    if (o->limits.smooth && !grade(q, o)) return false;
    if (!api_motion_sample(plan, o->motion) || !api_path.prepare(plan, &o->path)) return false;
    for (size_t k = API_PATH_A; k <= last_coefficient(o); k++)
        if (!(o->path.result[k] = api_take_lanes(plan, q->model->nv))) return false;
    selected->result[Q] = plan->state[API_Q];
    if (o->limits.contacts && !prepare_path_contacts(plan, selected)) return false;
    if (o->jumps && !(o->path.result[API_PATH_JUMPS] = api_take_lanes(plan, q->model->nv))) return false;
    return take_rows(q, selected);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    const api_timing_options *o = selected->options;
    const size_t frame = api_path_frames_entries(&o->limits.frames), path = api_path.spare(model, &o->path);
    const size_t contacts = o->limits.contacts ? api_path_contacts_entries(model, o->limits.contacts) : 0;
    const size_t most     = frame > path ? frame : path;
    return contacts > most ? contacts : most;
}

static api_path_lanes path_lanes_at(const api_evaluation *e, const api_timing_options *o, size_t block)
{
    return (api_path_lanes){.dq     = api_state_block(e, API_QD, block),
                            .d2q    = api_state_block(e, API_QDD, block),
                            .d3q    = api_state_block(e, API_QDDD, block),
                            .a      = api_result_block(e, &o->path, API_PATH_A, block),
                            .b      = api_result_block(e, &o->path, API_PATH_B, block),
                            .c      = api_result_block(e, &o->path, API_PATH_C, block),
                            .d      = api_result_block(e, &o->path, API_PATH_D, block),
                            .da     = api_result_block(e, &o->path, API_PATH_DA_DS, block),
                            .db     = api_result_block(e, &o->path, API_PATH_DB_DS, block),
                            .dc     = api_result_block(e, &o->path, API_PATH_DC_DS, block),
                            .dd     = api_result_block(e, &o->path, API_PATH_DD_DS, block),
                            .frames = e->spare};
}

static bool evaluate_polygons(const api_evaluation *e, const api_timing_options *o, const api_path_lanes *lanes,
                              size_t block)
{
    const api_path_forces forces = {.q   = api_state_block(e, API_Q, block),
                                    .dq  = lanes->dq,
                                    .d2q = lanes->d2q,
                                    .a   = lanes->a,
                                    .b   = lanes->b,
                                    .c   = lanes->c};
    return api_path_contacts_rows(e, &o->limits, block, &forces, o->rows + api_path_limits_contact_row(&o->limits),
                                  o->limits.rows);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    const api_timing_options *o      = selected->options;
    const api_path_limits    *limits = &o->limits;
    const size_t              n = e->query->samples, norms = limits->frames.n_accelerations;
    const api_path_lanes      lanes = path_lanes_at(e, o, block);
    if (o->between.most > 0 && !api_path_between_evaluate(e, o, &lanes, block)) return false;
    if (!api_path.evaluate(e, &o->path, block, blocks)) return false;
    api_path_frames_evaluate(e, &limits->frames, block, e->spare);
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < api_states(e->query); lane++) {
        const size_t      state = block * e->lanes + lane;
        const dyn_grading where = dyn_grading_at(state % n, n - 1, o->resting);
        api_path_limits_rows(limits, &lanes, e->lanes, lane, o->rows + state * limits->rows, o->norms + state * norms);
        if (o->smooth_rows)
            api_path_limits_smooth_rows(limits, &lanes, e->lanes, lane, &where,
                                        (api_smooth_limits){o->smooth_rows + state * (limits->second + limits->third),
                                                            o->smooth_norms + state * norms});
    }
    return !limits->contacts || evaluate_polygons(e, o, &lanes, block);
}

/* --- answer ------------------------------------------------------------------------------------------------------- */

static void emit_durations(const api_plan *plan, const double *durations, api_emit *to)
{
    const api_query *q = plan->query;
    if (q->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(q); row++)
        if (to->buffer && api_failed_rows_has(plan->failed_rows, row * q->samples))
            api_emit_null(to);
        else
            api_emit_number(to, to->buffer ? durations[row] : 0);
    if (q->batched) api_emit_end(to);
}

static void emit_slopes(const api_plan *plan, const api_timing_options *o, api_emit *to)
{
    const api_query *q = plan->query;
    const size_t     n = api_path_limits_count(&o->limits);
    if (q->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(q); row++) {
        if (to->buffer && api_failed_rows_has(plan->failed_rows, row * q->samples)) {
            api_emit_null(to);
            continue;
        }
        api_emit_numbers(to, o->slopes + row * n, 1, &n);
    }
    if (q->batched) api_emit_end(to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_timing_options *o = selected->options;
    if (output == LIMITS)
        api_path_limits_emit(&o->limits, to);
    else if (output == SLOPES)
        emit_slopes(plan, o, to);
    else
        emit_durations(plan, output == DURATION ? o->durations : o->bounds, to);
}

/* Estimates the seconds of the passes over all rows of limits. There are two passes, with damping as many as sd^2 needs
 * to converge, and with limits of the third order some fifty Newton steps of three passes each. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_timing_options *o      = selected->options;
    const double              states = (double)api_states(q);
    const api_path_limits    *limits = &o->limits;
    const double              norms  = (double)limits->frames.n_accelerations;
    const double              rows = (double)(limits->second + limits->third), smooth = limits->smooth ? 6e-6 : 0;
    const double              passes = api_path_is_damped(q) ? 400e-9 : 60e-9;
    const double polygons = limits->contacts ? api_path_contacts_seconds(q, limits->contacts, &limits->list) : 0;
    return polygons + states * (smooth * (rows + 2 * norms) + passes * ((double)limits->rows + 4 * norms) +
                                200e-9 * (double)limits->frames.n);
}

const api_operation api_path_timing = {
    .name  = "path-timing",
    .needs = API_BIT(API_DEGREE) | API_BIT(API_CONTROL_POINTS) | API_BIT(API_SAMPLES),
    .takes = API_BIT(API_KNOTS) | API_BIT(API_INTERVALS) | API_BIT(API_KINDS) | API_BIT(API_JOINT_LIMITS_FIELD) |
             API_BIT(API_FRAME_LIMITS_FIELD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_HELD_FIELD),
    .outputs         = {[TIMES]            = {"times", true, {0}},
                        [S]                = {"s", true, {0}},
                        [SD]               = {"sd", true, {0}},
                        [SDD]              = {"sdd", true, {0}},
                        [Q]                = {"q", true, {API_NQ}},
                        [QD]               = {"qd", true, {API_NV}},
                        [QDD]              = {"qdd", true, {API_NV}},
                        [TAU]              = {"tau", true, {API_NV}},
                        [ACTIVE]           = {"active", true, {0}},
                        [LIMITS]           = {"limits", true, {API_STRUCTURED}},
                        [DURATION]         = {"duration", true, {API_STRUCTURED}},
                        [SDDD]             = {"sddd", false, {0}},
                        [QDDD]             = {"qddd", false, {API_NV}},
                        [TAU_DOT]          = {"tau_dot", false, {API_NV}},
                        [SECOND_ORDER]     = {"second_order_duration", false, {API_STRUCTURED}},
                        [SLOPES]           = {"dduration_dlimits", false, {API_STRUCTURED}},
                        [CONTACT_WRENCHES] = {"contact_wrenches", false, {API_HELD_FRAMES, 6}}},
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
