/* rollout_gradient.c - integrates each row over many steps and differentiates a cost of the states, or multipliers .
 * states, with respect to the torques, the initial state, parameters, wrenches and gravity.
 *
 * The rows of a block are integrated side by side; only the states of the nodes are kept, (nq + nv) numbers each. Then
 * the gradients with respect to the state are propagated from the last node to the first through the adjoint of each
 * step (dynamics/adjoint/step_gradient.c), which evaluates the step again. Rates of the gradients along directions are
 * those of rollout_products.h. */
#include "gradient_outputs.h"
#include "api/requests/rollout_cost/rollout_cost.h"
#include "rollout_products.h"
#include "api/requests/operations/operation_list.h"
#include "api/requests/step/step.h"
#include "api/service/http/call.h"
#include "dynamics/gradient.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <stdio.h>
#include <string.h>

enum { BY_TORQUES, BY_Q, BY_QD, COST, Q_AFTER, QD_AFTER, SHARED, PRODUCTS = SHARED + API_GRADIENT_OUTPUTS };

typedef struct rollout_options {
    api_gradient_sums    sums; /* first: see gradient_outputs.h */
    api_step_options     step;
    api_points           torques;
    const double        *torque; /* the numbers of `torques` */
    api_rollout_cost     cost;
    api_rollout_products products;
    size_t               work; /* entries of the work arrays of the kernels */
} rollout_options;

/* --- request ------------------------------------------------------------------------------------------------------ */

static bool check_step_count(const api_query *q, const rollout_options *o)
{
    const api_place pointer = api_place_key(NULL, "torques");
    const size_t    limit   = q->call->api->limits.rows;
    return o->torques.n <= limit || api_fail_at(q->problem, &pointer, API_TOO_MANY_ROWS,
                                                "%zu torques given, the limit is %zu", o->torques.n, limit);
}

static bool options(api_query *q, api_selection *selected, const api_node *request, const api_place *up)
{
    const api_points_form form    = {.name = "torques", .least = 1, .why = ""};
    const api_place       pointer = api_place_key(up, "torques");
    rollout_options      *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o || !api_gradient_read(q, selected, SHARED) || !api_step_read(q, request, up, &o->step) ||
        !api_points_measure(q, api_node_get(request, "torques"), &pointer, &form, &o->torques) ||
        !check_step_count(q, o) || !api_rollout_cost_read(q, request, up, o->torques.n, &o->cost))
        return false;
    api_set_extent(selected, API_ROLLOUT_STEPS, o->torques.n);
    o->products.first = PRODUCTS;
    if (!api_rollout_products_read(q, selected, request, up, o->step.method, &o->products)) return false;
    if (o->cost.present && !api_node_get(request, "outputs")) selected->outputs |= API_BIT(COST);
    return o->cost.present || !(selected->outputs & API_BIT(COST)) ||
           api_fail_output(q, selected, COST, request, up, "the output cost is that of a cost in the request");
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    rollout_options *o        = selected->options;
    const api_query *q        = plan->query;
    const size_t     forward  = dyn_step_work(q->scene.model, o->step.method, q->model->nv);
    const size_t     tangent  = o->products.present ? dyn_step_tangent_work(&q->scene, o->step.method) : 0;
    const size_t     backward = dyn_step_gradient_work(&q->scene, o->step.method) + tangent;
    o->work                   = forward > backward ? forward : backward;
    return (o->torque = api_points_read(q, &o->torques)) && api_rollout_cost_load(q, &o->cost) &&
           api_rollout_products_load(q, &o->products) && api_gradient_prepare(plan, selected);
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/* The gradients with respect to parameters, wrenches and gravity: the results, and those of one step. NULL: not
 * selected. */
enum { SCENE_GRADIENTS = 3 };

/* The arrays of one block of rows, in lanes. */
typedef struct sweep {
    const api_evaluation     *e;
    const rollout_options    *o;
    size_t                    block, steps;
    double                   *q, *qd;               /* [steps] nq and nv in lanes: states before each step */
    double                   *q_after, *qd_after;   /* nq and nv: the state after the last step */
    double                   *tau;                  /* nv: torques of one step */
    double                   *by_q, *by_qd;         /* nv: gradients with respect to the state after a step */
    double                   *before_q, *before_qd; /* nv: gradients with respect to the state before it */
    double                   *by_torques;           /* [steps] nv: gradients with respect to the torques of each step */
    double                   *singular, *unsolved, *contradictory, *work;
    double                   *to[SCENE_GRADIENTS], *of_step[SCENE_GRADIENTS];
    size_t                    n[SCENE_GRADIENTS];
    double                   *cost;    /* cost of each row */
    double                   *scratch; /* scratch of the cost of one row */
    api_rollout_product_lanes products;
} sweep;

