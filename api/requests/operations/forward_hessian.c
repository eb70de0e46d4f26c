/* forward_hessian.c - computes second derivatives of forward dynamics, contracted with multipliers of qdd or in full.
 */
#include "hessian.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/hessian.h"

enum { Q_Q, Q_QD, QD_QD, Q_TAU, QD_TAU, D2QDD_DQ_DQ, D2QDD_DQ_DQD, D2QDD_DQD_DQD, D2QDD_DQ_DTAU, D2QDD_DQD_DTAU };

/* Counts the scratch lanes of the kernel: the singular mask and its work array. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    (void)selected;
    return 1 + dyn_forward_hessian_work(model->dyn);
}

/* Number of accelerations whose second derivatives are computed between two checks of the deadline: with 200
 * coordinates each takes tens of milliseconds. */
enum { PART = 8 };

/* Evaluates the five second derivatives of one kind: outputs first + Q_Q to first + QD_TAU. */
static bool evaluate_from(const api_evaluation *e, const api_selection *selected, size_t first, size_t block)
{
    const size_t        nv = e->model->nv;
    dyn_forward_hessian io = {
        .q           = api_state_block(e, API_Q, block),
        .qd          = api_state_block(e, API_QD, block),
        .tau         = api_state_block(e, API_TAU, block),
        .wrenches    = api_wrench_block(e, block),
        .multipliers = first == Q_Q ? api_state_block(e, API_MULTIPLIERS, block) : NULL,
        .q_q         = api_result_block(e, selected, first + Q_Q, block),
        .q_qd        = api_result_block(e, selected, first + Q_QD, block),
        .qd_qd       = api_result_block(e, selected, first + QD_QD, block),
        .q_tau       = api_result_block(e, selected, first + Q_TAU, block),
        .qd_tau      = api_result_block(e, selected, first + QD_TAU, block),
        .work        = e->spare + e->lanes,
        .singular    = e->spare,
    };
    if (!io.q_q && !io.q_qd && !io.qd_qd && !io.q_tau && !io.qd_tau) return true;
    for (size_t end = io.multipliers ? 1 : nv; io.first < end; io.first += PART) {
        io.n = end - io.first < PART ? end - io.first : PART;
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        e->kernels->forward_hessian(&e->query->scene, e->workspace, &io, 1);
    }
    return api_check_singular(e, io.singular, block, 1);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    return evaluate_from(e, selected, Q_Q, block) && evaluate_from(e, selected, D2QDD_DQ_DQ, block);
}

const api_operation api_forward_hessian = {
    .name       = "forward-hessian",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes      = API_BIT(API_QD) | API_BIT(API_MULTIPLIERS) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS),
    .outputs       = {[Q_Q]            = {"hessian_q_q", true, {API_NV, API_NV}},
                      [Q_QD]           = {"hessian_q_qd", true, {API_NV, API_NV}},
                      [QD_QD]          = {"hessian_qd_qd", true, {API_NV, API_NV}},
                      [Q_TAU]          = {"hessian_q_tau", true, {API_NV, API_NV}},
                      [QD_TAU]         = {"hessian_qd_tau", false, {API_NV, API_NV}},
                      [D2QDD_DQ_DQ]    = {"d2qdd_dq_dq", false, {API_NV, API_NV, API_NV}},
                      [D2QDD_DQ_DQD]   = {"d2qdd_dq_dqd", false, {API_NV, API_NV, API_NV}},
                      [D2QDD_DQD_DQD]  = {"d2qdd_dqd_dqd", false, {API_NV, API_NV, API_NV}},
                      [D2QDD_DQ_DTAU]  = {"d2qdd_dq_dtau", false, {API_NV, API_NV, API_NV}},
                      [D2QDD_DQD_DTAU] = {"d2qdd_dqd_dtau", false, {API_NV, API_NV, API_NV}}},
    .one_by_one    = true,
    .weight        = 8,
    .square_weight = 6,
    .options       = api_hessian_options,
    .prepare       = api_hessian_prepare,
    .spare         = spare,
    .evaluate      = evaluate,
};
