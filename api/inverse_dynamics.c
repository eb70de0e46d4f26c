/* inverse_dynamics.c - tau = M qdd + C qd + g + friction + springs - sum J^T W, and the wrenches in the joints. */
#include "operation.h"

enum { TAU, JOINT_WRENCHES };

static bool evaluate(const api_evaluation *e, const api_asked *asked, size_t block, size_t blocks)
{
    dyn_inverse_dynamics io = {
        .q              = api_state_block(e, API_Q, block),
        .qd             = api_state_block(e, API_QD, block),
        .qdd            = api_state_block(e, API_QDD, block),
        .wrenches       = api_wrench_block(e, block),
        .tau            = api_result_block(e, asked, TAU, block),
        .joint_wrenches = api_result_block(e, asked, JOINT_WRENCHES, block),
    };
    e->call->api->kernels->inverse_dynamics(&e->scene, e->workspace, &io, blocks);
    return true;
}

const api_operation api_inverse_dynamics = {
    .name  = "inverse-dynamics",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs  = {[TAU] = {"tau", true, {API_NV}}, [JOINT_WRENCHES] = {"joint_wrenches", false, {API_BODIES, 6}}},
    .weight   = 1,
    .evaluate = evaluate,
};
