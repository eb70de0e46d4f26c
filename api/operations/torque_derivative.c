/* torque_derivative.c - computes tau, the joint wrenches, and their time derivatives. */
#include "api/lanes/evaluation.h"

enum { TAU, TAU_DOT, JOINT_WRENCHES, JOINT_WRENCH_RATES };

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
    e->kernels->torque_derivative(&e->query->scene, e->workspace, &io, blocks);
    return true;
}

const api_operation api_torque_derivative = {
    .name  = "torque-derivative",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS),
    .outputs      = {[TAU]                = {"tau", true, {API_NV}},
                     [TAU_DOT]            = {"tau_dot", true, {API_NV}},
                     [JOINT_WRENCHES]     = {"joint_wrenches", false, {API_BODIES, 6}},
                     [JOINT_WRENCH_RATES] = {"joint_wrench_rates", false, {API_BODIES, 6}}},
    .wrench_rates = true,
    .weight       = 2,
    .evaluate     = evaluate,
};
