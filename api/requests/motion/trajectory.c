/* trajectory.c - read requests for the operation trajectory: the dynamics along joint motions, with gradients with
 * respect to control points, duration and knots. */
#include "api/requests/evaluate/motor_efforts.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/limit_kinds.h"
#include "api/requests/fields/point_fields.h"
#include "dynamics/trajectory_gradients/motion_knots.h"
#include "motion_loops.h"
#include "dynamics/trajectory_gradients/margins.h"
#include "trajectory_outputs.h"

/* Reads "points". With them, their positions are the default output. */
static bool read_points(api_query *q, api_selection *selected, const api_node *given, api_trajectory_options *o)
{
    const api_node *list = api_node_get(given, "points");
    api_place       at   = api_place_key(NULL, "points");
    size_t          n    = 0;
    if (!list)
        return !(selected->outputs & OF_POINTS) ||
               api_fail_at(q->problem, &at, API_MISSING_FIELD, "the outputs of points need \"points\"");
    o->points = api_read_fixed_points(q, list, &at, &n);
    api_set_extent(selected, API_FIXED_POINTS, n);
    if (!api_node_get(given, "outputs")) selected->outputs |= API_BIT(POINT_POSITIONS);
    return o->points != NULL;
}

/* Refuses margins of acceleration and jerk with free coordinates: the accelerations of these are results, and such
 * margins are not differentiated. */
static bool check_free_limits(const api_query *q, const api_trajectory_options *o, const api_place *where)
{
    return !o->efforts.driven ||
           (!api_limits_have(&o->limits, DYN_LIMIT_ACCELERATION) && !api_limits_have(&o->limits, DYN_LIMIT_JERK)) ||
           api_fail_at(q->problem, where, API_NOT_SUPPORTED,
                       "margins of acceleration and jerk have no gradients with free coordinates: list other kinds");
}

/* Lists the limits. With "kinds", they and the margins are the default outputs. */
static bool read_limits(api_query *q, api_selection *selected, const api_node *given, api_trajectory_options *o)
{
    const api_node *kinds = api_node_get(given, "kinds");
    const api_place at    = api_place_key(NULL, "kinds");
    if (kinds && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(LIMITS) | API_BIT(MARGINS);
    if (!kinds && !(selected->outputs & (API_BIT(LIMITS) | OF_MARGINS))) return true;
    if (!api_limits_read(q, kinds, &at, &o->limits)) return false;
    api_set_extent(selected, API_JOINT_LIMITS, o->limits.n);
    o->efforts_limited     = api_limits_bound_efforts(&o->limits);
    o->rates_limited       = api_limits_have(&o->limits, DYN_LIMIT_EFFORT_RATE);
    o->least               = (api_least_margins){.motion = o->motion, .limits = &o->limits};
    selected->all_in_lanes = (selected->outputs & OF_LEAST) != 0;
    return !(selected->outputs & OF_MARGIN_GRADIENTS) ||
           (check_free_limits(q, o, &at) && api_limits_check_loops(q, &o->limits, &at));
}

static bool check_free(const api_query *q, const api_selection *selected, const api_node *given, const api_place *up)
{
    const api_trajectory_options *o       = selected->options;
    const api_set                 refused = o->efforts.driven ? 0 : selected->outputs & OF_QDD;
    return !refused ||
           api_fail_output(q, selected, (size_t)api_first_member(refused), given, up,
                           "accelerations are differentiated only with free coordinates: name them in free");
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_motion             *m = api_motion_read(q, given);
    api_trajectory_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!m || !o) return false;
    *o = (api_trajectory_options){.motion = m};
    if (!api_free_efforts_read(q, given, m, &o->efforts) || !check_free(q, selected, given, up) ||
        !read_points(q, selected, given, o) || !read_limits(q, selected, given, o) ||
        !api_motor_efforts_check(q, selected, MOTOR_TAU, given, up))
        return false;
    api_set_extent(selected, API_SPLINE_KNOTS, dyn_motion_knots(&m->path));
    api_set_extent(selected, API_SUPPORT, m->dense ? m->path.spline.n : m->path.spline.degree + 1);
    if ((selected->outputs & BY_POINTS) && !m->dense) selected->outputs |= API_BIT(FIRST_CONTROL_POINT);
    return true;
}

