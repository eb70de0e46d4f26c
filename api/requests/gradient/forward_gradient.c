/* forward_gradient.c - computes the derivatives of multipliers . qdd with respect to the state, tau, parameters,
 * wrenches and gravity (dynamics/adjoint/forward_gradient.c); with directions, the rates of this gradient along them
 * too (dynamics/adjoint/forward_hessian_product.c). */
#include "gradient_outputs.h"
#include "hessian_products.h"
#include "api/requests/fields/fields.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian_product.h"

enum {
    BY_Q,
    BY_QD,
    BY_TAU,
    QDD,
    SHARED,
    PRODUCTS = SHARED + API_GRADIENT_OUTPUTS,
    FRICTION = PRODUCTS + API_PRODUCT_OUTPUTS
};

typedef struct forward_options {
    api_gradient_sums sums; /* the first member, as gradient_outputs.h requires */
    api_products      products;
} forward_options;

static bool options(api_query *q, api_selection *selected, const api_node *request, const api_place *up)
{
    forward_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    o->products.first = PRODUCTS;
    return api_products_read(q, selected, request, up, "tau", &o->products) && api_gradient_read(q, selected, SHARED);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    forward_options *o = selected->options;
    return api_products_load(plan->query, &o->products) && api_gradient_prepare(plan, selected);
}

/* Counts the scratch lanes: the singular mask, and results that are not requested. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const forward_options *o = selected->options;
    return 1 + api_missing_entries(model, selected, BY_Q, QDD) + api_products_spare(model, selected, &o->products) +
           api_friction_spare(model, selected, FRICTION);
}

/* Computes the rates of the gradient, and those of qdd. */
static void write_forward_products(const api_evaluation *e, const api_selection *selected, size_t block,
                                   const dyn_forward_gradient *io, double *next)
{
    const api_products     *p = &((const forward_options *)selected->options)->products;
    const api_product_lanes x = api_products_lanes(e, selected, p, block, &next);
    e->kernels->forward_hessian_product(&e->query->scene, e->workspace,
                                        &(dyn_forward_hessian_product){.q             = io->q,
                                                                       .qd            = io->qd,
                                                                       .tau           = io->tau,
                                                                       .wrenches      = io->wrenches,
                                                                       .multipliers   = io->multipliers,
                                                                       .n             = p->directions.n,
                                                                       .direction_q   = x.along.q,
                                                                       .direction_qd  = x.along.qd,
                                                                       .direction_tau = x.along.last,
                                                                       .product_q     = x.q,
                                                                       .product_qd    = x.qd,
                                                                       .product_tau   = x.last,
                                                                       .rates         = x.rates,
                                                                       .qdd           = io->qdd},
                                        1);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_products_seconds(q, &((const forward_options *)selected->options)->products, 14);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    double                    *next = e->spare + e->lanes;
    const dyn_forward_gradient io   = {
          .q                   = api_state_block(e, API_Q, block),
          .qd                  = api_state_block(e, API_QD, block),
          .tau                 = api_state_block(e, API_TAU, block),
          .wrenches            = api_wrench_block(e, block),
          .multipliers         = api_state_block(e, API_MULTIPLIERS, block),
          .qdd                 = api_result_or_spare(e, selected, QDD, block, &next),
          .gradient_q          = api_result_or_spare(e, selected, BY_Q, block, &next),
          .gradient_qd         = api_result_or_spare(e, selected, BY_QD, block, &next),
          .gradient_tau        = api_result_or_spare(e, selected, BY_TAU, block, &next),
          .gradient_parameters = api_result_block(e, selected, SHARED + API_BY_PARAMETERS, block),
          .gradient_wrenches   = api_result_block(e, selected, SHARED + API_BY_WRENCHES, block),
          .gradient_gravity    = api_result_block(e, selected, SHARED + API_BY_GRAVITY, block),
          .singular            = e->spare,
    };
    const forward_options *o = selected->options;
    e->kernels->forward_gradient(&e->query->scene, e->workspace, &io, 1);
    api_gradient_put_entries(e, selected, io.gradient_q, block);
    const api_friction_state state = {io.q, io.qd, io.qdd, io.wrenches, io.gradient_tau, -1};
    api_friction_put(e, selected, FRICTION, block, &state, next);
    if (o->products.present) write_forward_products(e, selected, block, &io, next);
    return api_check_singular(e, io.singular, block, 1);
}

const api_operation api_forward_gradient = {
    .name       = "forward-gradient",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU) | API_BIT(API_MULTIPLIERS),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_DIRECTIONS),
    .outputs         = {[BY_Q]   = {"gradient_q", true, {API_NV}},
                        [BY_QD]  = {"gradient_qd", true, {API_NV}},
                        [BY_TAU] = {"gradient_tau", true, {API_NV}},
                        [QDD]    = {"qdd", false, {API_NV}},
                        API_GRADIENT_OUTPUT_ROWS(SHARED),
                        API_PRODUCT_OUTPUT_ROWS(PRODUCTS, "hessian_products_tau"),
                        API_FRICTION_OUTPUT_ROW(FRICTION)},
    .one_by_one      = true,
    .weight          = 8,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .emit            = api_gradient_emit,
    .evaluate        = evaluate,
    .finish          = api_gradient_finish,
    .unordered       = true,
};
