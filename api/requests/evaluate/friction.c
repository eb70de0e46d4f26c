/* friction.c - see friction.h. */
#include "friction.h"
#include "dynamics/loops/loop_kernels.h"
#include "api/requests/fields/fields.h"

void api_friction_map(const api_evaluation *e, const dyn_friction_map *io)
{
    e->kernels->friction_map(&e->query->scene, e->workspace, io, 1);
}

void api_friction_find(const api_evaluation *e, size_t block, double *friction)
{
    const double *qd = api_state_block(e, API_QD, block), *tau = api_state_block(e, API_TAU, block);
    dyn_bias      io = {.q = api_state_block(e, API_Q, block), .qd = qd, .friction = friction};
    if (!api_has_load(e->query)) {
        e->kernels->bias(&e->query->scene, e->workspace, &io, 1);
        return;
    }
    if (e->model->loops) {
        dyn_loop_friction(&e->query->scene, e->workspace, &io, tau);
        return;
    }
    api_friction_map(e, &(dyn_friction_map){.qd = qd, .tau = tau, .result = friction});
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        friction[i] = tau[i] - friction[i];
}
