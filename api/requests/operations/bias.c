/* bias.c - computes the terms of the equation of motion without acceleration: C qd, g and friction, and their sum with
 * springs and wrenches. */
#include "api/requests/lanes/evaluation.h"

enum { BIAS, CORIOLIS, GRAVITY, FRICTION };

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    dyn_bias io = {
        .q        = api_state_block(e, API_Q, block),
        .qd       = api_state_block(e, API_QD, block),
        .wrenches = api_wrench_block(e, block),
        .bias     = api_result_block(e, selected, BIAS, block),
        .coriolis = api_result_block(e, selected, CORIOLIS, block),
        .gravity  = api_result_block(e, selected, GRAVITY, block),
        .friction = api_result_block(e, selected, FRICTION, block),
    };
    e->kernels->bias(&e->query->scene, e->workspace, &io, blocks);
    return true;
}

const api_operation api_bias = {
    .name       = "bias",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS),
    .outputs  = {[BIAS]     = {"bias", true, {API_NV}},
                 [CORIOLIS] = {"coriolis", false, {API_NV}},
                 [GRAVITY]  = {"gravity", false, {API_NV}},
                 [FRICTION] = {"friction", false, {API_NV}}},
    .weight   = 1,
    .evaluate = evaluate,
};
