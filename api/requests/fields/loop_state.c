/* loop_state.c - lists the arrays of the output `full` (loop_state.h). */
#include "loop_state.h"
#include "dynamics/loops/loops.h"

void api_loop_state_parts(const api_model *model, api_loop_state_part parts[API_LOOP_STATE_PARTS])
{
    const dyn_loops *l = model->loops;
    parts[0]           = (api_loop_state_part){"q", l->nq, 1, {l->nq}, false};
    parts[1]           = (api_loop_state_part){"qd", l->nv, 1, {l->nv}, false};
    parts[2]           = (api_loop_state_part){"qdd", l->nv, 1, {l->nv}, false};
    parts[3]           = (api_loop_state_part){"G", l->nv * model->nv, 2, {l->nv, model->nv}, true};
    parts[4]           = (api_loop_state_part){"loop_wrenches", 6 * l->n, 2, {l->n, 6}, false};
    parts[5]           = (api_loop_state_part){"residual", 1, 0, {0}, false};
}

size_t api_loop_state_entries(const api_model *model)
{
    const dyn_loops *l = model->loops;
    return l ? l->nq + 2 * l->nv + l->nv * model->nv + 6 * l->n + 1 : 0;
}
