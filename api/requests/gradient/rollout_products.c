/* rollout_products.c - reads the directions of Hessian-vector products of rollouts, and propagates their rates from
 * node to node: see rollout_products.h.
 *
 * A tangent sweep propagates the directions of the state from node to node (dynamics/adjoint/step_directional.c) and
 * stores them. The adjoint sweep then computes, with the gradients with respect to the state of a node, their rates
 * along each direction (dynamics/adjoint/step_hessian_product.c). */
#include "rollout_products.h"
#include "api/requests/fields/rows.h"
#include "api/service/http/call.h"
#include <string.h>

/* --- request ------------------------------------------------------------------------------------------------------ */

static api_set rate_outputs(const api_rollout_products *p)
{
    return (API_BIT(API_ROLLOUT_PRODUCT_OUTPUTS) - 1) << p->first;
}

static bool refuse_rates(const api_query *q, const api_selection *selected, const api_node *request,
                         const api_place *up, const api_rollout_products *p)
{
    for (size_t i = 0; i < API_ROLLOUT_PRODUCT_OUTPUTS; i++)
        if (selected->outputs & API_BIT(p->first + i))
            return api_fail_output(q, selected, p->first + i, request, up,
                                   "the output is a rate along directions: give the field directions, with torques, q "
                                   "or qd");
    return true;
}

/* Checks the torques of all directions of one row. */
static bool check_direction_torques(api_query *q, const api_node *row, const api_place *pointer,
                                    api_rollout_products *p)
{
    const api_points_form form = {.name = "torques", .least = 1, .why = ""};
    if (!api_node_is(row, API_ARRAY))
        return api_fail_at(q->problem, pointer, API_WRONG_TYPE,
                           "%s given, an array of directions expected, each with one row of torques for each step",
                           api_node_kind_text(row));
    if (!api_directions_count(q, pointer, api_node_size(row), &p->n)) return false;
    for (size_t k = 0; k < p->n; k++) {
        api_node        direction;
        api_points      points;
        const api_place direction_at = api_place_index(pointer, k);
        api_node_item(row, k, &direction);
        if (api_is_batch(&direction, 2))
            return api_fail_at(q->problem, &direction_at, API_WRONG_SHAPE, "an array of arrays of numbers expected");
        if (!api_points_measure(q, &direction, &direction_at, &form, &points)) return false;
        if (points.n != p->steps)
            return api_fail_at(q->problem, &direction_at, API_WRONG_SHAPE,
                               "%zu rows of torques given, as many as torques, %zu, expected", points.n, p->steps);
    }
    return true;
}

static bool read_torque_directions(api_query *q, const api_node *object, const api_place *up, api_rollout_products *p)
{
    const api_place pointer = api_place_key(up, "torques");
    const api_node *value   = api_node_get(object, "torques");
    p->torques              = value;
    if (!value) return true;
    p->batch = api_is_batch(value, 3);
    if (!p->batch) return check_direction_torques(q, value, &pointer, p);
    if (!api_batch_rows(q, api_node_size(value), &pointer)) return false;
    for (size_t row = 0; row < api_node_size(value); row++) {
        api_node        directions;
        const api_place row_at = api_place_index(&pointer, row);
        api_node_item(value, row, &directions);
        if (check_direction_torques(q, &directions, &row_at, p)) continue;
        q->problem->row = (long long)row;
        return false;
    }
    return true;
}

static bool read_directions(api_query *q, const api_node *object, const api_place *pointer, api_rollout_products *p)
{
    static const char *const names[] = {"torques", "q", "qd", NULL};
    if (!api_check_keys(q, object, pointer, names, "directions") || !read_torque_directions(q, object, pointer, p) ||
        !api_direction_part_read(q, object, pointer, "q", &p->q, &p->n) ||
        !api_direction_part_read(q, object, pointer, "qd", &p->qd, &p->n))
        return false;
    if (p->n == 0)
        return api_fail_at(q->problem, pointer, API_MISSING_FIELD,
                           "directions need torques, q or qd: one entry of each for a direction");
    const size_t limit = q->call->api->limits.rows;
    return p->n <= limit / p->steps ||
           api_fail_at(q->problem, pointer, API_TOO_MANY_ROWS,
                       "%zu directions of %zu steps given, the limit is %zu steps in all", p->n, p->steps, limit);
}

