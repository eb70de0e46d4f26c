/* energy.c - computes kinetic and potential energy, the centre of mass and the momentum about it. */
#include "api/requests/lanes/evaluation.h"

enum { KINETIC, POTENTIAL, MASS, COM, COM_VELOCITY, COM_JACOBIAN, MOMENTUM, MOMENTUM_MATRIX };

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double    *mass = api_result_block(e, selected, MASS, block);
    dyn_energy io   = {
          .q               = api_state_block(e, API_Q, block),
          .qd              = api_state_block(e, API_QD, block),
          .kinetic         = api_result_block(e, selected, KINETIC, block),
          .potential       = api_result_block(e, selected, POTENTIAL, block),
          .com             = api_result_block(e, selected, COM, block),
          .com_velocity    = api_result_block(e, selected, COM_VELOCITY, block),
          .com_jacobian    = api_result_block(e, selected, COM_JACOBIAN, block),
          .momentum        = api_result_block(e, selected, MOMENTUM, block),
          .momentum_matrix = api_result_block(e, selected, MOMENTUM_MATRIX, block),
    };
    e->kernels->energy(&e->query->scene, e->workspace, &io, blocks);
    for (size_t i = 0; mass && i < blocks * e->lanes; i++) /* constant, but batched like the other outputs */
        mass[i] = e->query->scene.model->mass;
    return true;
}

const api_operation api_energy = {
    .name       = "energy",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS),
    .outputs  = {[KINETIC]         = {"kinetic", true, {0}},
                 [POTENTIAL]       = {"potential", true, {0}},
                 [MASS]            = {"mass", false, {0}},
                 [COM]             = {"com", false, {3}},
                 [COM_VELOCITY]    = {"com_velocity", false, {3}},
                 [COM_JACOBIAN]    = {"com_jacobian", false, {3, API_NV}},
                 [MOMENTUM]        = {"momentum", false, {6}},
                 [MOMENTUM_MATRIX] = {"momentum_matrix", false, {6, API_NV}}},
    .weight   = 1,
    .evaluate = evaluate,
};
