/* hessian.c - computes second derivatives of inverse dynamics, contracted with multipliers of tau or in full. */
#include "hessian.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/fields.h"
#include "dynamics/hessian.h"

enum { Q_Q, Q_QD, Q_QDD, QD_QD, QD_QDD, D2TAU_DQ_DQ, D2TAU_DQ_DQD, D2TAU_DQ_DQDD, D2TAU_DQD_DQD, D2TAU_DQD_DQDD };

bool api_hessian_options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    (void)selected, (void)given, (void)up;
    return !q->model->loops ||
           api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                    "second derivatives are for models without loops, and %s has loops", q->model->name);
}

bool api_hessian_prepare(api_plan *plan, api_selection *selected)
{
    api_place at = api_place_key(NULL, "multipliers");
    return plan->state[API_MULTIPLIERS] || !(selected->outputs & API_HESSIAN_CONTRACTED) ||
           api_fail_at(plan->query->problem, &at, API_MISSING_FIELD,
                       "%s needs multipliers for outputs whose names begin with hessian", selected->operation->name);
}

/* Evaluates the five results from output `first` on. */
static void evaluate_from(const api_evaluation *e, const api_selection *selected, size_t first, size_t block,
                          size_t blocks)
{
    const dyn_hessian io = {
        .q             = api_state_block(e, API_Q, block),
        .qd            = api_state_block(e, API_QD, block),
        .qdd           = api_state_block(e, API_QDD, block),
        .wrenches      = api_wrench_block(e, block),
        .multipliers   = first == Q_Q ? api_state_block(e, API_MULTIPLIERS, block) : NULL,
        .zeros_are_set = e->zeros_written,
        .q_q           = api_result_block(e, selected, first + Q_Q, block),
        .q_qd          = api_result_block(e, selected, first + Q_QD, block),
        .q_qdd         = api_result_block(e, selected, first + Q_QDD, block),
        .qd_qd         = api_result_block(e, selected, first + QD_QD, block),
        .qd_qdd        = api_result_block(e, selected, first + QD_QDD, block),
    };
    if (io.q_q || io.q_qd || io.q_qdd || io.qd_qd || io.qd_qdd)
        e->kernels->hessian(&e->query->scene, e->workspace, &io, blocks);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    evaluate_from(e, selected, Q_Q, block, blocks);
    evaluate_from(e, selected, D2TAU_DQ_DQ, block, blocks);
    return true;
}

const api_operation api_hessian = {
    .name       = "hessian",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_MULTIPLIERS) | API_BIT(API_GRAVITY) |
             API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) |
             API_BIT(API_OUTPUTS),
    .outputs       = {[Q_Q]            = {"hessian_q_q", true, {API_NV, API_NV}},
                      [Q_QD]           = {"hessian_q_qd", true, {API_NV, API_NV}},
                      [Q_QDD]          = {"hessian_q_qdd", true, {API_NV, API_NV}},
                      [QD_QD]          = {"hessian_qd_qd", true, {API_NV, API_NV}},
                      [QD_QDD]         = {"hessian_qd_qdd", false, {API_NV, API_NV}},
                      [D2TAU_DQ_DQ]    = {"d2tau_dq_dq", false, {API_NV, API_NV, API_NV}},
                      [D2TAU_DQ_DQD]   = {"d2tau_dq_dqd", false, {API_NV, API_NV, API_NV}},
                      [D2TAU_DQ_DQDD]  = {"d2tau_dq_dqdd", false, {API_NV, API_NV, API_NV}},
                      [D2TAU_DQD_DQD]  = {"d2tau_dqd_dqd", false, {API_NV, API_NV, API_NV}},
                      [D2TAU_DQD_DQDD] = {"d2tau_dqd_dqdd", false, {API_NV, API_NV, API_NV}}},
    .weight        = 8,
    .square_weight = 1,
    .options       = api_hessian_options,
    .prepare       = api_hessian_prepare,
    .evaluate      = evaluate,
};