bool api_rollout_products_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                               dyn_step_method method, api_rollout_products *p)
{
    const api_node *object  = api_node_get(request, "directions");
    const api_place pointer = api_place_key(up, "directions");
    *p                      = (api_rollout_products){
                             .first = p->first, .present = object != NULL, .steps = api_selected_extent(selected, API_ROLLOUT_STEPS)};
    if (!object) return refuse_rates(q, selected, request, up, p);
    if (method == DYN_IMPLICIT_EULER)
        return api_fail_at(q->problem, &pointer, API_BAD_VALUE,
                           "directions are for the integrators explicit_euler, semi_implicit_euler and rk4: choose one "
                           "of them, or leave directions out");
    if (!api_node_get(request, "outputs"))
        selected->outputs |= API_BIT(p->first + API_BY_TORQUES_PRODUCTS) | API_BIT(p->first + API_BY_Q_PRODUCTS) |
                             API_BIT(p->first + API_BY_QD_PRODUCTS);
    if (!(selected->outputs & rate_outputs(p)))
        return api_fail_at(q->problem, &pointer, API_BAD_VALUE,
                           "directions are for the outputs hessian_products_torques, hessian_products_q, "
                           "hessian_products_qd, rates_q and rates_qd: name one of them in outputs, or "
                           "leave directions out");
    if (!read_directions(q, object, &pointer, p)) return false;
    api_set_extent(selected, API_GIVEN_DIRECTIONS, p->n);
    return true;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static const double *load_torques(const api_query *q, const api_rollout_products *p)
{
    const size_t size = p->steps * q->model->nv, rows = p->batch ? q->rows : 1;
    double      *numbers = api_take(q->pool, rows * p->n * size * sizeof *numbers);
    for (size_t row = 0; numbers && row < rows; row++) {
        api_node directions = *p->torques, direction;
        if (p->batch) api_node_item(p->torques, row, &directions);
        for (size_t k = 0; k < p->n; k++) {
            api_node_item(&directions, k, &direction);
            const api_points points = {.value = &direction, .n = p->steps, .width = q->model->nv, .joints = true};
            const double    *from   = api_points_read(q, &points);
            if (!from) return NULL;
            memcpy(numbers + (row * p->n + k) * size, from, size * sizeof *numbers);
        }
    }
    return numbers;
}

bool api_rollout_products_load(const api_query *q, api_rollout_products *p)
{
    return (!p->torques || (p->along_torques = load_torques(q, p))) &&
           (!p->q.value || (p->along_q = api_points_read(q, &p->q))) &&
           (!p->qd.value || (p->along_qd = api_points_read(q, &p->qd)));
}

double api_rollout_products_seconds(const api_query *q, const api_rollout_products *p, double step)
{
    enum { OF_STEPS = 3 /* a direction takes as long as this number of steps with their gradients */ };
    return p->present ? (double)q->rows * (double)p->n * (double)p->steps * OF_STEPS * step : 0;
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

size_t api_rollout_products_spare(const api_model *model, const api_selection *selected, const api_rollout_products *p,
                                  dyn_step_method method)
{
    if (!p->present) return 0;
    const dyn_scene scene = {.model = model->dyn};
    const size_t    rows  = p->n * model->nv;
    return (2 * p->steps + 8) * rows + dyn_step_tangent_work(&scene, method) +
           api_missing_entries(model, selected, p->first + API_BY_TORQUES_PRODUCTS, p->first + API_BY_TORQUES_PRODUCTS);
}

/* Copies directions of the initial state; NULL: zeros. */
static void gather_directions(const api_rollout_product_lanes *x, const api_points *points, const double *numbers,
                              double *to)
{
    const size_t W = x->e->lanes, entries = x->p->n * x->e->model->nv, last = x->e->query->rows - 1;
    for (size_t lane = 0; lane < W; lane++) {
        const size_t  row  = x->block * W + lane;
        const double *from = numbers ? api_points_of(points, numbers, row < last ? row : last) : NULL;
        for (size_t i = 0; i < entries; i++)
            to[i * W + lane] = from ? from[i] : 0;
    }
}

api_rollout_product_lanes api_rollout_products_lanes(const api_evaluation *e, const api_selection *selected,
                                                     const api_rollout_products *p, size_t block,
                                                     dyn_step_method method, double **next)
{
    const size_t              rows = p->n * e->model->nv;
    api_rollout_product_lanes x    = {.e = e, .p = p, .block = block};
    const struct part {
        double **array;
        size_t   entries;
    } parts[] = {{&x.q, p->steps * rows},
                 {&x.qd, p->steps * rows},
                 {&x.q_after, rows},
                 {&x.qd_after, rows},
                 {&x.tau, rows},
                 {&x.rate_q, rows},
                 {&x.rate_qd, rows},
                 {&x.before_q, rows},
                 {&x.before_qd, rows},
                 {&x.by_tau, rows},
                 {&x.work, dyn_step_tangent_work(&e->query->scene, method)}};
    if (!p->present) return x;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].array = *next;
        *next           = api_behind(e, *next, parts[i].entries, 1);
    }
    x.by_torques = api_result_or_spare(e, selected, p->first + API_BY_TORQUES_PRODUCTS, block, next);
    gather_directions(&x, &p->q, p->along_q, x.q);
    gather_directions(&x, &p->qd, p->along_qd, x.qd);
    return x;
}

