/* sensitivity.c - computes the derivatives of inverse dynamics with respect to state, wrenches, gravity and parameters.
 */
#include "api/lanes/evaluation.h"

enum {
    DTAU_DQ,
    DTAU_DQD,
    DTAU_DQDD,
    TAU,
    JOINT_WRENCHES,
    D_JOINT_WRENCHES_DQ,
    D_JOINT_WRENCHES_DQD,
    D_JOINT_WRENCHES_DQDD,
    DTAU_DWRENCH,
    DTAU_DGRAVITY,
    DTAU_DPARAMETERS
};

/* Counts the scratch lanes: the three matrices that the kernel needs, if they are not requested. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    return api_missing_entries(model, selected, DTAU_DQ, DTAU_DQDD);
}

/* Computes tau and joint wrenches, and dtau_dparameters, which is the regressor. */
static void undifferentiated(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_kernels   *kernels = e->kernels;
    const double        *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block);
    const double        *qdd = api_state_block(e, API_QDD, block);
    dyn_inverse_dynamics id  = {.q = q, .qd = qd, .qdd = qdd, .wrenches = api_wrench_block(e, block)};
    dyn_regressor        Y   = {.q = q, .qd = qd, .qdd = qdd, .zeros_are_set = e->zeros_written};
    id.tau                   = api_result_block(e, selected, TAU, block);
    id.joint_wrenches        = api_result_block(e, selected, JOINT_WRENCHES, block);
    Y.regressor              = api_result_block(e, selected, DTAU_DPARAMETERS, block);
    if (id.tau || id.joint_wrenches) kernels->inverse_dynamics(&e->query->scene, e->workspace, &id, 1);
    if (Y.regressor) kernels->regressor(&e->query->scene, e->workspace, &Y, 1);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    double         *next = e->spare;
    dyn_sensitivity io   = {
          .q                    = api_state_block(e, API_Q, block),
          .qd                   = api_state_block(e, API_QD, block),
          .qdd                  = api_state_block(e, API_QDD, block),
          .wrenches             = api_wrench_block(e, block),
          .zeros_are_set        = e->zeros_written,
          .dtau_dq              = api_result_or_spare(e, selected, DTAU_DQ, block, &next),
          .dtau_dqd             = api_result_or_spare(e, selected, DTAU_DQD, block, &next),
          .dtau_dqdd            = api_result_or_spare(e, selected, DTAU_DQDD, block, &next),
          .djoint_wrenches_dq   = api_result_block(e, selected, D_JOINT_WRENCHES_DQ, block),
          .djoint_wrenches_dqd  = api_result_block(e, selected, D_JOINT_WRENCHES_DQD, block),
          .djoint_wrenches_dqdd = api_result_block(e, selected, D_JOINT_WRENCHES_DQDD, block),
          .dtau_dwrench         = api_result_block(e, selected, DTAU_DWRENCH, block),
          .dtau_dgravity        = api_result_block(e, selected, DTAU_DGRAVITY, block),
    };
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
    undifferentiated(e, selected, block);
    return true;
}

const api_operation api_sensitivity = {
    .name  = "sensitivity",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[DTAU_DQ]               = {"dtau_dq", true, {API_NV, API_NV}},
                      [DTAU_DQD]              = {"dtau_dqd", true, {API_NV, API_NV}},
                      [DTAU_DQDD]             = {"dtau_dqdd", true, {API_NV, API_NV}},
                      [TAU]                   = {"tau", false, {API_NV}},
                      [JOINT_WRENCHES]        = {"joint_wrenches", false, {API_BODIES, 6}},
                      [D_JOINT_WRENCHES_DQ]   = {"d_joint_wrenches_dq", false, {API_BODIES, 6, API_NV}},
                      [D_JOINT_WRENCHES_DQD]  = {"d_joint_wrenches_dqd", false, {API_BODIES, 6, API_NV}},
                      [D_JOINT_WRENCHES_DQDD] = {"d_joint_wrenches_dqdd", false, {API_BODIES, 6, API_NV}},
                      [DTAU_DWRENCH]          = {"dtau_dwrench", false, {API_REQUEST_WRENCHES, API_NV, 6}},
                      [DTAU_DGRAVITY]         = {"dtau_dgravity", false, {API_NV, 3}},
                      [DTAU_DPARAMETERS]      = {"dtau_dparameters", false, {API_NV, API_BODY_PARAMETERS}}},
    .one_by_one    = true,
    .weight        = 3,
    .square_weight = 0.5,
    .spare         = spare,
    .evaluate      = evaluate,
};
