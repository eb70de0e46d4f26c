/* torque_derivative.c - computes tau, the joint wrenches, and their time derivatives, also with free coordinates, whose
 * tau is constant (free_motion.h), and the derivatives of tau_dot by the inertial parameters. */
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/fields/fields.h"
#include "api/requests/evaluate/parameter_rates.h"

enum { TAU, TAU_DOT, JOINT_WRENCHES, JOINT_WRENCH_RATES, QDD, QDDD, DTAU_DOT_DPARAMETERS };

/* --- free coordinates ------------------------------------------------------------------------------------------- */

/* [nv] true for coordinates that are not free. NULL: the request has no field "free". */
static const bool *driven_of(const api_selection *selected)
{
    return selected->options;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (!api_free_read(q, selected, given, up, QDD)) return false;
    selected->one_by_one = driven_of(selected) || selected->outputs & API_BIT(DTAU_DOT_DPARAMETERS);
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
    return api_free_check_tau(plan, selected, driven_of(selected));
}

/* Counts the scratch lanes of free coordinates: qdd and qddd if they are not requested; then a mask, M, tau and
 * tau_dot, or those of the derivatives by parameters. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const size_t nv = model->nv, motion = 1 + api_free_jerks_room(nv);
    const bool   is_free = driven_of(selected) != NULL;
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

/* Sets tau_dot of free coordinates to zero, without rounding errors. */
static void clear_free(const api_evaluation *e, const api_selection *selected, double *tau_dot)
{
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        if (!driven_of(selected)[i / e->lanes]) tau_dot[i] = 0;
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
    if (driven_of(selected) && !find_motion(e, selected, block, &io, &next)) return false;
    e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, blocks);
    if (driven_of(selected) && io.tau) api_free_restore(e, driven_of(selected), block, 1, io.tau);
    if (driven_of(selected) && io.tau_dot) clear_free(e, selected, io.tau_dot);
    return !by_parameters || api_parameter_rates(e, driven_of(selected), &io, blocks, next, by_parameters);
}

/* Estimates the seconds of the derivatives by parameters; with free coordinates those of a solution for each column. */
static double state_seconds(const api_call *call, const api_input *input)
{
    const double rate_weight = 8, rate_square = 4, entry_weight = 0.1;
    const double nv = (double)call->model->nv, bodies = (double)call->model->n_bodies;
    double       sum = rate_weight * bodies + rate_square * nv * nv;
    if (!api_body_mentions(input, api_torque_derivative.outputs[DTAU_DOT_DPARAMETERS].name)) return 0;
    if (api_body_mentions(input, api_field_names[API_FREE])) sum += entry_weight * nv * nv * 10 * bodies;
    return sum * call->api->calibration.body;
}

const api_operation api_torque_derivative = {
    .name  = "torque-derivative",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS) | API_BIT(API_TAU) | API_BIT(API_FREE),
    .outputs       = {[TAU]                  = {"tau", true, {API_NV}},
                      [TAU_DOT]              = {"tau_dot", true, {API_NV}},
                      [JOINT_WRENCHES]       = {"joint_wrenches", false, {API_BODIES, 6}},
                      [JOINT_WRENCH_RATES]   = {"joint_wrench_rates", false, {API_BODIES, 6}},
                      [QDD]                  = {"qdd", false, {API_NV}},
                      [QDDD]                 = {"qddd", false, {API_NV}},
                      [DTAU_DOT_DPARAMETERS] = {"dtau_dot_dparameters", false, {API_NV, API_BODY_PARAMETERS}}},
    .wrench_rates  = true,
    .weight        = 2,
    .state_seconds = state_seconds,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .evaluate      = evaluate,
};
