/* trajectory.c - compute the dynamics along joint motions, with gradients by the control points and the duration.
 *
 * The gradients follow from the partial derivatives of trajectory_partials.h by the chain rule of motion_chain.h. */
#include "api/evaluate/loop_evaluation.h"
#include "api/request/fields.h"
#include "api/request/operation.h"
#include "api/request/point_fields.h"
#include "motion_knots.h"
#include "trajectory_partials.h"
#include "trajectory_points.h"
#include <string.h>

enum {
    TIMES,
    Q,
    QD,
    QDD,
    QDDD,
    TAU,
    TAU_DOT,
    JOINT_WRENCHES,
    FIRST_CONTROL_POINT,
    BASIS,
    DTAU_DPOINTS,
    DTAU_DDURATION,
    DTAU_DOT_DPOINTS,
    DTAU_DOT_DDURATION,
    D_JOINT_WRENCHES_DPOINTS,
    D_JOINT_WRENCHES_DDURATION,
    POINT_POSITIONS,
    POINT_VELOCITIES,
    POINT_ACCELERATIONS,
    D_POINT_POSITIONS_DPOINTS,
    D_POINT_VELOCITIES_DPOINTS,
    D_POINT_VELOCITIES_DDURATION,
    D_POINT_ACCELERATIONS_DPOINTS,
    D_POINT_ACCELERATIONS_DDURATION,
    DMOTION_DKNOTS,
    DTAU_DKNOTS,
    DTAU_DOT_DKNOTS,
    D_JOINT_WRENCHES_DKNOTS,
    DQDD_DPOINTS,
    DQDD_DDURATION,
    DQDD_DKNOTS,
    DTAU_DPARAMETERS
};

#define OF_TAU     (API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DDURATION) | API_BIT(DTAU_DKNOTS))
#define OF_TAU_DOT (API_BIT(DTAU_DOT_DPOINTS) | API_BIT(DTAU_DOT_DDURATION) | API_BIT(DTAU_DOT_DKNOTS))
#define OF_WRENCHES                                                                                                    \
    (API_BIT(D_JOINT_WRENCHES_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DDURATION) | API_BIT(D_JOINT_WRENCHES_DKNOTS))
#define OF_QDD (API_BIT(DQDD_DPOINTS) | API_BIT(DQDD_DDURATION) | API_BIT(DQDD_DKNOTS))
#define BY_POINTS                                                                                                      \
    (API_BIT(BASIS) | API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DOT_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DPOINTS) |          \
     API_BIT(DQDD_DPOINTS) | API_BIT(D_POINT_POSITIONS_DPOINTS) | API_BIT(D_POINT_VELOCITIES_DPOINTS) |                \
     API_BIT(D_POINT_ACCELERATIONS_DPOINTS))
#define OF_POINTS (API_BIT(DMOTION_DKNOTS) - API_BIT(POINT_POSITIONS))

/* Outputs that need the accelerations, and those that need the jerks, of free coordinates. */
#define OF_ACCELERATIONS                                                                                               \
    (OF_TAU | OF_TAU_DOT | OF_WRENCHES | OF_QDD | API_BIT(DTAU_DPARAMETERS) | API_BIT(TAU) | API_BIT(TAU_DOT) |        \
     API_BIT(QDD) | API_BIT(QDDD) | API_BIT(JOINT_WRENCHES) | API_BIT(POINT_ACCELERATIONS))
#define OF_JERKS (OF_TAU_DOT | API_BIT(TAU_DOT) | API_BIT(QDDD))
/* Accelerations of points depend on those of free coordinates, but their gradients are at given accelerations. */
#define NOT_FREE (API_BIT(D_POINT_ACCELERATIONS_DPOINTS) | API_BIT(D_POINT_ACCELERATIONS_DDURATION))

typedef struct trajectory_options {
    api_motion      *motion;
    api_free_efforts efforts;
    const dyn_frame *points; /* [API_FIXED_POINTS] frames at the points; NULL: not given */
} trajectory_options;

static const api_motion *motion_of(const api_selection *selected)
{
    const trajectory_options *o = selected->options;
    return o->motion;
}

/* Reads "points". Their positions are the default output beside them. */
static bool read_points(api_query *q, api_selection *selected, const api_node *given, trajectory_options *o)
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

