/* step.c - integrates each state over one step, with the Jacobians of the result (dynamics/algorithms/step.c). */
#include "step.h"
#include "api/requests/operations/operation_list.h"
#include "api/robots/model/model_loops.h"
#include "dynamics/joint_stiction/stiction_solver.h"
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/service/http/call.h"
#include "api/requests/fields/fields.h"
#include "api/codec/number.h"
#include <stdio.h>
#include <string.h>

/* --- options ---------------------------------------------------------------------------------------------------- */

static const char *const integrators[] = {[DYN_EXPLICIT_EULER]      = "explicit_euler",
                                          [DYN_SEMI_IMPLICIT_EULER] = "semi_implicit_euler",
                                          [DYN_RK4]                 = "rk4",
                                          [DYN_IMPLICIT_EULER]      = "implicit_euler"};

static bool read_integrator(const api_query *q, const api_node *value, const api_place *up, dyn_step_method *method)
{
    api_place at    = api_place_key(up, "integrator");
    api_names known = api_names_from_array(integrators, sizeof integrators / sizeof *integrators);
    *method         = DYN_SEMI_IMPLICIT_EULER;
    if (!value) return true;
    int i = api_read_choice(q, value, &at, "an integrator", &known);
    if (i >= 0) *method = (dyn_step_method)i;
    return i >= 0;
}