static size_t scene_entries(const api_model *model, const api_selection *selected, int i)
{
    return selected->result[SHARED + i] ? api_output_entries(model, selected, (size_t)(SHARED + i)) : 0;
}

static size_t spare(const api_model *model, const api_selection *selected)
{
    const rollout_options *o  = selected->options;
    const size_t           nq = model->nq, nv = model->nv, steps = o->torques.n;
    size_t                 sum = steps * (nq + nv) + (5 + API_COST_SCRATCH) * nv + 4 + o->work;
    sum += api_missing_entries(model, selected, BY_TORQUES, BY_TORQUES);
    sum += api_missing_entries(model, selected, Q_AFTER, QD_AFTER);
    for (int i = 0; i < SCENE_GRADIENTS; i++)
        sum += scene_entries(model, selected, i);
    return sum + api_rollout_products_spare(model, selected, &o->products, o->step.method);
}

static sweep sweep_of(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const rollout_options *o  = selected->options;
    const size_t           nq = e->model->nq, nv = e->model->nv;
    sweep                  s    = {.e = e, .o = o, .block = block, .steps = o->torques.n};
    double                *next = e->spare;
    const struct part {
        double **array;
        size_t   entries;
    } parts[] = {{&s.q, s.steps * nq},
                 {&s.qd, s.steps * nv},
                 {&s.tau, nv},
                 {&s.by_q, nv},
                 {&s.by_qd, nv},
                 {&s.before_q, nv},
                 {&s.before_qd, nv},
                 {&s.singular, 1},
                 {&s.unsolved, 1},
                 {&s.contradictory, 1},
                 {&s.cost, 1},
                 {&s.work, o->work},
                 {&s.scratch, API_COST_SCRATCH * nv}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].array = next;
        next            = api_behind(e, next, parts[i].entries, 1);
    }
    s.by_torques = api_result_or_spare(e, selected, BY_TORQUES, block, &next);
    s.q_after    = api_result_or_spare(e, selected, Q_AFTER, block, &next);
    s.qd_after   = api_result_or_spare(e, selected, QD_AFTER, block, &next);
    for (int i = 0; i < SCENE_GRADIENTS; i++) {
        s.to[i] = api_result_block(e, selected, (size_t)(SHARED + i), block);
        s.n[i]  = scene_entries(e->model, selected, i);
        if (!s.to[i]) continue;
        s.of_step[i] = next;
        next         = api_behind(e, next, s.n[i], 1);
        memset(s.to[i], 0, s.n[i] * e->lanes * sizeof *s.to[i]);
    }
    s.products = api_rollout_products_lanes(e, selected, &o->products, block, o->step.method, &next);
    return s;
}

/* Returns the row in a lane; lanes after the last row repeat it. */
static size_t row_in_lane(const sweep *s, size_t lane)
{
    const size_t row = s->block * s->e->lanes + lane, last = s->e->query->rows - 1;
    return row < last ? row : last;
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

static void gather_torques(const sweep *s, size_t step)
{
    const size_t W = s->e->lanes, nv = s->e->model->nv;
    for (size_t lane = 0; lane < W; lane++) {
        const double *tau = api_points_of(&s->o->torques, s->o->torque, row_in_lane(s, lane)) + step * nv;
        for (size_t v = 0; v < nv; v++)
            s->tau[v * W + lane] = tau[v];
    }
}

/* Normalizes the quaternions of a state as those of requests are normalized. */
static void normalize_quaternions(const sweep *s, double *q)
{
    const api_model *model = s->e->model;
    const size_t     W     = s->e->lanes;
    double           norm;
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body *body       = &model->dyn->body[i];
        const int       quaternion = dyn_quaternion_offset(body), place = api_first_position(model, body);
        if (quaternion < 0 || place < 0) continue;
        for (size_t lane = 0; lane < W; lane++)
            dyn_quaternion_normalise(&q[(size_t)(place + quaternion) * W + lane], W, &norm);
    }
}

/* Notes the problems of the rows whose step has no result. False: the time is over. */
static bool check_step(const sweep *s, size_t step, const dyn_step *io, api_lane_problems *problems)
{
    const api_evaluation *e = s->e;
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false; /* a step may have ended half-way */
    for (size_t lane = 0; lane < e->lanes && s->block * e->lanes + lane < e->query->rows; lane++) {
        const api_step_means means = {.kernels = e->kernels, .scene = &e->query->scene};
        api_problem          found;
        api_problem_clear(&found);
        if (!api_step_check(e, &means, 0, io, lane, &found))
            api_lane_problems_note(problems, lane, (long long)step, &found);
    }
    return true;
}