/* Copies the directions of the torques of step n. */
static void gather_torque_directions(const api_rollout_product_lanes *x, size_t n)
{
    const api_rollout_products *p = x->p;
    const size_t W = x->e->lanes, nv = x->e->model->nv, size = p->steps * nv, last = x->e->query->rows - 1;
    for (size_t lane = 0; lane < W; lane++) {
        const size_t row = x->block * W + lane, source = row < last ? row : last, of_row = p->batch ? source * p->n : 0;
        for (size_t k = 0; k < p->n; k++)
            for (size_t v = 0; v < nv; v++)
                x->tau[(k * nv + v) * W + lane] =
                    p->along_torques ? p->along_torques[(of_row + k) * size + n * nv + v] : 0;
    }
}

/* --- sweeps ------------------------------------------------------------------------------------------------------- */

/* Returns the numbers in lanes of the directions of one node. */
static size_t node_size(const api_rollout_product_lanes *x)
{
    return x->p->n * x->e->model->nv * x->e->lanes;
}

void api_rollout_products_advance(const api_rollout_product_lanes *x, size_t n, const dyn_step *step)
{
    const size_t               size = node_size(x);
    const bool                 last = n + 1 == x->p->steps;
    const dyn_step_directional io   = {.q             = step->q,
                                       .qd            = step->qd,
                                       .tau           = step->tau,
                                       .wrenches      = step->wrenches,
                                       .method        = step->method,
                                       .h             = step->h,
                                       .n             = x->p->n,
                                       .direction_q   = x->q + n * size,
                                       .direction_qd  = x->qd + n * size,
                                       .direction_tau = x->tau,
                                       .rates_q       = last ? x->q_after : x->q + (n + 1) * size,
                                       .rates_qd      = last ? x->qd_after : x->qd + (n + 1) * size,
                                       .work          = step->work,
                                       .singular      = step->singular};
    if (!x->p->present) return;
    gather_torque_directions(x, n);
    x->e->kernels->step_directional(&x->e->query->scene, x->e->workspace, &io, 1);
}

