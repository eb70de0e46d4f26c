/* trajectory_evaluate.c - compute the outputs of trajectory for blocks of states, and the gradients of least margins.
 *
 * The gradients follow from the partial derivatives of trajectory_partials.h by the chain rule of
 * dynamics/trajectory_gradients/motion_chain.h. */
#include "api/requests/evaluate/limited_quantities.h"
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/requests/evaluate/motor_efforts.h"
#include "api/requests/evaluate/parameter_rates.h"
#include "api/requests/evaluate/point_motion.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/scene/row_scene.h"
#include "dynamics/trajectory_gradients/motion_knots.h"
#include "dynamics/trajectory_gradients/margins.h"
#include "trajectory_outputs.h"
#include "trajectory_partials.h"
#include "dynamics/trajectory_gradients/point_gradients.h"
#include <string.h>

/* --- what is computed ------------------------------------------------------------------------------------------- */

/* Returns the outputs that are found while the states are evaluated; the gradients of least margins follow at the end.
 */
static api_set outputs_of_states(const api_selection *selected)
{
    return selected->outputs & ~API_BIT(LEAST_GRADIENTS);
}

/* Returns true if partial derivatives of torques are needed for `outputs`. */
static bool differentiates(const api_selection *selected, api_set outputs)
{
    const api_trajectory_options *o       = selected->options;
    const api_set                 of_free = o->efforts.driven ? API_BIT(DTAU_DPARAMETERS) | OF_POINT_ACCELERATIONS : 0;
    const api_set                 of_margins = o->efforts_limited || o->rates_limited ? OF_MARGIN_GRADIENTS : 0;
    return (outputs & (OF_TAU | OF_TAU_DOT | OF_WRENCHES | OF_QDD | of_free | of_margins)) != 0;
}

static api_trajectory_task task_of(const api_selection *selected, api_set outputs)
{
    static const api_mimics       none;
    const api_trajectory_options *o          = selected->options;
    const api_set                 of_margins = o->rates_limited ? OF_MARGIN_GRADIENTS : 0;
    return (api_trajectory_task){.motion    = o->motion,
                                 .efforts   = &o->efforts,
                                 .followers = outputs & OF_MARGIN_GRADIENTS ? &o->followers : &none,
                                 .rate      = (outputs & (OF_TAU_DOT | of_margins)) != 0,
                                 .wrenches  = (outputs & OF_WRENCHES) != 0};
}

/* The scratch lanes of a block. The motion of free coordinates, the gradients and the least gradients are evaluated one
 * after the other in `work`, which begins with memory for the derivatives of the motion with respect to one knot.
 * `points` is the same memory, unless the gradients of points need the partial derivatives. */
typedef struct scratch {
    double      *tau, *tau_dot;      /* nv + mimic joints: for margins */
    double      *sides;              /* sides of the margins (dyn_limit_margin) */
    double      *followers, *motion; /* scratch memory of mimic_efforts.h and limited_quantities.h */
    dyn_partials margins;
    double      *work, *points; /* scratch of gradients; scratch of the points alone */
} scratch;

