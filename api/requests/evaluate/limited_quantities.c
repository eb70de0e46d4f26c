/* limited_quantities.c - finds limited positions and velocities and their derivatives (limited_quantities.h). */
#include "limited_quantities.h"
#include "dynamics/loops/loop_kernels.h"

void api_limited_quantities(const api_evaluation *e, size_t block, const double *quantities[DYN_LIMIT_KINDS])
{
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block);
    quantities[DYN_LIMIT_POSITION]     = e->model->loops ? dyn_loop_tree_q(e->workspace) : q;
    quantities[DYN_LIMIT_VELOCITY]     = e->model->loops ? dyn_loop_tree_velocities(e->workspace, qd) : qd;
    quantities[DYN_LIMIT_ACCELERATION] = api_state_block(e, API_QDD, block);
    quantities[DYN_LIMIT_JERK]         = api_state_block(e, API_QDDD, block);
}

size_t api_limited_rates_entries(const api_model *model)
{
    return model->loops ? model->loops->nv * model->nv : 0;
}

void api_limited_rates_find(const api_evaluation *e, size_t block, double *room, dyn_limited_rates *rates)
{
    *rates = (dyn_limited_rates){.nv = e->model->nv, .W = e->lanes};
    if (!e->model->loops) return;
    dyn_loop_velocities_by_q(e->workspace, &e->query->scene, api_state_block(e, API_QD, block), room);
    rates->by_coordinate = dyn_loop_velocity_matrix(e->workspace);
    rates->velocity_by_q = room;
}