void api_rollout_products_begin(const api_rollout_product_lanes *x)
{
    if (!x->p->present) return;
    memset(x->rate_q, 0, node_size(x) * sizeof *x->rate_q);
    memset(x->rate_qd, 0, node_size(x) * sizeof *x->rate_qd);
}

void api_rollout_products_add_cost(const api_rollout_product_lanes *x, const api_rollout_cost *cost,
                                   const api_cost_state *state, size_t lane)
{
    const size_t  size = node_size(x), row = x->e->model->nv * x->e->lanes;
    const bool    last = state->node == x->p->steps;
    const double *q    = last ? x->q_after : x->q + state->node * size,
                 *qd   = last ? x->qd_after : x->qd + state->node * size;
    for (size_t k = 0; x->p->present && k < x->p->n; k++) {
        api_cost_state rates = *state;
        rates.by_q           = x->rate_q + k * row + lane;
        rates.by_qd          = x->rate_qd + k * row + lane;
        api_rollout_cost_add_rates(cost, &rates, q + k * row + lane, qd + k * row + lane);
    }
}

void api_rollout_products_step_back(const api_rollout_product_lanes *x, size_t n, const dyn_step_gradient *step)
{
    const size_t                   size = node_size(x);
    const dyn_step_hessian_product io   = {.gradient            = *step,
                                           .n                   = x->p->n,
                                           .direction_q         = x->q + n * size,
                                           .direction_qd        = x->qd + n * size,
                                           .direction_tau       = x->tau,
                                           .multiplier_rates_q  = x->rate_q,
                                           .multiplier_rates_qd = x->rate_qd,
                                           .product_q           = x->before_q,
                                           .product_qd          = x->before_qd,
                                           .product_tau         = x->by_tau,
                                           .work                = x->work};
    gather_torque_directions(x, n);
    x->e->kernels->step_hessian_product(&x->e->query->scene, x->e->workspace, &io, 1);
    memcpy(x->rate_q, x->before_q, size * sizeof *x->rate_q);
    memcpy(x->rate_qd, x->before_qd, size * sizeof *x->rate_qd);
}

void api_rollout_products_put_torques(const api_rollout_product_lanes *x, const api_rollout_cost *cost,
                                      const api_cost_state *state, size_t lane)
{
    const size_t W = x->e->lanes, nv = x->e->model->nv;
    for (size_t k = 0; x->p->present && k < x->p->n; k++) {
        const size_t row = k * nv * W + lane;
        api_rollout_cost_add_torque_rates(cost, state, x->tau + row, x->by_tau + row);
        for (size_t v = 0; v < nv; v++)
            x->by_torques[((k * x->p->steps + state->node) * nv + v) * W + lane] = x->by_tau[row + v * W];
    }
}

/* Copies the rates of the states after all steps, in `nodes` and `end`, to the output `to`. */
static void put_state_rates(const api_rollout_product_lanes *x, const double *nodes, const double *end, double *to)
{
    const size_t steps = x->p->steps, size = node_size(x), row = x->e->model->nv * x->e->lanes;
    for (size_t n = 1; to && n <= steps; n++)
        for (size_t k = 0; k < x->p->n; k++)
            memcpy(to + (k * steps + n - 1) * row, (n == steps ? end : nodes + n * size) + k * row, row * sizeof *to);
}

void api_rollout_products_put(const api_rollout_product_lanes *x, const api_selection *selected)
{
    const size_t  first  = x->p->first;
    const double *from[] = {x->rate_q, x->rate_qd};
    for (size_t i = 0; x->p->present && i < 2; i++) {
        double *to = api_result_block(x->e, selected, first + API_BY_Q_PRODUCTS + i, x->block);
        if (to) memcpy(to, from[i], node_size(x) * sizeof *to);
    }
    if (!x->p->present) return;
    put_state_rates(x, x->q, x->q_after, api_result_block(x->e, selected, first + API_NODE_RATES_Q, x->block));
    put_state_rates(x, x->qd, x->qd_after, api_result_block(x->e, selected, first + API_NODE_RATES_QD, x->block));
}