static size_t margin_entries(const api_model *model, const api_selection *selected)
{
    const api_trajectory_options *o = selected->options;
    if (!(selected->outputs & OF_MARGINS)) return 0;
    return api_mimics_room(&o->followers, false) + 2 * (model->nv + o->followers.n) + 2 * o->limits.n +
           api_limited_rates_entries(model) + dyn_margin_partials_entries(o->limits.n, model->nv);
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns the numbers per state of the motion's derivatives with respect to one knot, and of the partial derivatives.
 */
static size_t partial_entries(const api_model *model, const api_selection *selected)
{
    const api_trajectory_task task = task_of(selected, selected->outputs);
    const size_t              n    = api_selected_extent(selected, API_REQUEST_WRENCHES);
    return DYN_SPLINE_ORDERS * model->nv +
           (differentiates(selected, selected->outputs) ? api_trajectory_partials_entries(model, &task, n) : 0);
}

/* Returns true if gradients of points need those of the accelerations of free coordinates. */
static bool needs_free_accelerations(const api_selection *selected)
{
    const api_trajectory_options *o = selected->options;
    return o->efforts.driven && (selected->outputs & OF_POINT_ACCELERATIONS);
}

size_t api_trajectory_spare(const api_model *model, const api_selection *selected)
{
    const api_trajectory_options *o    = selected->options;
    size_t                        room = partial_entries(model, selected), points = 0;
    if (o->efforts.driven) room = greater(room, api_trajectory_free_motion_room(model->nv));
    if (selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS))
        room = greater(room, api_parameter_rates_room(model, o->efforts.driven != NULL));
    if (selected->outputs & OF_POINTS)
        points = dyn_point_partials_entries(model->nv, api_selected_extent(selected, API_FIXED_POINTS));
    room = needs_free_accelerations(selected) ? room + points : greater(room, points);
    if (selected->outputs & API_BIT(LEAST_GRADIENTS))
        room = greater(room, api_least_gradient_room(o->motion, model->nv));
    return room + margin_entries(model, selected);
}

