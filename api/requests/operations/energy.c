/* energy.c - computes kinetic and potential energy, the centre of mass, the inertia and the momentum about it, their
 * rates and derivatives. */
#include "api/requests/lanes/evaluation.h"
#include "dynamics/centroidal.h"

enum {
    KINETIC,
    POTENTIAL,
    MASS,
    COM,
    COM_VELOCITY,
    COM_JACOBIAN,
    MOMENTUM,
    MOMENTUM_MATRIX,
    CENTROIDAL_INERTIA,
    COM_ACCELERATION,
    COM_JERK,
    MOMENTUM_RATE,
    MOMENTUM_MATRIX_DOT,
    D_MOMENTUM_DQ,
    D_MOMENTUM_RATE_DQ,
    D_MOMENTUM_RATE_DQD
};
#define BY_STATE  (API_BIT(D_MOMENTUM_DQ) | API_BIT(D_MOMENTUM_RATE_DQ) | API_BIT(D_MOMENTUM_RATE_DQD))
#define IN_MOTION (~(API_BIT(COM_ACCELERATION) - 1))

/* Computes the outputs of the kernel `centroidal`. */
static void evaluate_in_motion(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    const dyn_centroidal io = {.q                   = api_state_block(e, API_Q, block),
                               .qd                  = api_state_block(e, API_QD, block),
                               .qdd                 = api_state_block(e, API_QDD, block),
                               .qddd                = api_state_block(e, API_QDDD, block),
                               .com_acceleration    = api_result_block(e, selected, COM_ACCELERATION, block),
                               .com_jerk            = api_result_block(e, selected, COM_JERK, block),
                               .momentum_rate       = api_result_block(e, selected, MOMENTUM_RATE, block),
                               .momentum_matrix_dot = api_result_block(e, selected, MOMENTUM_MATRIX_DOT, block),
                               .momentum_by_q       = api_result_block(e, selected, D_MOMENTUM_DQ, block),
                               .rate_by_q           = api_result_block(e, selected, D_MOMENTUM_RATE_DQ, block),
                               .rate_by_qd          = api_result_block(e, selected, D_MOMENTUM_RATE_DQD, block)};
    e->kernels->centroidal(&e->query->scene, e->workspace, &io, blocks);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double    *mass = api_result_block(e, selected, MASS, block);
    dyn_energy io   = {
          .q                  = api_state_block(e, API_Q, block),
          .qd                 = api_state_block(e, API_QD, block),
          .kinetic            = api_result_block(e, selected, KINETIC, block),
          .potential          = api_result_block(e, selected, POTENTIAL, block),
          .com                = api_result_block(e, selected, COM, block),
          .com_velocity       = api_result_block(e, selected, COM_VELOCITY, block),
          .com_jacobian       = api_result_block(e, selected, COM_JACOBIAN, block),
          .momentum           = api_result_block(e, selected, MOMENTUM, block),
          .momentum_matrix    = api_result_block(e, selected, MOMENTUM_MATRIX, block),
          .centroidal_inertia = api_result_block(e, selected, CENTROIDAL_INERTIA, block),
    };
    if (selected->outputs & ~IN_MOTION) e->kernels->energy(&e->query->scene, e->workspace, &io, blocks);
    if (selected->outputs & IN_MOTION) evaluate_in_motion(e, selected, block, blocks);
    for (size_t i = 0; mass && i < blocks * e->lanes; i++) /* constant, but batched like the other outputs */
        mass[i] = e->query->scene.model->mass;
    return true;
}

const api_operation api_energy = {
    .name       = "energy",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS),
    .outputs      = {[KINETIC]             = {"kinetic", true, {0}},
                     [POTENTIAL]           = {"potential", true, {0}},
                     [MASS]                = {"mass", false, {0}},
                     [COM]                 = {"com", false, {3}},
                     [COM_VELOCITY]        = {"com_velocity", false, {3}},
                     [COM_JACOBIAN]        = {"com_jacobian", false, {3, API_NV}},
                     [MOMENTUM]            = {"momentum", false, {6}},
                     [MOMENTUM_MATRIX]     = {"momentum_matrix", false, {6, API_NV}},
                     [CENTROIDAL_INERTIA]  = {"centroidal_inertia", false, {3, 3}},
                     [COM_ACCELERATION]    = {"com_acceleration", false, {3}},
                     [COM_JERK]            = {"com_jerk", false, {3}},
                     [MOMENTUM_RATE]       = {"momentum_rate", false, {6}},
                     [MOMENTUM_MATRIX_DOT] = {"momentum_matrix_dot", false, {6, API_NV}},
                     [D_MOMENTUM_DQ]       = {"d_momentum_dq", false, {6, API_NV}},
                     [D_MOMENTUM_RATE_DQ]  = {"d_momentum_rate_dq", false, {6, API_NV}},
                     [D_MOMENTUM_RATE_DQD] = {"d_momentum_rate_dqd", false, {6, API_NV}}},
    .tree_outputs = BY_STATE,
    .weight       = 1,
    .evaluate     = evaluate,
};
