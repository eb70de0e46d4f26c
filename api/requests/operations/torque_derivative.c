/* torque_derivative.c - computes tau, the joint wrenches, and their time derivatives, also with free coordinates, whose
 * tau is constant (free_motion.h), or with held frames (held_effort_rates.h), and the derivatives of tau_dot with
 * respect to the inertial parameters. */
#include "operation_list.h"
#include "api/requests/held/held_effort_rates.h"
#include "api/requests/held/motion_options.h"
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/fields/fields.h"
#include "api/requests/evaluate/parameter_rates.h"
#include <string.h>

enum {
    TAU,
    TAU_DOT,
    JOINT_WRENCHES,
    JOINT_WRENCH_RATES,
    QDD,
    QDDD,
    DTAU_DOT_DPARAMETERS,
    CONTACT_WRENCHES,
    CONTACT_WRENCH_RATES
};

/* --- options ---------------------------------------------------------------------------------------------------- */

static const bool *driven_of(const api_selection *selected)
{
    return api_motion_options_of(selected)->driven;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (!api_motion_options_read(q, selected, given, up, &(api_motion_outputs){QDD, CONTACT_WRENCHES}) ||
        !api_contact_refuse_rolling(q, api_motion_contact_of(selected), up, "torque-derivative"))
        return false;
    const bool has_held = api_motion_options_of(selected)->held;
    if (has_held && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(CONTACT_WRENCH_RATES);
    if (!has_held && selected->outputs & API_BIT(CONTACT_WRENCH_RATES))
        return api_fail_output(q, selected, CONTACT_WRENCH_RATES, given, up,
                               "contact_wrench_rates are computed only with held frames: name them in held");
    if (has_held && selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS))
        return api_fail_output(q, selected, DTAU_DOT_DPARAMETERS, given, up,
                               "dtau_dot_dparameters are not computed with held frames");
    selected->one_by_one = has_held || driven_of(selected) || selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS);
    if (!driven_of(selected) && selected->outputs & API_BIT(QDDD))
        return api_fail_output(q, selected, QDDD, given, up,
                               "qddd is computed only with free coordinates: name them in free");
    if (driven_of(selected) && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(QDDD);
    return true;
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    if ((driven_of(selected) || plan->query->model->loops) && selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS) &&
        api_has_load(plan->query))
        return api_fail_load(plan->query, "dtau_dot_dparameters with free coordinates or loops");
    return api_motion_options_prepare(plan, selected);
}

/* Counts the scratch lanes of held frames: tau and tau_dot, if they are not requested, the rates of contact wrenches,
 * and those of the shared code. */
static size_t spare_of_held(const api_model *model, const api_selection *selected)
{
    const api_held_efforts *efforts = api_motion_options_of(selected)->held;
    const size_t            n       = api_selected_extent(selected, API_REQUEST_WRENCHES);
    return 2 * model->nv + api_held_efforts_entries(model, efforts, n) +
           api_held_effort_rates_entries(model, efforts, n);
}

/* Counts the scratch lanes of free coordinates: qdd and qddd if they are not requested; then a mask, M, tau and
 * tau_dot, or the lanes of the derivatives with respect to parameters. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const size_t nv = model->nv, motion = 1 + api_free_jerks_room(nv);
    const bool   is_free = driven_of(selected) != NULL;
    if (api_motion_options_of(selected)->held) return spare_of_held(model, selected);
    const size_t rates =
        selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS) ? api_parameter_rates_room(model, is_free) : 0;
    if (!is_free) return rates;
    return (motion > rates ? motion : rates) + api_missing_entries(model, selected, QDD, QDDD);
}

/* Finds the motion of free coordinates of one block. `next` is scratch memory, and becomes that after the motion. False
 * with a problem. */
static bool find_motion(const api_evaluation *e, const api_selection *selected, size_t block, dyn_torque_derivative *io,
                        double **next)
{
    double *qdd  = api_result_or_spare(e, selected, QDD, block, next);
    double *qddd = api_result_or_spare(e, selected, QDDD, block, next);
    if (!api_free_accelerations(e, driven_of(selected), *next, qdd, block, 1)) return false;
    io->qdd = qdd;
    api_free_jerks(e, driven_of(selected), io, NULL, qddd, api_behind(e, *next, 1, 1));
    io->qddd = qddd;
    return true;
}

/* Sets tau_dot of free coordinates to zero, since their tau is constant; computed values have rounding errors. */
static void clear_free(const api_evaluation *e, const api_selection *selected, double *tau_dot)
{
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        if (!driven_of(selected)[i / e->lanes]) tau_dot[i] = 0;
}

/* --- held frames ------------------------------------------------------------------------------------------------- */

