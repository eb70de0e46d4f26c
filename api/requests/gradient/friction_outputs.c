/* friction_outputs.c - computes gradients by the parameters of friction: see friction_outputs.h. */
#include "friction_outputs.h"

size_t api_friction_spare(const api_model *model, const api_selection *selected, size_t output)
{
    return selected->outputs & API_BIT(output) ? 2 * model->nv : 0; /* T and multipliers */
}

void api_friction_put(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                      const api_friction_state *state, double *spare)
{
    const size_t n           = e->model->nv * e->lanes;
    double      *multipliers = spare + n, *gradient = api_result_block(e, selected, output, block);
    dyn_scene    rigid = e->query->scene;
    if (!gradient) return;
    rigid.terms &= ~(unsigned)DYN_FRICTION;
    e->kernels->inverse_dynamics(
        &rigid, e->workspace,
        &(dyn_inverse_dynamics){
            .q = state->q, .qd = state->qd, .qdd = state->qdd, .wrenches = state->wrenches, .tau = spare},
        1);
    for (size_t i = 0; i < n; i++)
        multipliers[i] = state->sign * state->multipliers[i];
    e->kernels->friction_gradient(
        &e->query->scene, e->workspace,
        &(dyn_friction_gradient){.qd = state->qd, .T = spare, .multipliers = multipliers, .gradient = gradient}, 1);
}
