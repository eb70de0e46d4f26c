/* forward_gradient.c - computes the derivatives of multipliers . qdd by the state, tau, parameters, wrenches and
 * gravity (dynamics/adjoint/forward_gradient.c). */
#include "gradient_outputs.h"
#include "api/requests/fields/fields.h"
#include "dynamics/gradient.h"

enum { BY_Q, BY_QD, BY_TAU, QDD, SHARED };

static bool options(api_query *q, api_selection *selected, const api_node *request, const api_place *up)
{
    (void)request, (void)up;
    api_gradient_sums *sums = selected->options = api_take(q->pool, sizeof *sums);
    return sums && api_gradient_read(q, selected, SHARED, sums);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_gradient_prepare(plan, selected, selected->options);
}

/* Counts the scratch lanes: the singular mask, and results that are not requested. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    return 1 + api_missing_entries(model, selected, BY_Q, QDD);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    double                    *next = e->spare + e->lanes;
    const dyn_forward_gradient io   = {
          .q                   = api_state_block(e, API_Q, block),
          .qd                  = api_state_block(e, API_QD, block),
          .tau                 = api_state_block(e, API_TAU, block),
          .wrenches            = api_wrench_block(e, block),
          .multipliers         = api_state_block(e, API_MULTIPLIERS, block),
          .qdd                 = api_result_or_spare(e, selected, QDD, block, &next),
          .gradient_q          = api_result_or_spare(e, selected, BY_Q, block, &next),
          .gradient_qd         = api_result_or_spare(e, selected, BY_QD, block, &next),
          .gradient_tau        = api_result_or_spare(e, selected, BY_TAU, block, &next),
          .gradient_parameters = api_result_block(e, selected, SHARED + API_BY_PARAMETERS, block),
          .gradient_wrenches   = api_result_block(e, selected, SHARED + API_BY_WRENCHES, block),
          .gradient_gravity    = api_result_block(e, selected, SHARED + API_BY_GRAVITY, block),
          .singular            = e->spare,
    };
    e->kernels->forward_gradient(&e->query->scene, e->workspace, &io, 1);
    return api_check_singular(e, io.singular, block, 1);
}

static bool finish(const api_evaluation *e, const api_selection *selected)
{
    return api_gradient_finish(e, selected, selected->options);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    api_gradient_emit(plan, selected->options, output, to);
}

const api_operation api_forward_gradient = {
    .name       = "forward-gradient",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU) | API_BIT(API_MULTIPLIERS),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs    = {[BY_Q]   = {"gradient_q", true, {API_NV}},
                   [BY_QD]  = {"gradient_qd", true, {API_NV}},
                   [BY_TAU] = {"gradient_tau", true, {API_NV}},
                   [QDD]    = {"qdd", false, {API_NV}},
                   API_GRADIENT_OUTPUT_ROWS(SHARED)},
    .one_by_one = true,
    .weight     = 8,
    .options    = options,
    .prepare    = prepare,
    .spare      = spare,
    .emit       = emit,
    .evaluate   = evaluate,
    .finish     = finish,
    .unordered  = true,
};