/* Evaluates one block with held frames: the contact wrenches, their rates, and the motion with both. */
static bool evaluate_contact_rates(const api_evaluation *e, const api_selection *selected, size_t block,
                                   dyn_torque_derivative *io)
{
    api_held_efforts        of_row;
    const api_held_efforts *efforts = api_held_efforts_in_row(e, api_motion_options_of(selected)->held, &of_row);
    const size_t            W = e->lanes, requested = API_FRAME_AXES * e->query->scene.n_wrenches * W;
    double                 *rates = api_result_block(e, selected, CONTACT_WRENCH_RATES, block), *next = e->spare;
    double                 *tau = next, *tau_dot = api_behind(e, tau, e->model->nv, 1);
    api_held_wrenches       w      = {.contacts = api_result_block(e, selected, CONTACT_WRENCHES, block)};
    dyn_inverse_dynamics    motion = {
           .q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches, .tau = io->tau ? io->tau : tau};
    next = api_behind(e, tau_dot, e->model->nv, 1);
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &motion, 1);
    if (!api_held_efforts_find(e, efforts, block, &motion, &next, &w)) return false;
    const double *all = api_held_effort_rates(e, efforts, block, io, next, &w);
    if (!all) return false;
    if (rates) memcpy(rates, all + requested, API_FRAME_AXES * efforts->choice.contact->n * W * sizeof *rates);
    io->wrenches     = w.wrenches;
    io->wrench_rates = all;
    if (!io->tau) io->tau = tau;
    if (!io->tau_dot) io->tau_dot = tau_dot;
    e->kernels->torque_derivative(&efforts->scene, e->workspace, io, 1);
    api_held_efforts_clear(e, efforts, io->tau);
    api_held_efforts_clear(e, efforts, io->tau_dot);
    return true;
}

/* --- evaluation ------------------------------------------------------------------------------------------------- */

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    dyn_torque_derivative io = {
        .q                  = api_state_block(e, API_Q, block),
        .qd                 = api_state_block(e, API_QD, block),
        .qdd                = api_state_block(e, API_QDD, block),
        .qddd               = api_state_block(e, API_QDDD, block),
        .wrenches           = api_wrench_block(e, block),
        .wrench_rates       = api_wrench_rate_block(e, block),
        .tau                = api_result_block(e, selected, TAU, block),
        .tau_dot            = api_result_block(e, selected, TAU_DOT, block),
        .joint_wrenches     = api_result_block(e, selected, JOINT_WRENCHES, block),
        .joint_wrench_rates = api_result_block(e, selected, JOINT_WRENCH_RATES, block),
    };
    double *next = e->spare, *by_parameters = api_result_block(e, selected, DTAU_DOT_DPARAMETERS, block);
    if (api_motion_options_of(selected)->held) return evaluate_contact_rates(e, selected, block, &io);
    if (driven_of(selected) && !find_motion(e, selected, block, &io, &next)) return false;
    e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, blocks);
    if (driven_of(selected) && io.tau) api_free_restore(e, driven_of(selected), block, 1, io.tau);
    if (driven_of(selected) && io.tau_dot) clear_free(e, selected, io.tau_dot);
    return !by_parameters || api_parameter_rates(e, driven_of(selected), &io, blocks, next, by_parameters);
}

/* Estimates the seconds of the derivatives with respect to parameters; with free coordinates each column needs a
 * solution. */
static double state_seconds(const api_call *call, const api_input *input)
{
    const double rate_weight = 8, rate_square = 4, entry_weight = 0.1;
    const double nv = (double)call->model->nv, bodies = (double)call->model->n_bodies;
    double       sum = rate_weight * bodies + rate_square * nv * nv;
    if (api_body_mentions(input, api_field_names[API_HELD_FIELD])) return api_held_efforts_seconds(call);
    if (!api_body_mentions(input, api_torque_derivative.outputs[DTAU_DOT_DPARAMETERS].name)) return 0;
    if (api_body_mentions(input, api_field_names[API_FREE])) sum += entry_weight * nv * nv * 10 * bodies;
    return sum * call->api->calibration.body;
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_held_efforts_decoded_seconds(q, api_motion_options_of(selected)->held);
}

const api_operation api_torque_derivative = {
    .name       = "torque-derivative",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS) | API_BIT(API_TAU) | API_BIT(API_FREE) |
             API_BIT(API_HELD_FIELD),
    .outputs         = {[TAU]                  = {"tau", true, {API_NV}},
                        [TAU_DOT]              = {"tau_dot", true, {API_NV}},
                        [JOINT_WRENCHES]       = {"joint_wrenches", false, {API_BODIES, 6}},
                        [JOINT_WRENCH_RATES]   = {"joint_wrench_rates", false, {API_BODIES, 6}},
                        [QDD]                  = {"qdd", false, {API_NV}},
                        [QDDD]                 = {"qddd", false, {API_NV}},
                        [DTAU_DOT_DPARAMETERS] = {"dtau_dot_dparameters", false, {API_NV, API_BODY_PARAMETERS}},
                        [CONTACT_WRENCHES]     = {"contact_wrenches", false, {API_HELD_FRAMES, 6}},
                        [CONTACT_WRENCH_RATES] = {"contact_wrench_rates", false, {API_HELD_FRAMES, 6}}},
    .wrench_rates    = true,
    .weight          = 2,
    .state_seconds   = state_seconds,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
