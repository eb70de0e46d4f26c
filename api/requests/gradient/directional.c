/* directional.c - computes rates of the torques of inverse dynamics along directions of q, qd and qdd
 * (dynamics/adjoint/directional.c). */
#include "directions.h"
#include "dynamics/directional.h"

enum { RATES, TAU };

static bool options(api_query *q, api_selection *selected, const api_node *request, const api_place *up)
{
    api_directions *d = selected->options = api_take(q->pool, sizeof *d);
    return d && api_directions_read(q, selected, request, up, "qdd", d);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_directions_load(plan->query, selected->options);
}

static size_t spare(const api_model *model, const api_selection *selected)
{
    return api_directions_entries(model, selected->options) + api_missing_entries(model, selected, RATES, RATES);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const api_directions     *d     = selected->options;
    double                   *next  = e->spare;
    const api_direction_lanes along = api_directions_gather(e, d, block, &next);
    const dyn_directional     io    = {.q             = api_state_block(e, API_Q, block),
                                       .qd            = api_state_block(e, API_QD, block),
                                       .qdd           = api_state_block(e, API_QDD, block),
                                       .wrenches      = api_wrench_block(e, block),
                                       .n             = d->n,
                                       .direction_q   = along.q,
                                       .direction_qd  = along.qd,
                                       .direction_qdd = along.last,
                                       .rates         = api_result_or_spare(e, selected, RATES, block, &next),
                                       .tau           = api_result_block(e, selected, TAU, block)};
    e->kernels->directional(&e->query->scene, e->workspace, &io, 1);
    return true;
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_directions_seconds(q, selected->options, 1.5);
}

const api_operation api_directional = {
    .name       = "directional",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_DIRECTIONS),
    .needs_options   = API_BIT(API_DIRECTIONS),
    .outputs         = {[RATES] = {"rates", true, {API_GIVEN_DIRECTIONS, API_NV}}, [TAU] = {"tau", false, {API_NV}}},
    .one_by_one      = true,
    .weight          = 2,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
