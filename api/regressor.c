/* regressor.c - inverse dynamics as a matrix: tau = regressor * inertial parameters + joint_regressor * joint
 * parameters. */
#include "operation.h"

enum { REGRESSOR, JOINT_REGRESSOR };

static bool evaluate(const api_evaluation *e, const api_asked *asked, size_t block, size_t blocks)
{
    dyn_regressor io = {
        .q               = api_state_block(e, API_Q, block),
        .qd              = api_state_block(e, API_QD, block),
        .qdd             = api_state_block(e, API_QDD, block),
        .regressor       = api_result_block(e, asked, REGRESSOR, block),
        .joint_regressor = api_result_block(e, asked, JOINT_REGRESSOR, block),
    };
    e->call->api->kernels->regressor(&e->scene, e->workspace, &io, blocks);
    return true;
}

const api_operation api_regressor = {
    .name    = "regressor",
    .needs   = API_BIT(API_Q),
    .takes   = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs = {[REGRESSOR]       = {"regressor", true, {API_NV, API_BODY_PARAMETERS}},
                [JOINT_REGRESSOR] = {"joint_regressor", false, {API_NV, API_JOINT_PARAMETERS}}},
    .one_by_one    = true,
    .weight        = 4,
    .square_weight = 2,
    .evaluate      = evaluate,
};
