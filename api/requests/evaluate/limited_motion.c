/* limited_motion.c - see limited_motion.h. */
#include "limited_motion.h"
#include "dynamics/loops/loop_kernels.h"

void api_limited_motion(const api_evaluation *e, size_t block, const double *quantities[API_LIMIT_KINDS])
{
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block);
    quantities[API_LIMIT_POSITION] = e->model->loops ? dyn_loop_tree_q(e->workspace) : q;
    quantities[API_LIMIT_VELOCITY] = e->model->loops ? dyn_loop_tree_velocities(e->workspace, qd) : qd;
}

size_t api_limited_rates_entries(const api_model *model)
{
    return model->loops ? model->loops->nv * model->nv : 0;
}

void api_limited_rates_find(const api_evaluation *e, size_t block, double *room, api_limited_rates *rates)
{
    *rates = (api_limited_rates){.by_coordinate = NULL};
    if (!e->model->loops) return;
    dyn_loop_velocities_by_q(e->workspace, &e->query->scene, api_state_block(e, API_QD, block), room);
    rates->by_coordinate = dyn_loop_velocity_matrix(e->workspace);
    rates->velocity_by_q = room;
}

double api_limited_slope(const api_evaluation *e, const api_limit *l, const api_limited_rates *rates, int by, size_t v,
                         size_t lane)
{
    const bool    position = l->kind == API_LIMIT_POSITION;
    const bool    alike    = by == !position; /* of a position by q, or of a velocity by qd */
    const double *matrix   = alike ? rates->by_coordinate : rates->velocity_by_q;
    double        sum      = 0;
    if (!alike && (position || by > 0)) return 0;
    for (size_t j = 0; j < l->n; j++) {
        const size_t row = position ? l->v : l->entry[j];
        sum += l->weight[j] * (matrix ? matrix[(row * e->model->nv + v) * e->lanes + lane] : (alike && row == v));
    }
    return sum;
}
