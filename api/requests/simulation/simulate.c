/* simulate.c - declares the operation simulate: motions from torques or a controller, with their energies and the work
 * done. */
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/motor_efforts.h"
#include "api/service/http/call.h"
#include "api/requests/fields/operation.h"
#include "contact_events.h"
#include "integrator.h"
#include "simulation.h"
#include <math.h>

enum {
    TIMES,
    Q,
    QD,
    QDD,
    TAU,
    KINETIC,
    POTENTIAL,
    ACTUATOR_WORK,
    FRICTION_WORK,
    WRENCH_WORK,
    POSITION_ERROR,
    VELOCITY_ERROR,
    STEPS,
    CONTACT_WRENCHES,
    LIMITS,
    LEAST_MARGINS,
    MOTOR_TAU,
    CONTACT_RESIDUAL,
    CONTACT_FORCES,
    CONTACT_EVENTS
};

enum {
    STEPS_PER_SAMPLE = 100 /* assumed where steps are adaptive */,
    STEP   = 24 /* cost of one integration step, in evaluations of inverse dynamics; a contact adds one per stage */,
    STAGES = 5 /* stages of one integration step */
};

/* Cost of one product of a matrix of gains, in evaluations of inverse dynamics of one body. */
static const double product = 0.1;

#define ERRORS (API_BIT(POSITION_ERROR) | API_BIT(VELOCITY_ERROR))

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *at)
{
    const api_simulation *s = selected->options = api_simulation_read(q, given);
    if (!s) return false;
    api_set_extent(selected, API_HELD_FRAMES, s->contact ? s->contact->n : 0);
    if (s->contact && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(CONTACT_WRENCHES);
    if (!s->contact && selected->outputs & API_BIT(CONTACT_WRENCHES))
        return api_fail_output(q, selected, CONTACT_WRENCHES, given, at,
                               "contact_wrenches are computed only with held frames: name them in held");
    api_set_extent(selected, API_CONTACTS, s->ground.n_all);
    if (s->ground.n_all > 0 && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(CONTACT_FORCES);
    if (s->ground.n_all == 0 && selected->outputs & API_BIT(CONTACT_FORCES))
        return api_fail_output(q, selected, CONTACT_FORCES, given, at,
                               "contact_forces are computed only at contacts: name points in contacts");
    if (s->ground.n_rigid > 0 && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(CONTACT_EVENTS);
    if (s->ground.n_rigid == 0 && selected->outputs & API_BIT(CONTACT_EVENTS))
        return api_fail_output(q, selected, CONTACT_EVENTS, given, at,
                               "contact_events are those of rigid contacts: give one \"rigid\": true");
    if (!api_contact_select_residual(q, selected, CONTACT_RESIDUAL, s->damping, given, at)) return false;
    if (!api_motor_efforts_check(q, selected, MOTOR_TAU, given, at)) return false;
    return !(selected->outputs & ERRORS) || s->input.controller ||
           api_fail_output(q, selected, selected->outputs & API_BIT(POSITION_ERROR) ? POSITION_ERROR : VELOCITY_ERROR,
                           given, at, "position_error and velocity_error need a controller with a reference");
}

/* The states at the samples are outputs, too. The efforts of motors need those of the joints. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    api_simulation *s = selected->options;
    if (!api_simulation_prepare(plan, s)) return false;
    selected->result[Q]  = plan->state[API_Q];
    selected->result[QD] = plan->state[API_QD];
    if (selected->outputs & API_BIT(MOTOR_TAU)) selected->result[TAU] = api_take_lanes(plan, plan->query->model->nv);
    return !(selected->outputs & API_BIT(MOTOR_TAU)) || selected->result[TAU];
}

/* Reserves the array of limit violations, if the request selects one of their outputs. */
static bool take_limits(api_plan *plan, const api_selection *selected)
{
    api_simulation   *s      = selected->options;
    api_joint_limits *limits = &s->limits;
    size_t            n      = plan->query->rows * limits->list.n;
    if (!(selected->outputs & (API_BIT(LIMITS) | API_BIT(LEAST_MARGINS)))) return true;
    limits->violation = api_take(plan->query->pool, (n > 0 ? n : 1) * sizeof *limits->violation);
    return limits->violation != NULL;
}

static bool begin(api_plan *plan, const api_selection *selected)
{
    api_simulation *s = selected->options;
    if (!take_limits(plan, selected)) return false;
    if (selected->outputs & API_BIT(CONTACT_EVENTS) && !api_contact_events_take(plan, s)) return false;
    s->time             = selected->result[TIMES];
    s->q                = plan->state[API_Q];
    s->qd               = plan->state[API_QD];
    s->qdd              = selected->result[QDD];
    s->tau              = selected->result[TAU];
    s->steps            = selected->result[STEPS];
    s->contact_wrenches = selected->result[CONTACT_WRENCHES];
    s->contact_residual = selected->result[CONTACT_RESIDUAL];
    s->contact_forces   = selected->result[CONTACT_FORCES];
    for (int i = 0; i < DYN_WORKS; i++)
        s->work[i] = selected->result[ACTUATOR_WORK + i];
    for (int i = 0; i < 2; i++)
        s->error[i] = selected->result[POSITION_ERROR + i];
    s->works = selected->outputs / API_BIT(ACTUATOR_WORK) % API_BIT(DYN_WORKS);
    if (s->prescribed.n > 0)
        s->works = API_BIT(DYN_WORKS) - 1; /* the step size depends on all work entries, whether requested or not */
    return api_simulation_run(plan, s);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    dyn_energy io = {
        .q         = api_state_block(e, API_Q, block),
        .qd        = api_state_block(e, API_QD, block),
        .kinetic   = api_result_block(e, selected, KINETIC, block),
        .potential = api_result_block(e, selected, POTENTIAL, block),
    };
    double *motors = api_result_block(e, selected, MOTOR_TAU, block);
    if (motors) api_motor_efforts(e, api_result_block(e, selected, TAU, block), blocks, motors);
    if (io.kinetic || io.potential) e->kernels->energy(&e->query->scene, e->workspace, &io, blocks);
    return true;
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_simulation *s = selected->options;
    if (output == CONTACT_EVENTS)
        api_contact_events_emit(plan, s, to);
    else
        api_joint_limits_emit(plan, &s->limits, output == LEAST_MARGINS, to);
}

/* Returns the integrator that the body seems to select: the one that it names, or the first whose fields it has. If it
 * shows none, an integrator with a tolerance. */
static const dyn_integrator *peek_integrator(const api_call *call, const api_input *input)
{
    bool named = api_body_mentions(input, api_field_names[API_INTEGRATOR_FIELD]);
    for (size_t i = 0; api_integrators[i]; i++) {
        bool fits = !named || api_body_mentions(input, api_integrators[i]->name);
        for (api_field f = 0; f < API_FIELD_COUNT; f++)
            if (api_integrator_needs(api_integrators[i]) & API_BIT(f))
                fits = fits && api_peek_number(call, input, f) > 0;
        if (fits) return api_integrators[i];
    }
    return &dyn_integrator_dopri5;
}

/* Returns the seconds of `n` simulations of `steps` integration steps each. Simulations in the lanes of a vector take
 * as long as one. */
static double steps_seconds(const api_call *call, const dyn_integrator *integrator, double n, double steps)
{
    enum { STEPS_FROM_LAST = 6 /* iterations to close the loops from the previous state */ };
    const api_model *m     = call->model;
    double           lanes = (double)call->api->kernels->lanes;
    if (integrator->lanes == DYN_LANES_ROWS) n = ceil(n / lanes) * lanes;
    double each = STEP * (double)m->n_bodies * call->api->calibration.body +
                  STAGES * STEPS_FROM_LAST * api_closing_step_seconds(m);
    return fmin(n, (double)call->api->limits.rows) * fmin(steps, DYN_MAX_STEPS) * each;
}

static double request_seconds(const api_call *call, const api_input *input)
{
    const dyn_integrator *integrator = peek_integrator(call, input);
    double                n          = 1 + api_peek_positions(call, input) / 16;
    double                steps      = STEPS_PER_SAMPLE * fmax(api_peek_number(call, input, API_SAMPLES), 1);
    if (integrator->count_steps)
        steps = api_peek_number(call, input, API_DURATION) / api_peek_number(call, input, API_STEP);
    return steps_seconds(call, integrator, n, steps);
}

/* Returns the seconds of the decoded request. The number of steps that a tolerance needs is known only afterwards. For
 * a robot, a step of some milliseconds is a long one. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    static const double   long_step  = 0.005; /* s, assumed length of a step with a tolerance */
    const api_simulation *s          = selected->options;
    const dyn_integrator *integrator = s->integrator;
    double                steps      = integrator->count_steps ? integrator->count_steps(s->step, s->duration)
                                                               : fmax(STEPS_PER_SAMPLE * (double)q->samples, s->duration / long_step);
    steps *= 1 + (double)(STAGES * s->ground.n_all) / STEP;
    if (s->input.controller == &dyn_controller_state_feedback)
        steps *= 1 + STAGES * product * 2 * (double)(q->model->nv * q->model->nv) / (STEP * (double)q->model->n_bodies);
    double rows = (double)q->rows * (integrator->lanes == DYN_LANES_ROWS ? 1 : (double)q->call->api->kernels->lanes);
    return steps_seconds(q->call, integrator, rows, steps);
}

const api_operation api_simulate = {
    .name       = "simulate",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_DURATION),
    .takes      = API_BIT(API_QD) | API_BIT(API_STEP) | API_BIT(API_TOLERANCE) | API_BIT(API_STIFF) |
             API_BIT(API_INTEGRATOR_FIELD) | API_BIT(API_INPUT) | API_BIT(API_SAMPLES) | API_BIT(API_TIMES) |
             API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) |
             API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) | API_BIT(API_HELD_FIELD) |
             API_BIT(API_CONTACT_DAMPING) | API_BIT(API_PRESCRIBED) | API_BIT(API_CONTACTS_FIELD),
    .outputs         = {[TIMES]            = {"times", true, {0}},
                        [Q]                = {"q", true, {API_NQ}},
                        [QD]               = {"qd", true, {API_NV}},
                        [QDD]              = {"qdd", false, {API_NV}},
                        [TAU]              = {"tau", true, {API_NV}},
                        [KINETIC]          = {"kinetic", true, {0}},
                        [POTENTIAL]        = {"potential", true, {0}},
                        [ACTUATOR_WORK]    = {"actuator_work", false, {0}},
                        [FRICTION_WORK]    = {"friction_work", false, {0}},
                        [WRENCH_WORK]      = {"wrench_work", false, {0}},
                        [POSITION_ERROR]   = {"position_error", false, {API_NV}},
                        [VELOCITY_ERROR]   = {"velocity_error", false, {API_NV}},
                        [STEPS]            = {"steps", false, {0}},
                        [CONTACT_WRENCHES] = {"contact_wrenches", false, {API_HELD_FRAMES, 6}},
                        [LIMITS]           = {"limits", true, {API_STRUCTURED}},
                        [LEAST_MARGINS]    = {"least_margins", false, {API_STRUCTURED}},
                        [MOTOR_TAU]        = {"motor_tau", false, {API_COUPLED_MOTORS}},
                        [CONTACT_RESIDUAL] = {"contact_residual", false, {API_HELD_FRAMES, 6}},
                        [CONTACT_FORCES]   = {"contact_forces", false, {API_CONTACTS, 3}},
                        [CONTACT_EVENTS]   = {"contact_events", false, {API_STRUCTURED}}},
    .alone           = true,
    .wrench_signals  = true,
    .weight          = 8, /* cost of a sample; request_seconds is the cost of the steps */
    .request_seconds = request_seconds,
    .decoded_seconds = decoded_seconds,
    .least_seconds   = 2e-3,
    .options         = options,
    .prepare         = prepare,
    .begin           = begin,
    .evaluate        = evaluate,
    .emit            = emit,
};