static bool check_free(const api_query *q, const api_selection *selected, const api_node *given, const api_place *up)
{
    const trajectory_options *o       = selected->options;
    const api_set             refused = selected->outputs & (o->efforts.driven ? NOT_FREE : OF_QDD);
    return !refused ||
           api_fail_output(q, selected, (size_t)api_first_member(refused), given, up,
                           o->efforts.driven
                               ? "gradients of the accelerations of points are not computed with free coordinates"
                               : "accelerations are differentiated only with free coordinates: name them in free");
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_motion         *m = api_motion_read(q, given);
    trajectory_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!m || !o) return false;
    *o = (trajectory_options){.motion = m};
    if (!api_free_efforts_read(q, given, m, &o->efforts) || !check_free(q, selected, given, up) ||
        !read_points(q, selected, given, o))
        return false;
    api_set_extent(selected, API_SPLINE_KNOTS, api_motion_knots(m));
    api_set_extent(selected, API_SUPPORT, m->dense ? m->spline.n : m->spline.degree + 1);
    if ((selected->outputs & BY_POINTS) && !m->dense) selected->outputs |= API_BIT(FIRST_CONTROL_POINT);
    return true;
}

/* Samples the motion. The outputs that are its samples (times, q and its derivatives) are complete then. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    trajectory_options *o = selected->options;
    api_motion         *m = o->motion;
    if ((plan->query->scene.n_wrenches > 0 || o->efforts.driven) && api_has_load(plan->query))
        return api_fail_load(plan->query, "trajectory with wrenches or free coordinates");
    if (!api_motion_sample(plan, m) || !api_free_efforts_sample(plan, m, &o->efforts)) return false;
    selected->result[TIMES] = m->time;
    for (int r = 0; r < API_SPLINE_ORDERS; r++)
        selected->result[Q + r] = plan->state[API_Q + r];
    selected->result[FIRST_CONTROL_POINT] = m->first;
    if (!m->dense) selected->result[BASIS] = m->basis;
    return true;
}

/* --- what is computed ------------------------------------------------------------------------------------------- */

/* Whether partial derivatives of torques are needed. */
static bool differentiates(const api_selection *selected)
{
    const trajectory_options *o             = selected->options;
    const api_set             of_parameters = o->efforts.driven ? API_BIT(DTAU_DPARAMETERS) : 0;
    return (selected->outputs & (OF_TAU | OF_TAU_DOT | OF_WRENCHES | OF_QDD | of_parameters)) != 0;
}

static api_trajectory_task task_of(const api_selection *selected)
{
    const trajectory_options *o = selected->options;
    return (api_trajectory_task){.motion   = o->motion,
                                 .efforts  = &o->efforts,
                                 .rate     = (selected->outputs & OF_TAU_DOT) != 0,
                                 .wrenches = (selected->outputs & OF_WRENCHES) != 0};
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The motion of free coordinates, the gradients and the points are evaluated one after the other, in the same room. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const trajectory_options *o    = selected->options;
    const api_trajectory_task task = task_of(selected);
    size_t                    room = API_SPLINE_ORDERS * model->nv;
    if (differentiates(selected))
        room += api_trajectory_partials_entries(model, &task, api_selected_extent(selected, API_REQUEST_WRENCHES));
    if (o->efforts.driven) room = greater(room, api_trajectory_free_motion_room(model->nv));
    if (selected->outputs & OF_POINTS)
        room = greater(room, api_trajectory_points_entries(model, api_selected_extent(selected, API_FIXED_POINTS)));
    return room;
}

/* --- the chain rule --------------------------------------------------------------------------------------------- */

static void by_points(const api_evaluation *e, const api_selection *selected, size_t block, const api_partials *p,
                      size_t output)
{
    api_chain_by_points(e, motion_of(selected), block, p, api_result_block(e, selected, output, block));
}

static void by_duration(const api_evaluation *e, const api_selection *selected, size_t block, const api_partials *p,
                        size_t output)
{
    api_chain_by_duration(e, motion_of(selected), block, p, api_result_block(e, selected, output, block));
}

/* The scratch lanes begin with room for the derivatives of the motion by one knot. */
static void by_knots(const api_evaluation *e, const api_selection *selected, size_t block, const api_partials *p,
                     size_t output)
{
    api_chain_by_knots(e, motion_of(selected), block, p, api_result_block(e, selected, output, block), e->spare);
}

static void put_dense_basis(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_motion *m = motion_of(selected);
    size_t            W = e->lanes, support = m->spline.degree + 1, first[DYN_MAX_LANES];
    const double     *basis = api_block(e, m->basis, API_SPLINE_ORDERS * support, block);
    double           *out   = api_result_block(e, selected, BASIS, block);
    if (out) memset(out, 0, api_output_entries(e->model, selected, BASIS) * W * sizeof *out);
    api_motion_first_points(e, m, block, first);
    for (size_t r = 0; out && r < API_SPLINE_ORDERS; r++)
        for (size_t k = 0; k < support; k++)
            for (size_t l = 0; l < W; l++)
                out[(r * api_selected_extent(selected, API_SUPPORT) + first[l] + k) * W + l] =
                    basis[(r * support + k) * W + l];
}

/* The argument of the functions of api_loop_curve, which let the loops follow the motion. */
typedef struct curve {
    const api_evaluation *e;
    const api_motion     *motion;
} curve;