/* Integrates the rows and keeps the states before all steps. */
static bool march(const sweep *s)
{
    const api_evaluation *e = s->e;
    const size_t          W = e->lanes, nq = e->model->nq * W, nv = e->model->nv * W;
    const double         *qd    = api_state_block(e, API_QD, s->block);
    api_step_clock        clock = {e->query->input->deadline, e->problem};
    api_lane_problems     problems;
    api_lane_problems_begin(&problems, s->block, W);
    memcpy(s->q, api_state_block(e, API_Q, s->block), nq * sizeof *s->q);
    if (qd)
        memcpy(s->qd, qd, nv * sizeof *s->qd);
    else
        memset(s->qd, 0, nv * sizeof *s->qd);
    for (size_t n = 0; n < s->steps; n++) {
        const bool     last = n + 1 == s->steps;
        const dyn_step io   = {.q             = s->q + n * nq,
                               .qd            = s->qd + n * nv,
                               .tau           = s->tau,
                               .wrenches      = api_wrench_block(e, s->block),
                               .method        = s->o->step.method,
                               .h             = s->o->step.h,
                               .q_after       = last ? s->q_after : s->q + (n + 1) * nq,
                               .qd_after      = last ? s->qd_after : s->qd + (n + 1) * nv,
                               .work          = s->work,
                               .singular      = s->singular,
                               .unsolved      = s->unsolved,
                               .contradictory = s->contradictory,
                               .may_continue  = api_step_may_continue,
                               .clock         = &clock};
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        gather_torques(s, n);
        e->kernels->step(&e->query->scene, e->workspace, &io, 1);
        if (s->unsolved[0] == DYN_STEP_STOPPED || !check_step(s, n, &io, &problems)) return false;
        api_rollout_products_advance(&s->products, n, &io);
        if (!last) normalize_quaternions(s, io.q_after);
    }
    return api_lane_problems_tell(e, &problems, e->query->rows);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

static api_cost_state cost_state(const sweep *s, size_t node, size_t lane)
{
    const size_t W = s->e->lanes, nq = s->e->model->nq * W, nv = s->e->model->nv * W;
    const bool   last = node == s->steps;
    return (api_cost_state){.row     = row_in_lane(s, lane),
                            .node    = node,
                            .steps   = s->steps,
                            .nv      = s->e->model->nv,
                            .W       = W,
                            .q       = (last ? s->q_after : s->q + node * nq) + lane,
                            .qd      = (last ? s->qd_after : s->qd + node * nv) + lane,
                            .by_q    = s->by_q + lane,
                            .by_qd   = s->by_qd + lane,
                            .scratch = s->scratch};
}

/* Adds the gradients of one step to the results. */
static void add_scene_gradients(const sweep *s)
{
    for (int i = 0; i < SCENE_GRADIENTS; i++)
        for (size_t k = 0; k < s->n[i] * s->e->lanes; k++)
            s->to[i][k] += s->of_step[i][k];
}

/* Adds the costs of the torques of step n, and their derivatives to by_tau. */
static void add_torque_costs(const sweep *s, size_t n, double *by_tau)
{
    for (size_t lane = 0; lane < s->e->lanes; lane++) {
        const api_cost_state x = cost_state(s, n, lane);
        s->cost[lane] += api_rollout_cost_of_torques(&s->o->cost, &x, s->tau + lane, by_tau + lane);
        api_rollout_products_put_torques(&s->products, &s->o->cost, &x, lane);
    }
}

/* Propagates the gradients with respect to the state after step n to those with respect to the state before it. */
static bool step_back(const sweep *s, size_t n)
{
    const api_evaluation   *e = s->e;
    const size_t            W = e->lanes, nq = e->model->nq * W, nv = e->model->nv * W;
    double                 *by_tau = s->by_torques + n * nv;
    api_step_clock          clock  = {e->query->input->deadline, e->problem};
    const dyn_step_gradient io     = {.q                   = s->q + n * nq,
                                      .qd                  = s->qd + n * nv,
                                      .tau                 = s->tau,
                                      .wrenches            = api_wrench_block(e, s->block),
                                      .multipliers_q       = s->by_q,
                                      .multipliers_qd      = s->by_qd,
                                      .method              = s->o->step.method,
                                      .h                   = s->o->step.h,
                                      .gradient_q          = s->before_q,
                                      .gradient_qd         = s->before_qd,
                                      .gradient_tau        = by_tau,
                                      .gradient_parameters = s->of_step[API_BY_PARAMETERS],
                                      .gradient_wrenches   = s->of_step[API_BY_WRENCHES],
                                      .gradient_gravity    = s->of_step[API_BY_GRAVITY],
                                      .work                = s->work,
                                      .singular            = s->singular,
                                      .unsolved            = s->unsolved,
                                      .may_continue        = api_step_may_continue,
                                      .clock               = &clock};
    gather_torques(s, n);
    if (s->o->products.present)
        api_rollout_products_step_back(&s->products, n, &io);
    else
        e->kernels->step_gradient(&e->query->scene, e->workspace, &io, 1);
    if (s->unsolved[0] == DYN_STEP_STOPPED) return false;
    memcpy(s->by_q, s->before_q, nv * sizeof *s->by_q);
    memcpy(s->by_qd, s->before_qd, nv * sizeof *s->by_qd);
    add_scene_gradients(s);
    add_torque_costs(s, n, by_tau);
    return true;
}

static bool sweep_back(const sweep *s)
{
    const api_evaluation *e = s->e;
    const size_t          W = e->lanes, nv = e->model->nv * W;
    memset(s->by_q, 0, nv * sizeof *s->by_q);
    memset(s->by_qd, 0, nv * sizeof *s->by_qd);
    memset(s->cost, 0, W * sizeof *s->cost);
    api_rollout_products_begin(&s->products);
    for (size_t n = s->steps; n-- > 0;) {
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        for (size_t lane = 0; lane < W; lane++) {
            const api_cost_state x = cost_state(s, n + 1, lane);
            s->cost[lane] += api_rollout_cost_of_state(&s->o->cost, &x);
            api_rollout_products_add_cost(&s->products, &s->o->cost, &x, lane);
        }
        if (!step_back(s, n)) return false;
    }
    return true;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const size_t W = e->lanes, bytes = e->model->nv * W * sizeof(double);
    const sweep  s = sweep_of(e, selected, block);
    double *by_q = api_result_block(e, selected, BY_Q, block), *by_qd = api_result_block(e, selected, BY_QD, block);
    double *cost = api_result_block(e, selected, COST, block);
    if (!march(&s) || !sweep_back(&s)) return false;
    if (by_q) memcpy(by_q, s.by_q, bytes);
    if (by_qd) memcpy(by_qd, s.by_qd, bytes);
    api_gradient_put_entries(e, selected, s.by_q, block);
    api_rollout_products_put(&s.products, selected);
    if (cost) memcpy(cost, s.cost, W * sizeof *cost);
    return true;
}

/* Returns the seconds of the steps of a row after the first; the weight of the operation covers only the first. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    enum { STAGES_RK4 = 4, NEWTON = 6 };
    const rollout_options *o  = selected->options;
    const double           nv = (double)q->model->nv, bodies = (double)q->model->n_bodies;
    const double           steps = (double)o->torques.n;
    double                 each  = api_rollout_gradient.weight * bodies;
    if (o->step.method == DYN_RK4) each *= STAGES_RK4;
    if (o->step.method == DYN_IMPLICIT_EULER) each += NEWTON * (API_STEP_SQUARE_WEIGHT * nv * nv + 2 * nv * nv * nv);
    const double body = q->call->api->calibration.body;
    return (double)q->rows * (steps * each - api_rollout_gradient.weight * bodies) * body +
           api_rollout_products_seconds(q, &o->products, each * body);
}

const api_operation api_rollout_gradient = {
    .name       = "rollout-gradient",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_STEP) |
             API_BIT(API_INTEGRATOR_FIELD) | API_BIT(API_TORQUES) | API_BIT(API_COST) | API_BIT(API_MULTIPLIERS_Q) |
             API_BIT(API_MULTIPLIERS_QD) | API_BIT(API_DIRECTIONS),
    .needs_options   = API_BIT(API_STEP) | API_BIT(API_TORQUES),
    .outputs         = {[BY_TORQUES] = {"gradient_torques", true, {API_ROLLOUT_STEPS, API_NV}},
                        [BY_Q]       = {"gradient_q", true, {API_NV}},
                        [BY_QD]      = {"gradient_qd", true, {API_NV}},
                        [COST]       = {"cost", false, {0}},
                        [Q_AFTER]    = {"q_after", false, {API_NQ}},
                        [QD_AFTER]   = {"qd_after", false, {API_NV}},
                        API_GRADIENT_OUTPUT_ROWS(SHARED),
                        API_ROLLOUT_PRODUCT_OUTPUT_ROWS(PRODUCTS)},
    .alone           = true,
    .one_by_one      = true,
    .weight          = 14,
    .step_kernels    = true,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .emit            = api_gradient_emit,
    .evaluate        = evaluate,
    .finish          = api_gradient_finish,
    .unordered       = true,
};
