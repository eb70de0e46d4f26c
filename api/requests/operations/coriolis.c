/* coriolis.c - computes the Coriolis matrix C, for which dM/dt - 2 C is skew-symmetric, and its Christoffel symbols. */
#include "api/requests/lanes/evaluation.h"

enum { CORIOLIS_MATRIX, CHRISTOFFEL };

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    dyn_coriolis io = {
        .q               = api_state_block(e, API_Q, block),
        .qd              = api_state_block(e, API_QD, block),
        .zeros_are_set   = e->zeros_written,
        .coriolis_matrix = api_result_block(e, selected, CORIOLIS_MATRIX, block),
        .christoffel     = api_result_block(e, selected, CHRISTOFFEL, block),
    };
    e->kernels->coriolis(&e->query->scene, e->workspace, &io, blocks);
    return true;
}

const api_operation api_coriolis = {
    .name       = "coriolis",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_QD),
    .takes =
        API_BIT(API_PAYLOAD) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS),
    .outputs       = {[CORIOLIS_MATRIX] = {"coriolis_matrix", true, {API_NV, API_NV}},
                      [CHRISTOFFEL]     = {"christoffel", false, {API_NV, API_NV, API_NV}}},
    .one_by_one    = true,
    .weight        = 3,
    .square_weight = 0.3,
    .evaluate      = evaluate,
};