static scratch lay_out(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_trajectory_options *o = selected->options;
    scratch                       s = {.work = e->spare};
    if (selected->outputs & OF_MARGINS) {
        s.followers = e->spare;
        s.tau       = api_behind(e, s.followers, api_mimics_room(&o->followers, false), 1);
        s.tau_dot   = api_behind(e, s.tau, e->model->nv + o->followers.n, 1);
        s.sides     = api_behind(e, s.tau_dot, e->model->nv + o->followers.n, 1);
        s.motion    = api_behind(e, s.sides, 2 * o->limits.n, 1);
        s.work      = api_behind(e, s.motion, api_limited_rates_entries(e->model), 1);
        s.margins   = dyn_margin_partials_take(o->limits.n, e->model->nv, e->lanes, &s.work);
    }
    if (o->least.sides) s.sides = api_block(e, o->least.sides, 2 * o->limits.n, block);
    s.points = s.work;
    if (needs_free_accelerations(selected)) s.points = api_behind(e, s.work, partial_entries(e->model, selected), 1);
    return s;
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static bool find_free_motion(const api_evaluation *e, const api_selection *selected, size_t block, double *work)
{
    const api_trajectory_options *o        = selected->options;
    const api_set                 of_jerks = OF_JERKS | (o->rates_limited ? OF_MARGINS : 0);
    if (!o->efforts.driven || !(selected->outputs & OF_ACCELERATIONS)) return true;
    return api_trajectory_free_motion(e, &o->efforts, block, (selected->outputs & of_jerks) != 0, work);
}

/* Appends the efforts of mimic joints, and their rates, to those of the coordinates. `io` has the motion and the
 * efforts of the coordinates. */
static void append_followers(const api_evaluation *e, const api_trajectory_options *o, const scratch *s,
                             const dyn_torque_derivative *io)
{
    const api_mimic_block b  = api_mimic_block_of(e, &o->followers, s->followers);
    const size_t          nv = e->model->nv * e->lanes;
    if (io->tau && io->tau != s->tau) memcpy(s->tau, io->tau, nv * sizeof *s->tau);
    if (io->tau_dot && io->tau_dot != s->tau_dot) memcpy(s->tau_dot, io->tau_dot, nv * sizeof *s->tau_dot);
    api_mimic_efforts(&b, io, s->tau + nv, o->rates_limited ? s->tau_dot + nv : NULL);
}

/* Computes the margins and their sides. `io` is the motion with its efforts. */
static void put_margins(const api_evaluation *e, const api_selection *selected, size_t block, const scratch *s,
                        const dyn_torque_derivative *io)
{
    const api_trajectory_options *o        = selected->options;
    const dyn_limits              limits   = {o->limits.n, o->limits.limit};
    const double *limited[DYN_LIMIT_KINDS] = {[DYN_LIMIT_EFFORT] = io->tau, [DYN_LIMIT_EFFORT_RATE] = io->tau_dot};
    if (o->followers.n > 0) {
        append_followers(e, o, s, io);
        limited[DYN_LIMIT_EFFORT]      = s->tau;
        limited[DYN_LIMIT_EFFORT_RATE] = s->tau_dot;
    }
    limited[DYN_LIMIT_EFFORT_SPEED] = limited[DYN_LIMIT_EFFORT];
    api_limited_quantities(e, block, limited);
    dyn_margins_put(&limits, e->lanes, limited, api_result_block(e, selected, MARGINS, block), s->sides);
}

/* Computes the torques, those of motors and the margins. Calls the kernel torque_derivative only if tau_dot is needed,
 * otherwise inverse_dynamics; both kernels give the same bits of tau. */
static void torques(const api_evaluation *e, const api_selection *selected, size_t block, const scratch *s)
{
    const api_trajectory_options *o       = selected->options;
    const dyn_kernels            *kernels = e->kernels;
    const bool                    margins = (selected->outputs & OF_MARGINS) != 0;
    dyn_torque_derivative         io      = {.q              = api_state_block(e, API_Q, block),
                                             .qd             = api_state_block(e, API_QD, block),
                                             .qdd            = api_state_block(e, API_QDD, block),
                                             .qddd           = api_state_block(e, API_QDDD, block),
                                             .wrenches       = api_wrench_block(e, block),
                                             .wrench_rates   = api_wrench_rate_block(e, block),
                                             .tau            = api_result_block(e, selected, TAU, block),
                                             .tau_dot        = api_result_block(e, selected, TAU_DOT, block),
                                             .joint_wrenches = api_result_block(e, selected, JOINT_WRENCHES, block)};
    double                       *motors  = api_result_block(e, selected, MOTOR_TAU, block);
    if (!io.tau && margins && o->efforts_limited) io.tau = s->tau;
    if (!io.tau && motors) io.tau = s->work; /* s->work is free again when this function returns */
    if (!io.tau_dot && margins && o->rates_limited) io.tau_dot = s->tau_dot;
    if (io.tau_dot) {
        kernels->torque_derivative(&e->query->scene, e->workspace, &io, 1);
    } else if (io.tau || io.joint_wrenches) {
        dyn_inverse_dynamics plain = {io.q, io.qd, io.qdd, io.wrenches, io.tau, io.joint_wrenches};
        kernels->inverse_dynamics(&e->query->scene, e->workspace, &plain, 1);
    }
    if (o->efforts.driven) api_trajectory_free_restore(e, &o->efforts, block, io.tau, io.tau_dot);
    if (motors) api_motor_efforts(e, io.tau, 1, motors);
    if (margins) put_margins(e, selected, block, s, &io);
}

/* Computes the output dtau_dparameters at given accelerations, the regressor, unless it is not selected. */
static void find_regressor(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_regressor io = {.q         = api_state_block(e, API_Q, block),
                              .qd        = api_state_block(e, API_QD, block),
                              .qdd       = api_state_block(e, API_QDD, block),
                              .wrenches  = api_wrench_block(e, block),
                              .regressor = api_result_block(e, selected, DTAU_DPARAMETERS, block)};
    if (io.regressor) e->kernels->regressor(&e->query->scene, e->workspace, &io, 1);
}

/* Finds the derivatives of tau_dot with respect to parameters. Returns false with a problem: the deadline has passed.
 */
static bool find_parameter_rates(const api_evaluation *e, const api_selection *selected, size_t block, double *work)
{
    const api_trajectory_options *o      = selected->options;
    const dyn_torque_derivative   motion = {.q        = api_state_block(e, API_Q, block),
                                            .qd       = api_state_block(e, API_QD, block),
                                            .qdd      = api_state_block(e, API_QDD, block),
                                            .qddd     = api_state_block(e, API_QDDD, block),
                                            .wrenches = api_wrench_block(e, block)};
    double                       *to     = api_result_block(e, selected, DTAU_DOT_DPARAMETERS, block);
    return !to || api_parameter_rates(e, o->efforts.driven, &motion, 1, work, to);
}

/* Sets the partial derivatives of torques and margins that `outputs` need. */
static void differentiate(const api_evaluation *e, const api_selection *selected, api_set outputs, size_t block,
                          scratch *s, dyn_torque_partials *p)
{
    const api_trajectory_options *o       = selected->options;
    const dyn_motion_block        samples = api_motion_block(e, o->motion, block);
    api_trajectory_task           task    = task_of(selected, outputs);
    task.samples                          = &samples;
    if (differentiates(selected, outputs))
        api_trajectory_differentiate(e, &task, block, p, api_behind(e, s->work, DYN_SPLINE_ORDERS * e->model->nv, 1));
    if (!(outputs & OF_MARGIN_GRADIENTS)) return;
    dyn_margin_block margins = {.samples = &samples, .limits = {o->limits.n, o->limits.limit}, .sides = s->sides};
    api_limited_rates_find(e, block, s->motion, &margins.rates);
    dyn_margins_differentiate(&margins, p, &s->margins);
}

/* Writes the gradients of one result with respect to control points, duration and knots. */
static void put_gradients(const api_evaluation *e, const api_selection *selected, size_t block, const dyn_partials *p,
                          const size_t outputs[3], double *column)
{
    const dyn_gradients    to      = {.by_points   = api_result_block(e, selected, outputs[0], block),
                                      .by_duration = api_result_block(e, selected, outputs[1], block),
                                      .by_knots    = api_result_block(e, selected, outputs[2], block)};
    const dyn_motion_block samples = api_motion_block(e, api_trajectory_motion(selected), block);
    dyn_chain_gradients(&samples, p, &to, column);
}

static void gradients(const api_evaluation *e, const api_selection *selected, size_t block, scratch *s,
                      dyn_torque_partials *p)
{
    static const size_t of_tau[]      = {DTAU_DPOINTS, DTAU_DDURATION, DTAU_DKNOTS},
                        of_tau_dot[]  = {DTAU_DOT_DPOINTS, DTAU_DOT_DDURATION, DTAU_DOT_DKNOTS},
                        of_wrenches[] = {D_JOINT_WRENCHES_DPOINTS, D_JOINT_WRENCHES_DDURATION, D_JOINT_WRENCHES_DKNOTS},
                        of_qdd[]      = {DQDD_DPOINTS, DQDD_DDURATION, DQDD_DKNOTS},
                        of_margins[]  = {DMARGINS_DPOINTS, DMARGINS_DDURATION, DMARGINS_DKNOTS};
    *p = (dyn_torque_partials){.by_parameters = api_result_block(e, selected, DTAU_DPARAMETERS, block),
                               .columns       = api_extent(e->model, selected, API_BODY_PARAMETERS)};
    differentiate(e, selected, outputs_of_states(selected), block, s, p);
    const dyn_partials tau = api_coordinate_rows(e, &p->tau), rate = api_coordinate_rows(e, &p->rate);
    put_gradients(e, selected, block, &tau, of_tau, s->work);
    put_gradients(e, selected, block, &rate, of_tau_dot, s->work);
    put_gradients(e, selected, block, &p->wrenches, of_wrenches, s->work);
    put_gradients(e, selected, block, &p->qdd, of_qdd, s->work);
    put_gradients(e, selected, block, &s->margins, of_margins, s->work);
}

static bool evaluate_points(const api_evaluation *e, const api_selection *selected, size_t block,
                            const dyn_partials *qdd, double *room)
{
    const api_trajectory_options *o       = selected->options;
    const dyn_motion_block        samples = api_motion_block(e, o->motion, block);
    const api_fixed_points        points  = {.n = api_selected_extent(selected, API_FIXED_POINTS), .frames = o->points};
    const dyn_point_gradients     by      = {
                 .positions_by_points       = api_result_block(e, selected, D_POINT_POSITIONS_DPOINTS, block),
                 .velocities_by_points      = api_result_block(e, selected, D_POINT_VELOCITIES_DPOINTS, block),
                 .velocities_by_duration    = api_result_block(e, selected, D_POINT_VELOCITIES_DDURATION, block),
                 .accelerations_by_points   = api_result_block(e, selected, D_POINT_ACCELERATIONS_DPOINTS, block),
                 .accelerations_by_duration = api_result_block(e, selected, D_POINT_ACCELERATIONS_DDURATION, block)};
    dyn_point_partials     p  = dyn_point_partials_lay_out(&samples, points.n, &by, room);
    const api_point_motion to = {.positions           = api_result_block(e, selected, POINT_POSITIONS, block),
                                 .velocities          = api_result_block(e, selected, POINT_VELOCITIES, block),
                                 .accelerations       = api_result_block(e, selected, POINT_ACCELERATIONS, block),
                                 .jacobians           = p.jacobians,
                                 .velocities_by_q     = p.velocities_by_q,
                                 .accelerations_by_q  = p.accelerations_by_q,
                                 .accelerations_by_qd = p.accelerations_by_qd};
    if (!api_point_motion_evaluate(e, block, &points, &to)) return false;
    if (needs_free_accelerations(selected)) p.qdd = qdd;
    dyn_point_gradients_put(&samples, &p, &by);
    return true;
}

bool api_trajectory_evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    dyn_torque_partials p;
    scratch             s          = lay_out(e, selected, block);
    double             *basis      = api_result_block(e, selected, BASIS, block),
           *knots                  = api_result_block(e, selected, DMOTION_DKNOTS, block);
    const dyn_motion_block samples = api_motion_block(e, api_trajectory_motion(selected), block);
    if (!find_free_motion(e, selected, block, s.work)) return false;
    torques(e, selected, block, &s);
    find_regressor(e, selected, block);
    if (!find_parameter_rates(e, selected, block, s.work)) return false;
    if (basis && samples.dense) dyn_motion_dense_basis(&samples, basis);
    gradients(e, selected, block, &s, &p);
    dyn_motion_by_knots(&samples, knots, s.work);
    return !(selected->outputs & OF_POINTS) || evaluate_points(e, selected, block, &p.qdd, s.points);
}

