/* step_directional.c - computes the rates of the state after one step of integration (step.c) along directions of the
 * state and tau, in O(n) for each direction: the tangent of the step (step_tangent_pass.h). */
#include "dynamics/algorithms/kernels.h"
#include "step_tangent_pass.h"

size_t LANE_NAME(step_directional_size)(const dyn_model *m)
{
    return gradient_pass_size(m, LANE_NAME(forward_directional_size)(m));
}

/* Returns the step of block `block`, whose stages are computed in `work`. */
static dyn_step_gradient step_before_rates(const dyn_scene *scene, const dyn_step_directional *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_step_gradient){.q        = (const double *)block_in(io->q, block, nq),
                               .qd       = (const double *)block_in(io->qd, block, nv),
                               .tau      = (const double *)block_in(io->tau, block, nv),
                               .wrenches = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                               .method   = io->method,
                               .h        = io->h,
                               .work     = io->work,
                               .singular = (double *)block_out(io->singular, block, 1)};
}

void LANE_NAME(step_directional)(const dyn_scene *scene, void *memory, const dyn_step_directional *io, size_t blocks)
{
    const size_t nv   = (size_t)scene->model->nv;
    lane        *work = block_out(io->work, 0, 0) + dyn_step_gradient_work(scene, io->method);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_step_gradient one = step_before_rates(scene, io, block);
        const gradient_pass     p   = gradient_pass_of(scene, memory, &one);
        *p.singular                 = lane_of(-1);
        if (io->method == DYN_RK4)
            rk4_stages(&p);
        else
            euler_stage(&p);
        for (size_t k = block * io->n; k < (block + 1) * io->n && goes_on(scene->deadline, nv); k++) {
            const step_direction along = {block_in(io->direction_q, k, nv), block_in(io->direction_qd, k, nv),
                                          block_in(io->direction_tau, k, nv)};
            const step_tangent   t     = step_tangent_of(&p, along, work);
            tangent_of_stages(&t, block_out(io->rates_qd, k, nv));
            displace_direction(&t, p.u, t.du, block_out(io->rates_q, k, nv));
        }
    }
}
