/* gradient.c - computes the derivatives of multipliers . tau with respect to the state, parameters, wrenches and
 * gravity (dynamics/adjoint/gradient.c), also with free coordinates.
 *
 * The efforts of free coordinates F are given, and those of the driven ones D follow: with M of both, dqdd_F = -M_FF^-1
 * (dID_F + M_FD dqdd_D). So the multipliers of F become x = -M_FF^-1 M_FD multipliers_D, which is the acceleration of F
 * if D accelerate with their multipliers and no other force acts. With friction that depends on the load, the
 * multipliers of D are multiplied by their load factors a, and x is divided by those of F
 * (dynamics/joint/load_friction.h).
 *
 * With directions, the rates of the gradient along them too (dynamics/adjoint/hessian_product.c). */
#include "gradient_outputs.h"
#include "hessian_products.h"
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/fields/fields.h"
#include "dynamics/directional.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian_product.h"
#include <string.h>

enum {
    BY_Q,
    BY_QD,
    BY_QDD,
    TAU,
    QDD,
    BY_TAU,
    SHARED,
    PRODUCTS = SHARED + API_GRADIENT_OUTPUTS,
    FRICTION = PRODUCTS + API_PRODUCT_OUTPUTS
};

typedef struct gradient_options {
    api_gradient_sums sums;   /* first: see gradient_outputs.h */
    const bool       *driven; /* [nv] true for coordinates that are not free. NULL: the request has no field "free" */
    api_products      products;
} gradient_options;

static bool options(api_query *q, api_selection *selected, const api_node *request, const api_place *up)
{
    gradient_options *o = api_take(q->pool, sizeof *o);
    if (!o || !api_free_read(q, selected, request, up, QDD)) return false;
    o->driven         = selected->options;
    selected->options = o;
    if (o->driven && !api_node_get(request, "outputs")) selected->outputs |= API_BIT(BY_TAU);
    if (!o->driven && (selected->outputs & API_BIT(BY_TAU)))
        return api_fail_output(q, selected, BY_TAU, request, up,
                               "efforts are given only for free coordinates: name them in free");
    o->products.first = PRODUCTS;
    if (o->driven && api_node_get(request, "directions")) {
        const api_place pointer = api_place_key(up, "directions");
        return api_fail_at(
            q->problem, &pointer, API_BAD_VALUE,
            "directions are for motions without free coordinates: ask forward-gradient, or leave free out");
    }
    if (!api_products_read(q, selected, request, up, "qdd", &o->products)) return false;
    const api_set all    = API_BIT(BY_Q) | API_BIT(BY_QD) | API_BIT(BY_QDD);
    selected->one_by_one = o->driven || o->products.present || (selected->outputs & all) != all ||
                           (selected->outputs & (API_BIT(SHARED + API_BY_Q_ENTRIES) | API_BIT(FRICTION)));
    return api_gradient_read(q, selected, SHARED);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    gradient_options *o = selected->options;
    return api_free_check_tau(plan, selected, o->driven) && api_products_load(plan->query, &o->products) &&
           api_gradient_prepare(plan, selected);
}

/* Counts the scratch lanes: gradients that are not requested and, with free coordinates, the singular mask, qdd,
 * multipliers and dtau/dT. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const gradient_options *o   = selected->options;
    size_t                  sum = api_missing_entries(model, selected, BY_Q, BY_QDD);
    sum += api_products_spare(model, selected, &o->products) + api_friction_spare(model, selected, FRICTION);
    if (o->driven) sum += 1 + api_missing_entries(model, selected, QDD, QDD) + 2 * model->nv;
    return sum;
}

/* Writes the gradient with respect to the parameters of friction, with scratch lanes at `next`. */
static void put_friction(const api_evaluation *e, const api_selection *selected, size_t block, const dyn_gradient *io,
                         double *next)
{
    const api_friction_state state = {io->q, io->qd, io->qdd, io->wrenches, io->multipliers, 1};
    api_friction_put(e, selected, FRICTION, block, &state, next);
}

/* --- free coordinates ------------------------------------------------------------------------------------------- */

/* Arrays of nv in lanes of one block. */
typedef struct free_arrays {
    double *qdd, *multipliers, *load;
} free_arrays;

/* Replaces the multipliers of free coordinates. */
static void set_multipliers(const api_evaluation *e, const bool *driven, const dyn_gradient *io, const free_arrays *a)
{
    const size_t               W = e->lanes, n = e->model->nv * W;
    const dyn_scene            at_rest = {.model = e->query->scene.model, .deadline = e->query->scene.deadline};
    const dyn_inverse_dynamics state   = {.q = io->q, .qd = io->qd, .qdd = a->qdd, .wrenches = io->wrenches};
    const double              *load    = api_free_find_load(e, state, a->load);
    for (size_t i = 0; i < n; i++)
        a->multipliers[i] = driven[i / W] ? (load ? load[i] : 1) * io->multipliers[i] : 0;
    const dyn_forward_dynamics solve = {
        .q = io->q, .driven = driven, .driven_qdd = a->multipliers, .qdd = io->gradient_qdd};
    e->kernels->forward_dynamics(&at_rest, e->workspace, &solve, 1);
    for (size_t i = 0; i < n; i++)
        a->multipliers[i] = driven[i / W] ? io->multipliers[i] : io->gradient_qdd[i] / (load ? load[i] : 1);
}

/* Sets the derivatives with respect to accelerations of free coordinates to zero, and those with respect to the given
 * efforts of free coordinates. `request` are the multipliers of the request. */