static void interpolate_position(const void *arg, size_t row, size_t n, double s, double *q)
{
    const curve *c = arg;
    api_motion_between(c->e, c->motion, row, n, s, q);
}

static double bound_travel(const void *arg, size_t row, size_t n)
{
    const curve *c = arg;
    return api_motion_travel_bound(c->e, c->motion, row, n);
}

static double interpolate_time(const void *arg, size_t row, size_t n, double s)
{
    const curve *c = arg;
    return api_motion_time(c->motion, row, n, s);
}

static bool begin(api_plan *plan, const api_selection *selected)
{
    api_evaluation e       = api_evaluation_of(plan);
    curve          c       = {&e, motion_of(selected)};
    api_loop_curve between = {interpolate_position, bound_travel, interpolate_time, &c};
    return api_loop_follow(plan, &between);
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static bool find_free_motion(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const trajectory_options *o = selected->options;
    if (!o->efforts.driven || !(selected->outputs & OF_ACCELERATIONS)) return true;
    return api_trajectory_free_motion(e, &o->efforts, block, (selected->outputs & OF_JERKS) != 0, e->spare);
}

/* Calls the kernel torque_derivative only if tau_dot is requested, otherwise inverse_dynamics; both kernels give the
 * same bits of tau. */
static void torques(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const trajectory_options *o       = selected->options;
    const dyn_kernels        *kernels = e->kernels;
    dyn_torque_derivative     io      = {.q              = api_state_block(e, API_Q, block),
                                         .qd             = api_state_block(e, API_QD, block),
                                         .qdd            = api_state_block(e, API_QDD, block),
                                         .qddd           = api_state_block(e, API_QDDD, block),
                                         .wrenches       = api_wrench_block(e, block),
                                         .wrench_rates   = api_wrench_rate_block(e, block),
                                         .tau            = api_result_block(e, selected, TAU, block),
                                         .tau_dot        = api_result_block(e, selected, TAU_DOT, block),
                                         .joint_wrenches = api_result_block(e, selected, JOINT_WRENCHES, block)};
    if (io.tau_dot) {
        kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    } else if (io.tau || io.joint_wrenches) {
        dyn_inverse_dynamics plain = {io.q, io.qd, io.qdd, io.wrenches, io.tau, io.joint_wrenches};
        kernels->inverse_dynamics(&e->query->scene, e->workspace, &plain, 1);
    }
    if (o->efforts.driven) api_trajectory_free_restore(e, &o->efforts, block, io.tau, io.tau_dot);
}

/* dtau_dparameters at given accelerations is the regressor. */
static void find_regressor(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_regressor io = {.q         = api_state_block(e, API_Q, block),
                              .qd        = api_state_block(e, API_QD, block),
                              .qdd       = api_state_block(e, API_QDD, block),
                              .regressor = api_result_block(e, selected, DTAU_DPARAMETERS, block)};
    if (io.regressor) e->kernels->regressor(&e->query->scene, e->workspace, &io, 1);
}

/* Writes the gradients of one result by control points, duration and knots; `output` is the first of the three, and the
 * others are given. Adds the term of the duration. */
static void put_gradients(const api_evaluation *e, const api_selection *selected, size_t block, const api_partials *p,
                          const size_t outputs[3], const double *term)
{
    double *duration = api_result_block(e, selected, outputs[1], block);
    by_points(e, selected, block, p, outputs[0]);
    by_duration(e, selected, block, p, outputs[1]);
    by_knots(e, selected, block, p, outputs[2]);
    for (size_t i = 0; duration && term && i < p->rows * e->lanes; i++)
        duration[i] += term[i];
}

static void gradients(const api_evaluation *e, const api_selection *selected, size_t block)
{
    static const size_t of_tau[]      = {DTAU_DPOINTS, DTAU_DDURATION, DTAU_DKNOTS},
                        of_tau_dot[]  = {DTAU_DOT_DPOINTS, DTAU_DOT_DDURATION, DTAU_DOT_DKNOTS},
                        of_wrenches[] = {D_JOINT_WRENCHES_DPOINTS, D_JOINT_WRENCHES_DDURATION, D_JOINT_WRENCHES_DKNOTS},
                        of_qdd[]      = {DQDD_DPOINTS, DQDD_DDURATION, DQDD_DKNOTS};
    const api_trajectory_task task    = task_of(selected);
    api_trajectory_partials   p       = {.by_parameters = api_result_block(e, selected, DTAU_DPARAMETERS, block),
                                         .columns       = api_extent(e->model, selected, API_BODY_PARAMETERS)};
    api_duration_terms        terms;
    api_trajectory_differentiate(e, &task, block, &p, &terms,
                                 api_behind(e, e->spare, API_SPLINE_ORDERS * e->model->nv, 1));
    put_gradients(e, selected, block, &p.tau, of_tau, terms.tau);
    put_gradients(e, selected, block, &p.rate, of_tau_dot, terms.tau_dot);
    put_gradients(e, selected, block, &p.wrenches, of_wrenches, terms.joint_wrenches);
    put_gradients(e, selected, block, &p.qdd, of_qdd, terms.qdd);
}

static bool evaluate_points(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const trajectory_options *o = selected->options;
    api_point_task      task = {o->motion, {.n = api_selected_extent(selected, API_FIXED_POINTS), .frames = o->points}};
    api_point_motion    to   = {.positions     = api_result_block(e, selected, POINT_POSITIONS, block),
                                .velocities    = api_result_block(e, selected, POINT_VELOCITIES, block),
                                .accelerations = api_result_block(e, selected, POINT_ACCELERATIONS, block)};
    api_point_gradients by   = {
          .positions_by_points       = api_result_block(e, selected, D_POINT_POSITIONS_DPOINTS, block),
          .velocities_by_points      = api_result_block(e, selected, D_POINT_VELOCITIES_DPOINTS, block),
          .velocities_by_duration    = api_result_block(e, selected, D_POINT_VELOCITIES_DDURATION, block),
          .accelerations_by_points   = api_result_block(e, selected, D_POINT_ACCELERATIONS_DPOINTS, block),
          .accelerations_by_duration = api_result_block(e, selected, D_POINT_ACCELERATIONS_DDURATION, block)};
    return api_trajectory_points_evaluate(e, &task, block, to, &by, e->spare);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    if (!find_free_motion(e, selected, block)) return false;
    torques(e, selected, block);
    find_regressor(e, selected, block);
    if (motion_of(selected)->dense) put_dense_basis(e, selected, block);
    if (differentiates(selected)) gradients(e, selected, block);
    api_motion_by_knots(e, motion_of(selected), block, api_result_block(e, selected, DMOTION_DKNOTS, block), e->spare);
    return !(selected->outputs & OF_POINTS) || evaluate_points(e, selected, block);
}

const api_operation api_trajectory = {
    .name  = "trajectory",
    .needs = API_BIT(API_DEGREE) | API_BIT(API_DURATION) | API_BIT(API_CONTROL_POINTS),
    .takes = API_BIT(API_KNOTS) | API_BIT(API_SAMPLES) | API_BIT(API_TIMES) | API_BIT(API_DENSE) |
             API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) |
             API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) | API_BIT(API_POINTS_FIELD) |
             API_BIT(API_FREE) | API_BIT(API_INPUT),
    .tree_outputs   = OF_TAU_DOT,
    .outputs        = {[TIMES]                           = {"times", true, {0}},
                       [Q]                               = {"q", true, {API_NQ}},
                       [QD]                              = {"qd", true, {API_NV}},
                       [QDD]                             = {"qdd", true, {API_NV}},
                       [QDDD]                            = {"qddd", true, {API_NV}},
                       [TAU]                             = {"tau", true, {API_NV}},
                       [TAU_DOT]                         = {"tau_dot", true, {API_NV}},
                       [JOINT_WRENCHES]                  = {"joint_wrenches", false, {API_BODIES, 6}},
                       [FIRST_CONTROL_POINT]             = {"first_control_point", false, {0}},
                       [BASIS]                           = {"basis", false, {API_SPLINE_ORDERS, API_SUPPORT}},
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
                       [DMOTION_DKNOTS]          = {"dmotion_dknots", false, {API_SPLINE_ORDERS, API_NV, API_SPLINE_KNOTS}},
                       [DTAU_DKNOTS]             = {"dtau_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                       [DTAU_DOT_DKNOTS]         = {"dtau_dot_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                       [D_JOINT_WRENCHES_DKNOTS] = {"d_joint_wrenches_dknots", false, {API_BODIES, 6, API_SPLINE_KNOTS}},
                       [DQDD_DPOINTS]            = {"dqdd_dcontrol_points", false, {API_NV, API_SUPPORT, API_NV}},
                       [DQDD_DDURATION]          = {"dqdd_dduration", false, {API_NV}},
                       [DQDD_DKNOTS]             = {"dqdd_dknots", false, {API_NV, API_SPLINE_KNOTS}},
                       [DTAU_DPARAMETERS]        = {"dtau_dparameters", false, {API_NV, API_BODY_PARAMETERS}}},
    .alone          = true,
    .wrench_signals = true,
    .one_by_one     = true,
    .weight         = 4,
    .square_weight  = 1,
    .options        = options,
    .prepare        = prepare,
    .spare          = spare,
    .begin          = begin,
    .load           = API_LOAD_TAKEN,
    .evaluate       = evaluate,
};