bool api_step_read(api_query *q, const api_node *given, const api_place *up, api_step_options *options)
{
    api_place at                  = api_place_key(up, "step");
    options->joints               = NULL;
    options->differentiates       = false;
    const dyn_mechanism mechanism = api_model_mechanism(q->model);
    if (mechanism.loops && !(options->joints = dyn_loop_step_joints(api_pool_memory(q->pool), &mechanism)))
        return false;
    if (!api_read_number(q, api_node_get(given, "step"), &at, &options->h)) return false;
    if (!(options->h > 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a time in s greater than 0 expected",
                           API_NUMBER_TEXT(options->h));
    return read_integrator(q, api_node_get(given, "integrator"), up, &options->method);
}

static bool has_output(const api_selection *selected, size_t output)
{
    return selected->outputs >> output & 1;
}

/* Refuses "full" with held frames. False with a problem. */
static bool check_full(api_query *q, const api_selection *selected, const api_node *given, const api_place *up)
{
    const api_step_options *o    = selected->options;
    bool                    held = false;
    for (size_t r = 0; r < o->held.n; r++)
        held = held || o->held.range[r].contact;
    return !held || !has_output(selected, API_STEP_FULL) ||
           api_fail_output(q, selected, API_STEP_FULL, given, up,
                           "full is for steps without held frames: ask forward-dynamics with held for it");
}

bool api_step_read_residual(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_held_ranges *held = &((const api_step_options *)selected->options)->held;
    size_t                 most = 0;
    for (size_t r = 0; r < held->n; r++)
        if (held->range[r].contact && held->range[r].contact->n > most) most = held->range[r].contact->n;
    api_set_extent(selected, API_HELD_FRAMES, most);
    return api_contact_select_residual(q, selected, API_STEP_CONTACT_RESIDUAL, held->damping, given, up);
}

bool api_step_read_friction(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_step_options *o = selected->options;
    if (!check_full(q, selected, given, up) || !api_step_friction_read(q, &o->held, o->method, given, up, &o->friction))
        return false;
    if (o->friction && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(API_STEP_STICKING);
    return o->friction || !has_output(selected, API_STEP_STICKING) ||
           api_fail_output(q, selected, API_STEP_STICKING, given, up,
                           "sticking is for steps with friction_at_rest \"stick\"");
}

bool api_step_prepare(api_plan *plan, api_selection *selected)
{
    api_step_options *o     = selected->options;
    const api_query  *q     = plan->query;
    dyn_scene         scene = q->scene;
    if (o->joints) scene.model = o->joints;
    const size_t inputs = dyn_step_inputs(&scene, has_output(selected, API_STEP_WRENCH_MATRIX),
                                          has_output(selected, API_STEP_PARAMETER_MATRIX));
    o->work             = dyn_step_work(scene.model, o->method, inputs) + api_held_work(q, &o->held) +
              api_step_friction_work(q, &o->held, o->friction);
    if (o->friction && api_has_load(q)) return api_fail_load(q, "friction_at_rest \"stick\" of a step");
    o->room = api_step_friction_entries(q->model, o->friction) +
              api_step_integrate_entries(q, o->joints, &o->held, api_step_friction_joints(o->friction));
    return api_static_friction_check(q, o->friction) && api_held_prepare(q, &o->held);
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_step_options *o = selected->options = api_take(q->pool, sizeof *o);
    return o && api_step_read(q, given, up, o) && api_held_read(q, given, up, &o->held) &&
           api_step_read_residual(q, selected, given, up) && api_step_read_friction(q, selected, given, up);
}

/* --- states ----------------------------------------------------------------------------------------------------- */

/* Returns the range of a state; lanes after the last state repeat it. */
static const api_held_range *range_of_state(const api_evaluation *e, const api_step_options *o, size_t state)
{
    const size_t last = api_states(e->query) - 1, samples = e->query->samples;
    return api_held_range_of(&o->held, samples > 0 ? (state < last ? state : last) % samples : 0);
}

/* True if the kernel computes an output. The matrices A and B are computed together, and if a selected matrix needs
 * them. */
static bool computes(const api_selection *selected, size_t output)
{
    if (output < API_STEP_STATE_MATRIX) return true;
    if (output > API_STEP_INPUT_MATRIX) return has_output(selected, output);
    for (size_t i = API_STEP_STATE_MATRIX; i < API_STEP_CONTACT_RESIDUAL; i++)
        if (has_output(selected, i)) return true;
    return ((const api_step_options *)selected->options)->differentiates;
}

/* Counts the scratch lanes of outputs: of those that are computed but not selected or, if states of a block may hold
 * different frames, of all that are computed. Then each range of nodes is evaluated into scratch lanes, from which its
 * states are copied. */
size_t api_step_spare(const api_model *model, const api_selection *selected)
{
    const api_step_options *o   = selected->options;
    size_t                  sum = 3 + o->work + o->room;
    if (has_output(selected, API_STEP_FULL)) sum += model->nv;
    if (has_output(selected, API_STEP_STICKING) && o->held.n > 1) sum += model->nv;
    for (size_t output = 0; output < API_STEP_STICKING; output++)
        if (computes(selected, output) && (o->held.n > 1 || !has_output(selected, output)))
            sum += api_output_entries(model, selected, output);
    return sum;
}

bool api_step_check(const api_evaluation *e, const api_step_means *means, double damping, const dyn_step *io,
                    size_t lane, api_problem *found)
{
    api_problem within;
    api_problem_clear(&within);
    if (means->failures && !api_loop_fail(means->failures->lane[lane], NULL, -1, &within))
        return api_fail(found, within.code, NULL, "within the step %s", within.detail);
    const dyn_bound *beyond   = api_find_angle_beyond_limit(e->model, io->q_after + lane, e->lanes);
    double           singular = io->singular[lane], unsolved = io->unsolved[lane];
    if (singular >= 0)
        return api_fail(found, API_SINGULAR_MASS_MATRIX, NULL,
                        "the mass matrix is singular at %.64s, which moves no effective mass or inertia",
                        api_joint_of(e->model, (int)singular));
    if (unsolved == API_STEP_UNDECIDED)
        return api_fail(found, API_SINGULAR_MASS_MATRIX, NULL,
                        "which joints stick cannot be decided: the mass matrix is singular up to rounding");
    if (unsolved != DYN_STEP_SOLVED)
        return api_fail(found, API_INTEGRATION_FAILED, NULL, "%s: shorten the step, or choose another integrator",
                        unsolved == DYN_STEP_SINGULAR ? "the Jacobian of the implicit equation is singular"
                                                      : "Newton's method does not solve the implicit equation");
    if (io->contradictory[lane] != 0)
        return api_contact_describe(means->contact, (size_t)io->contradictory[lane], damping, found);
    return !beyond || api_fail(found, API_ANGLE_TOO_LARGE, NULL,
                               "after the step %.64s is beyond %g rad: the motion is too fast, or the step too long",
                               e->model->position_names[beyond->entry], DYN_MAX_ANGLE);
}

/* Notes the problems of the states of `range` whose step has no result; in a rollout they name the step. False: the
 * deadline has passed. */
static bool check_states(const api_evaluation *e, const api_step_options *o, const api_step_means *by,
                         const api_held_range *range, const dyn_step *io, api_lane_problems *problems)
{
    const size_t   n = e->query->samples, first = problems->block * e->lanes;
    api_step_means means = *by;
    means.contact        = range->contact;
    if (!api_deadline_check(e->query->input->deadline, e->problem))
        return false; /* the deadline may have ended a step half-way */
    for (size_t lane = 0; lane < e->lanes && first + lane < api_states(e->query); lane++) {
        api_problem found;
        api_problem_clear(&found);
        if (range_of_state(e, o, first + lane) == range &&
            !api_step_check(e, &means, o->held.damping, io, lane, &found))
            api_lane_problems_note(problems, lane, n > 0 ? (long long)((first + lane) % n) : -1, &found);
    }
    return true;
}

/* Sets the arrays of a block, with outputs in the results or in scratch lanes. */
static dyn_step step_of_block(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_step_options *o        = selected->options;
    const bool              apart    = o->held.n > 1;
    double                 *singular = e->spare, *unsolved = singular + e->lanes, *contradictory = unsolved + e->lanes,
           *work = contradictory + e->lanes, *next = api_behind(e, work, o->work, 1);
    next = api_behind(e, next, o->room, 1);
    if (has_output(selected, API_STEP_FULL)) next = api_behind(e, next, e->model->nv, 1);
    if (has_output(selected, API_STEP_STICKING) && apart) next = api_behind(e, next, e->model->nv, 1);
    double *outputs[API_STEP_OUTPUT_COUNT] = {NULL};
    for (size_t i = 0; i < API_STEP_STICKING; i++) {
        if (!computes(selected, i)) continue;
        outputs[i] = apart ? next : api_result_or_spare(e, selected, i, block, &next);
        if (apart) next = api_behind(e, next, api_output_entries(e->model, selected, i), 1);
    }
    return (dyn_step){.q                = api_state_block(e, API_Q, block),
                      .qd               = api_state_block(e, API_QD, block),
                      .tau              = api_state_block(e, API_TAU, block),
                      .wrenches         = api_wrench_block(e, block),
                      .q_after          = outputs[API_STEP_Q_AFTER],
                      .qd_after         = outputs[API_STEP_QD_AFTER],
                      .state_matrix     = outputs[API_STEP_STATE_MATRIX],
                      .input_matrix     = outputs[API_STEP_INPUT_MATRIX],
                      .wrench_matrix    = outputs[API_STEP_WRENCH_MATRIX],
                      .parameter_matrix = outputs[API_STEP_PARAMETER_MATRIX],
                      .contact_residual = outputs[API_STEP_CONTACT_RESIDUAL],
                      .work             = work,
                      .singular         = singular,
                      .unsolved         = unsolved,
                      .contradictory    = contradictory};
}

/* Returns the lanes of the output `sticking`: in the results, or in scratch lanes as those of step_of_block; NULL: not
 * needed. */
static double *sticking_of_block(const api_evaluation *e, const api_selection *selected, const dyn_step *io,
                                 size_t block)
{
    const api_step_options *o = selected->options;
    double                 *next;
    if (!has_output(selected, API_STEP_STICKING)) return NULL;
    if (o->held.n <= 1) return api_result_block(e, selected, API_STEP_STICKING, block);
    next = api_behind(e, api_behind(e, io->work, o->work, 1), o->room, 1);
    return has_output(selected, API_STEP_FULL) ? api_behind(e, next, e->model->nv, 1) : next;
}

/* Copies the outputs of the states of `range` from scratch lanes to the results. */
static void copy_states(const api_evaluation *e, const api_selection *selected, const api_held_range *range,
                        const dyn_step *io, const double *sticking, size_t block)
{
    const double *const from[] = {io->q_after,       io->qd_after,         io->state_matrix,     io->input_matrix,
                                  io->wrench_matrix, io->parameter_matrix, io->contact_residual, sticking};
    for (size_t output = 0; output <= API_STEP_STICKING; output++) {
        double *to      = api_result_block(e, selected, output, block);
        size_t  entries = to ? api_output_entries(e->model, selected, output) : 0;
        for (size_t lane = 0; lane < e->lanes; lane++)
            for (size_t i = lane;
                 range_of_state(e, selected->options, block * e->lanes + lane) == range && i < entries * e->lanes;
                 i += e->lanes)
                to[i] = from[output][i];
    }
}

bool api_step_may_continue(void *clock)
{
    const api_step_clock *c = clock;
    return api_deadline_check(c->deadline, c->problem);
}

void api_step_take(const api_step_options *o, const api_held_range *range, const api_step_means *by, const dyn_step *io,
                   double *sticking)
{
    api_step_means means = *by;
    dyn_step       step  = *io;
    means.joints         = o->joints;
    means.contact        = range->contact;
    step.method          = o->method;
    step.h               = o->h;
    step.n_held          = range->contact ? range->contact->n : 0;
    step.held            = range->contact ? range->contact->frame : NULL;
    step.sites           = range->sites;
    step.damping         = o->held.damping;
    step.impact          = range->impact;
    if (o->friction)
        api_step_friction_apply(o->friction, &means, &step, sticking);
    else
        api_step_integrate(&means, &step);
}

/* Sets contact_residual to zero, of which a range with fewer held frames writes a part. */
static void clear_residual(const api_evaluation *e, const api_selection *selected, const dyn_step *io)
{
    const size_t entries = api_output_entries(e->model, selected, API_STEP_CONTACT_RESIDUAL);
    if (io->contact_residual) memset(io->contact_residual, 0, entries * e->lanes * sizeof *io->contact_residual);
}

/* Writes `full`, the state of the tree and the wrenches in the loops before the step. */
static void put_full(const api_evaluation *e, const api_selection *selected, const dyn_step *io, size_t block)
{
    const api_step_options *o       = selected->options;
    double                 *qdd     = api_behind(e, api_behind(e, io->work, o->work, 1), o->room, 1);
    dyn_forward_dynamics    forward = {
           .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = qdd, .singular = io->singular};
    dyn_inverse_dynamics motion = {.q = io->q, .qd = io->qd, .qdd = qdd, .wrenches = io->wrenches};
    if (!has_output(selected, API_STEP_FULL)) return;
    e->kernels->forward_dynamics(&e->query->scene, e->workspace, &forward, 1);
    api_loop_state_put(e, &e->query->scene, &motion, selected->result[API_STEP_FULL], block);
}

bool api_step_evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const api_step_options *o    = selected->options;
    const api_held_range   *last = NULL;
    api_lane_problems       problems;
    dyn_step                io       = step_of_block(e, selected, block);
    dyn_loop_step_failures  failures = {{{.status = DYN_LOOPS_CLOSED}}};
    const api_step_means    by       = {.kernels   = e->kernels,
                                        .scene     = &e->query->scene,
                                        .workspace = e->workspace,
                                        .room      = api_behind(e, io.work, o->work, 1),
                                        .failures  = o->joints ? &failures : NULL};
    api_step_clock          clock    = {e->query->input->deadline, e->problem};
    double                 *sticking = sticking_of_block(e, selected, &io, block);
    io.may_continue                  = api_step_may_continue;
    io.clock                         = &clock;
    api_lane_problems_begin(&problems, block, e->lanes);
    put_full(e, selected, &io, block);
    for (size_t lane = 0; lane < e->lanes; lane++) {
        const api_held_range *range = range_of_state(e, o, block * e->lanes + lane);
        if (range == last) continue;
        last = range;
        clear_residual(e, selected, &io);
        api_step_take(o, range, &by, &io, sticking);
        if (io.unsolved[0] == DYN_STEP_STOPPED || !check_states(e, o, &by, range, &io, &problems)) return false;
        if (o->held.n > 1) copy_states(e, selected, range, &io, sticking, block);
    }
    return api_lane_problems_tell(e, &problems, api_states(e->query));
}

/* --- costs ------------------------------------------------------------------------------------------------------ */

/* Returns the seconds that held frames or the columns of parameters, if the request asks for them, add to a state. Held
 * frames cost as much as two evaluations; each of the 10 n columns of n bodies costs as much as a product of M^-1 and a
 * vector. */
static double seconds_of_options(const api_call *call, const api_input *input, double evaluations, double each)
{
    const api_model *m       = call->model;
    double           columns = 10 * (double)m->n_bodies, nv = (double)m->nv, sum = 0;
    if (api_body_mentions(input, api_field_names[API_HELD_FIELD])) sum += 2 * (1 + evaluations) * each;
    if (api_body_mentions(input, api_step.outputs[API_STEP_PARAMETER_MATRIX].name))
        sum += (1 + evaluations) * columns * nv * nv * API_STEP_SQUARE_WEIGHT;
    return sum * call->api->calibration.body;
}

double api_step_seconds(const api_call *call, const api_input *input)
{
    /* steps of Newton's method; work for each nv^3: derivatives of rk4, products and elimination of implicit Euler */
    enum { NEWTON_STEPS = 5, RK4_CUBE = 1, IMPLICIT_CUBE = 2 };
    enum { CLOSING_STEPS = 4 /* iterations of the solver that closes the loops, at each evaluation after the first */ };
    const api_model *m  = call->model;
    double           nv = (double)m->nv, evaluations = 0, cube = 0;
    if (api_body_mentions(input, integrators[DYN_RK4])) {
        evaluations = 3;
        cube        = RK4_CUBE;
    } else if (api_body_mentions(input, integrators[DYN_IMPLICIT_EULER]) &&
               !api_body_mentions(input, integrators[DYN_SEMI_IMPLICIT_EULER])) {
        evaluations = NEWTON_STEPS;
        cube        = IMPLICIT_CUBE;
    }
    if (api_body_mentions(input, api_field_names[API_FRICTION_AT_REST])) cube += API_FRICTION_CUBE_WEIGHT;
    double each = API_STEP_WEIGHT * (double)m->n_bodies + API_STEP_SQUARE_WEIGHT * nv * nv;
    return (evaluations * each + cube * nv * nv * nv) * call->api->calibration.body +
           evaluations * CLOSING_STEPS * api_closing_step_seconds(m) +
           seconds_of_options(call, input, evaluations, each);
}

const api_operation api_step = {
    .name       = "step",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_STEP) |
             API_BIT(API_INTEGRATOR_FIELD) | API_BIT(API_HELD_FIELD) | API_BIT(API_CONTACT_DAMPING) |
             API_BIT(API_IMPACT_FIELD) | API_BIT(API_FRICTION_AT_REST) | API_BIT(API_GUESS),
    .needs_options = API_BIT(API_STEP),
    .outputs       = {API_STEP_OUTPUTS},
    .one_by_one    = true,
    .weight        = API_STEP_WEIGHT,
    .square_weight = API_STEP_SQUARE_WEIGHT,
    .state_seconds = api_step_seconds,
    .options       = options,
    .prepare       = api_step_prepare,
    .spare         = api_step_spare,
    .evaluate      = api_step_evaluate,
};