/* Samples the motion. The outputs that are its samples (times, q and its derivatives) are complete then. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    api_trajectory_options *o     = selected->options;
    api_motion             *m     = o->motion;
    const bool              loops = plan->query->model->loops != NULL;
    if ((o->efforts.driven || loops) && selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS) && api_has_load(plan->query))
        return api_fail_load(plan->query, "dtau_dot_dparameters with free coordinates or loops");
    if (loops && selected->outputs & (OF_TAU_DOT | OF_MARGIN_GRADIENTS) && api_has_load(plan->query))
        return api_fail_load(plan->query, "the gradient of tau_dot or of margins with loops");
    if (!api_motion_sample(plan, m) || !api_free_efforts_sample(plan, m, &o->efforts) ||
        !api_mimics_open(plan->query, &o->limits, &o->followers))
        return false;
    selected->result[TIMES] = m->time;
    for (int r = 0; r < DYN_SPLINE_ORDERS; r++)
        selected->result[Q + r] = plan->state[API_Q + r];
    selected->result[FIRST_CONTROL_POINT] = m->first;
    if (!m->dense) selected->result[BASIS] = m->basis;
    if (!(selected->outputs & OF_LEAST)) return true;
    o->least.margins = selected->result[MARGINS] = api_take_lanes(plan, o->limits.n);
    o->least.sides                               = api_take_lanes(plan, 2 * o->limits.n);
    return o->least.margins && o->least.sides &&
           (!(selected->outputs & API_BIT(LEAST_GRADIENTS)) || api_least_gradients_take(plan->query, &o->least));
}

static bool begin(api_plan *plan, const api_selection *selected)
{
    return api_motion_follow_loops(plan, api_trajectory_motion(selected));
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_trajectory_options *o = selected->options;
    switch (output) {
    case LIMITS: api_limits_emit(&o->limits, to); break;
    case LEAST_MARGINS: api_least_margins_emit(plan, &o->least, to); break;
    default: api_least_gradients_emit(plan, &o->least, to);
    }
}

const api_operation api_trajectory = {
    .name       = "trajectory",
    .row_scenes = true,
    .needs      = API_BIT(API_DEGREE) | API_BIT(API_DURATION) | API_BIT(API_CONTROL_POINTS),
    .takes      = API_BIT(API_KNOTS) | API_BIT(API_SAMPLES) | API_BIT(API_TIMES) | API_BIT(API_DENSE) |
             API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) |
             API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) | API_BIT(API_POINTS_FIELD) |
             API_BIT(API_FREE) | API_BIT(API_INPUT) | API_BIT(API_KINDS),
    .tree_outputs    = OF_TAU_DOT,
    .outputs         = {[TIMES]                           = {"times", true, {0}},
                        [Q]                               = {"q", true, {API_NQ}},
                        [QD]                              = {"qd", true, {API_NV}},
                        [QDD]                             = {"qdd", true, {API_NV}},
                        [QDDD]                            = {"qddd", true, {API_NV}},
                        [TAU]                             = {"tau", true, {API_NV}},
                        [TAU_DOT]                         = {"tau_dot", true, {API_NV}},
                        [JOINT_WRENCHES]                  = {"joint_wrenches", false, {API_BODIES, 6}},
                        [FIRST_CONTROL_POINT]             = {"first_control_point", false, {0}},
                        [BASIS]                           = {"basis", false, {DYN_SPLINE_ORDERS, API_SUPPORT}},
                        [DTAU_DPOINTS]                    = {"dtau_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                        [DTAU_DDURATION]                  = {"dtau_dduration", false, {API_NV}},
                        [DTAU_DOT_DPOINTS]                = {"dtau_dot_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                        [DTAU_DOT_DDURATION]              = {"dtau_dot_dduration", false, {API_NV}},
                        [D_JOINT_WRENCHES_DPOINTS]        = {"d_joint_wrenches_dcontrol_points",
                                                             false,
                                                             {API_BODIES, 6, API_SUPPORT, API_NV}},
                        [D_JOINT_WRENCHES_DDURATION]      = {"d_joint_wrenches_dduration", false, {API_BODIES, 6}},
                        [POINT_POSITIONS]                 = {"point_positions", false, {API_FIXED_POINTS, 3}},
                        [POINT_VELOCITIES]                = {"point_velocities", false, {API_FIXED_POINTS, 6}},
                        [POINT_ACCELERATIONS]             = {"point_accelerations", false, {API_FIXED_POINTS, 6}},
                        [D_POINT_POSITIONS_DPOINTS]       = {"d_point_positions_dcontrol_points",
                                                             false,
                                                             {API_FIXED_POINTS, 3, API_SUPPORT, API_NV}},
                        [D_POINT_VELOCITIES_DPOINTS]      = {"d_point_velocities_dcontrol_points",
                                                             false,
                                                             {API_FIXED_POINTS, 6, API_SUPPORT, API_NV}},
                        [D_POINT_VELOCITIES_DDURATION]    = {"d_point_velocities_dduration", false, {API_FIXED_POINTS, 6}},
                        [D_POINT_ACCELERATIONS_DPOINTS]   = {"d_point_accelerations_dcontrol_points",
                                                             false,
                                                             {API_FIXED_POINTS, 6, API_SUPPORT, API_NV}},
                        [D_POINT_ACCELERATIONS_DDURATION] = {"d_point_accelerations_dduration", false, {API_FIXED_POINTS, 6}},
                        [DMOTION_DKNOTS]          = {"dmotion_dknots", false, {DYN_SPLINE_ORDERS, API_NV, API_SPLINE_KNOTS}},
                        [DTAU_DKNOTS]             = {"dtau_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                        [DTAU_DOT_DKNOTS]         = {"dtau_dot_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                        [D_JOINT_WRENCHES_DKNOTS] = {"d_joint_wrenches_dknots", false, {API_BODIES, 6, API_SPLINE_KNOTS}},
                        [DQDD_DPOINTS]            = {"dqdd_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                        [DQDD_DDURATION]          = {"dqdd_dduration", false, {API_NV}},
                        [DQDD_DKNOTS]             = {"dqdd_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                        [DTAU_DPARAMETERS]        = {"dtau_dparameters", false, {API_NV, API_BODY_PARAMETERS}},
                        [LIMITS]                  = {"limits", false, {API_STRUCTURED}},
                        [MARGINS]                 = {"margins", false, {API_JOINT_LIMITS}},
                        [DMARGINS_DPOINTS]     = {"dmargins_dcontrol_points", false, {API_JOINT_LIMITS, API_SUPPORT, API_NV}},
                        [DMARGINS_DDURATION]   = {"dmargins_dduration", false, {API_JOINT_LIMITS}},
                        [DMARGINS_DKNOTS]      = {"dmargins_dknots", false, {API_JOINT_LIMITS, API_SPLINE_KNOTS}},
                        [LEAST_MARGINS]        = {"least_margins", false, {API_STRUCTURED}},
                        [LEAST_GRADIENTS]      = {"least_gradients", false, {API_STRUCTURED}},
                        [DTAU_DOT_DPARAMETERS] = {"dtau_dot_dparameters", false, {API_NV, API_BODY_PARAMETERS}},
                        [MOTOR_TAU]            = {"motor_tau", false, {API_COUPLED_MOTORS}}},
    .alone           = true,
    .wrench_signals  = true,
    .one_by_one      = true,
    .weight          = 4,
    .square_weight   = 1,
    .state_seconds   = api_trajectory_state_seconds,
    .decoded_seconds = api_trajectory_decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = api_trajectory_spare,
    .begin           = begin,
    .emit            = emit,
    .evaluate        = api_trajectory_evaluate,
    .finish          = api_trajectory_finish,
    .unordered       = true,
};
