/* forward_sensitivity.c - computes the derivatives of forward dynamics. */
#include "api/lanes/evaluation.h"

enum { DQDD_DQ, DQDD_DQD, DQDD_DTAU, QDD, DQDD_DWRENCH };

/* Counts the scratch lanes that the kernel needs: the singular mask, and those of dqdd_dq, dqdd_dqd and qdd that are
 * not requested. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    return 1 + api_missing_entries(model, selected, DQDD_DQ, DQDD_DQD) + api_missing_entries(model, selected, QDD, QDD);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    double                 *singular = e->spare, *next = singular + e->lanes;
    dyn_forward_sensitivity io = {
        .q            = api_state_block(e, API_Q, block),
        .qd           = api_state_block(e, API_QD, block),
        .tau          = api_state_block(e, API_TAU, block),
        .wrenches     = api_wrench_block(e, block),
        .qdd          = api_result_or_spare(e, selected, QDD, block, &next),
        .dqdd_dq      = api_result_or_spare(e, selected, DQDD_DQ, block, &next),
        .dqdd_dqd     = api_result_or_spare(e, selected, DQDD_DQD, block, &next),
        .dqdd_dtau    = api_result_block(e, selected, DQDD_DTAU, block),
        .dqdd_dwrench = api_result_block(e, selected, DQDD_DWRENCH, block),
        .singular     = singular,
    };
    e->kernels->forward_sensitivity(&e->query->scene, e->workspace, &io, 1);
    return api_check_singular(e, singular, block, 1);
}

const api_operation api_forward_sensitivity = {
    .name  = "forward-sensitivity",
    .needs = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[DQDD_DQ]      = {"dqdd_dq", true, {API_NV, API_NV}},
                      [DQDD_DQD]     = {"dqdd_dqd", true, {API_NV, API_NV}},
                      [DQDD_DTAU]    = {"dqdd_dtau", true, {API_NV, API_NV}},
                      [QDD]          = {"qdd", false, {API_NV}},
                      [DQDD_DWRENCH] = {"dqdd_dwrench", false, {API_REQUEST_WRENCHES, API_NV, 6}}},
    .one_by_one    = true,
    .weight        = 7,
    .square_weight = 1,
    .spare         = spare,
    .evaluate      = evaluate,
};