static void put_free(const api_evaluation *e, const bool *driven, const dyn_gradient *io, const double *request,
                     double *by_tau)
{
    const size_t W = e->lanes, n = e->model->nv * W;
    for (size_t i = 0; i < n; i++) {
        if (!driven[i / W]) io->gradient_qdd[i] = 0;
        if (by_tau) by_tau[i] = driven[i / W] ? 0 : request[i] - io->multipliers[i];
    }
}

static bool free_coordinates_block(const api_evaluation *e, const api_selection *selected, size_t block,
                                   const dyn_gradient *all, double *next)
{
    const bool  *driven   = ((const gradient_options *)selected->options)->driven;
    double      *singular = next;
    dyn_gradient io       = *all;
    free_arrays  a        = {.multipliers = singular + e->lanes};
    a.load                = api_behind(e, a.multipliers, e->model->nv, 1);
    next                  = api_behind(e, a.load, e->model->nv, 1);
    a.qdd                 = api_result_or_spare(e, selected, QDD, block, &next);
    if (!api_free_accelerations(e, driven, singular, a.qdd, block, 1)) return false;
    set_multipliers(e, driven, all, &a);
    io.qdd         = a.qdd;
    io.multipliers = a.multipliers;
    e->kernels->gradient(&e->query->scene, e->workspace, &io, 1);
    api_gradient_put_entries(e, selected, io.gradient_q, block);
    put_friction(e, selected, block, &io, next);
    put_free(e, driven, &io, all->multipliers, api_result_block(e, selected, BY_TAU, block));
    if (io.tau) api_free_restore(e, driven, block, 1, io.tau);
    return true;
}

/* --- directions --------------------------------------------------------------------------------------------------- */

/* Computes the rates of the gradient, and those of tau. */
static void write_products(const api_evaluation *e, const api_selection *selected, size_t block, const dyn_gradient *io,
                           double *next)
{
    const api_products     *p = &((const gradient_options *)selected->options)->products;
    const api_product_lanes x = api_products_lanes(e, selected, p, block, &next);
    e->kernels->hessian_product(&e->query->scene, e->workspace,
                                &(dyn_hessian_product){.q             = io->q,
                                                       .qd            = io->qd,
                                                       .qdd           = io->qdd,
                                                       .wrenches      = io->wrenches,
                                                       .multipliers   = io->multipliers,
                                                       .n             = p->directions.n,
                                                       .direction_q   = x.along.q,
                                                       .direction_qd  = x.along.qd,
                                                       .direction_qdd = x.along.last,
                                                       .product_q     = x.q,
                                                       .product_qd    = x.qd,
                                                       .product_qdd   = x.last},
                                1);
    if (selected->outputs & API_BIT(PRODUCTS + API_PRODUCT_RATES))
        e->kernels->directional(&e->query->scene, e->workspace,
                                &(dyn_directional){.q             = io->q,
                                                   .qd            = io->qd,
                                                   .qdd           = io->qdd,
                                                   .wrenches      = io->wrenches,
                                                   .n             = p->directions.n,
                                                   .direction_q   = x.along.q,
                                                   .direction_qd  = x.along.qd,
                                                   .direction_qdd = x.along.last,
                                                   .rates         = x.rates},
                                1);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_products_seconds(q, &((const gradient_options *)selected->options)->products, 8);
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double            *next = e->spare;
    const dyn_gradient io   = {
          .q                   = api_state_block(e, API_Q, block),
          .qd                  = api_state_block(e, API_QD, block),
          .qdd                 = api_state_block(e, API_QDD, block),
          .wrenches            = api_wrench_block(e, block),
          .multipliers         = api_state_block(e, API_MULTIPLIERS, block),
          .tau                 = api_result_block(e, selected, TAU, block),
          .gradient_q          = api_result_or_spare(e, selected, BY_Q, block, &next),
          .gradient_qd         = api_result_or_spare(e, selected, BY_QD, block, &next),
          .gradient_qdd        = api_result_or_spare(e, selected, BY_QDD, block, &next),
          .gradient_parameters = api_result_block(e, selected, SHARED + API_BY_PARAMETERS, block),
          .gradient_wrenches   = api_result_block(e, selected, SHARED + API_BY_WRENCHES, block),
          .gradient_gravity    = api_result_block(e, selected, SHARED + API_BY_GRAVITY, block),
    };
    const gradient_options *o = selected->options;
    if (o->driven) return free_coordinates_block(e, selected, block, &io, next);
    e->kernels->gradient(&e->query->scene, e->workspace, &io, blocks);
    api_gradient_put_entries(e, selected, io.gradient_q, block);
    put_friction(e, selected, block, &io, next);
    if (o->products.present) write_products(e, selected, block, &io, next);
    return true;
}

const api_operation api_gradient = {
    .name       = "gradient",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_MULTIPLIERS),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_TAU) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) |
             API_BIT(API_FREE) | API_BIT(API_DIRECTIONS),
    .outputs         = {[BY_Q]   = {"gradient_q", true, {API_NV}},
                        [BY_QD]  = {"gradient_qd", true, {API_NV}},
                        [BY_QDD] = {"gradient_qdd", true, {API_NV}},
                        [TAU]    = {"tau", false, {API_NV}},
                        [QDD]    = {"qdd", false, {API_NV}},
                        [BY_TAU] = {"gradient_tau", false, {API_NV}},
                        API_GRADIENT_OUTPUT_ROWS(SHARED),
                        API_PRODUCT_OUTPUT_ROWS(PRODUCTS, "hessian_products_qdd"),
                        API_FRICTION_OUTPUT_ROW(FRICTION)},
    .weight          = 2.5,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .emit            = api_gradient_emit,
    .evaluate        = evaluate,
    .finish          = api_gradient_finish,
    .unordered       = true,
};