/* --- least margins ------------------------------------------------------------------------------------------------ */

/* Stores the gradients of the least margins of a motion. Differentiates the blocks of their samples again, each block
 * once for neighbouring limits whose least margins are in it. */
static bool store_least_gradients(api_evaluation *e, const api_selection *selected, size_t row)
{
    const api_trajectory_options *o      = selected->options;
    size_t                        before = SIZE_MAX;
    scratch                       s      = {.work = NULL};
    dyn_torque_partials           p      = {.columns = 0};
    for (size_t i = 0; i < o->limits.n; i++) {
        const size_t state = row * o->motion->path.samples + api_least_margin_sample(e, &o->least, row, i);
        const size_t block = state / e->lanes;
        if (block != before) {
            if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
            if (e->own_query && !api_row_scene_set(e, block * e->lanes)) return false;
            if (e->model->loops && !api_loop_close_block(e, block)) return false;
            s = lay_out(e, selected, block);
            differentiate(e, selected, API_BIT(LEAST_GRADIENTS), block, &s, &p);
            before = block;
        }
        if (!api_least_gradient_store(e, &o->least, &s.margins, state, i, s.work)) return false;
    }
    return true;
}

bool api_trajectory_finish(const api_evaluation *e, const api_selection *selected)
{
    const api_trajectory_options *o     = selected->options;
    api_evaluation                again = *e;
    if (!(selected->outputs & OF_LEAST)) return true;
    again.problem = e->query->problem;
    again.spare   = e->spares[selected - e->query->selected];
    if (!api_least_margins_check(&again, &o->least)) return false;
    if (!o->least.gradients) return true;
    bool stored = api_row_scene_open(&again);
    for (size_t row = 0; stored && row < e->query->rows; row++)
        stored = api_failed_rows_has(e->plan->failed_rows, row * o->motion->path.samples) ||
                 store_least_gradients(&again, selected, row);
    api_row_scene_close(&again);
    return stored;
}
