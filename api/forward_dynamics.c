/* forward_dynamics.c - qdd from tau; the wrenches in the joints by inverse dynamics of that motion. */
#include "operation.h"

enum { QDD, JOINT_WRENCHES };

/* The singular mask, and qdd where it is needed but not asked for. */
static size_t spare(const api_model *model, const api_asked *asked)
{
    return 1 + (asked->result[QDD] ? 0 : model->nv);
}

static void joint_wrenches(const api_evaluation *e, const double *qdd, double *wrenches, size_t block, size_t blocks)
{
    dyn_inverse_dynamics io = {
        .q              = api_state_block(e, API_Q, block),
        .qd             = api_state_block(e, API_QD, block),
        .qdd            = qdd,
        .wrenches       = api_wrench_block(e, block),
        .joint_wrenches = wrenches,
    };
    e->call->api->kernels->inverse_dynamics(&e->scene, e->workspace, &io, blocks);
}

static bool evaluate(const api_evaluation *e, const api_asked *asked, size_t block, size_t blocks)
{
    double              *qdd = api_result_block(e, asked, QDD, block), *singular = asked->spare;
    double              *wrenches = api_result_block(e, asked, JOINT_WRENCHES, block);
    dyn_forward_dynamics io       = {
              .q        = api_state_block(e, API_Q, block),
              .qd       = api_state_block(e, API_QD, block),
              .tau      = api_state_block(e, API_TAU, block),
              .wrenches = api_wrench_block(e, block),
              .qdd      = qdd ? qdd : api_block(e, asked->spare, 1, e->chunk),
              .singular = singular,
    };
    e->call->api->kernels->forward_dynamics(&e->scene, e->workspace, &io, blocks);
    if (!api_check_singular(e, singular, block, blocks)) return false;
    if (wrenches) joint_wrenches(e, io.qdd, wrenches, block, blocks);
    return true;
}

const api_operation api_forward_dynamics = {
    .name  = "forward-dynamics",
    .needs = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs  = {[QDD] = {"qdd", true, {API_NV}}, [JOINT_WRENCHES] = {"joint_wrenches", false, {API_BODIES, 6}}},
    .weight   = 3,
    .spare    = spare,
    .evaluate = evaluate,
};
