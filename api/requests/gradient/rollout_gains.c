/* rollout_gains.c - evaluates the cost of a rollout and runs the backward pass of iLQR over its nodes: see
 * rollout_gains.h.
 *
 * The backward pass of a row goes from the last node to the first. V is the value function of the steps after a node.
 * Before the step of node n is processed, the cost of the state after that step is added to V. If Q_uu of a node is not
 * positive definite, the damping grows and the pass begins again. */
#include "rollout_gains.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/free_coordinates.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/service/http/call.h"
#include "api/codec/number.h"
#include "dynamics/riccati.h"
#include <math.h>
#include <string.h>

#define BACKWARD_OUTPUTS                                                                                               \
    (API_BIT(API_GAINS) | API_BIT(API_FEED_FORWARD_TORQUES) | API_BIT(API_VALUE_GRADIENT) |                            \
     API_BIT(API_VALUE_HESSIAN) | API_BIT(API_EXPECTED_CHANGES) | API_BIT(API_USED_DAMPING))

/* --- request ------------------------------------------------------------------------------------------------------ */

/* Refuses outputs that need a cost, or a field without an output that uses it. */
static bool check_cost_outputs(api_query *q, const api_selection *selected, const api_node *request,
                               const api_place *up, const api_rollout_gains *g)
{
    static const char *const backward[] = {"damping", "free"};
    const api_set            all        = BACKWARD_OUTPUTS | API_BIT(API_NODE_COSTS);
    const api_place          cost_at    = api_place_key(up, "cost");
    for (size_t output = API_GAINS; output <= API_NODE_COSTS; output++)
        if (!g->cost.present && (selected->outputs >> output & 1))
            return api_fail_output(q, selected, output, request, up, "this output needs a cost in the request");
    if (g->cost.present && !(selected->outputs & all))
        return api_fail_at(q->problem, &cost_at, API_UNKNOWN_FIELD,
                           "no output uses the cost: ask for gains, feed_forward, expected_changes or costs");
    for (size_t i = 0; i < sizeof backward / sizeof *backward; i++) {
        const api_place pointer = api_place_key(up, backward[i]);
        if (api_node_get(request, backward[i]) && !g->backward)
            return api_fail_at(q->problem, &pointer, API_UNKNOWN_FIELD,
                               "%s has an effect on the gains only: ask for them", backward[i]);
    }
    return true;
}

static bool read_pass_damping(const api_query *q, const api_node *request, const api_place *up, double *damping)
{
    const api_node *value   = api_node_get(request, "damping");
    const api_place pointer = api_place_key(up, "damping");
    *damping                = 0;
    if (!value) return true;
    if (!api_read_number(q, value, &pointer, damping)) return false;
    return *damping >= 0 || api_fail_at(q->problem, &pointer, API_BAD_VALUE,
                                        "%s given, a damping of at least 0 expected", API_NUMBER_TEXT(*damping));
}

/* Lists the coordinates that are not free. */
static bool read_driven(api_query *q, const api_node *request, const api_place *up, api_rollout_gains *g)
{
    const api_place pointer = api_place_key(up, "free");
    if (api_node_get(request, "free") && !api_read_free(q, request, up)) return false;
    g->driven = api_take(q->pool, q->model->nv * sizeof *g->driven);
    if (!g->driven) return false;
    for (size_t v = 0; v < q->model->nv; v++)
        if (!q->driven || q->driven[v]) g->driven[g->n_driven++] = (int)v;
    return g->n_driven > 0 ||
           api_fail_at(q->problem, &pointer, API_BAD_VALUE, "all coordinates are free: there is no torque to choose");
}

bool api_rollout_gains_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                            size_t steps, api_rollout_gains *g)
{
    *g = (api_rollout_gains){.backward = false};
    if (api_node_get(request, "cost")) {
        if (!api_rollout_cost_read(q, request, up, steps, &g->cost)) return false;
        if (!api_node_get(request, "outputs"))
            selected->outputs = API_BIT(API_STEP_Q_AFTER) | API_BIT(API_STEP_QD_AFTER) | API_BIT(API_GAINS) |
                                API_BIT(API_FEED_FORWARD_TORQUES) | API_BIT(API_EXPECTED_CHANGES) |
                                API_BIT(API_NODE_COSTS);
    }
    g->backward = (selected->outputs & BACKWARD_OUTPUTS) != 0;
    if (g->cost.present) selected->all_in_lanes = true;
    return check_cost_outputs(q, selected, request, up, g) && read_pass_damping(q, request, up, &g->damping) &&
           read_driven(q, request, up, g);
}

/* Reserves lanes for an output of the steps that the request does not select. */
static bool take_output(api_plan *plan, api_selection *selected, size_t output)
{
    const size_t entries = api_output_entries(plan->query->model, selected, output);
    if (!(selected->outputs & API_BIT(output)) && !selected->result[output])
        selected->result[output] = api_take_lanes(plan, entries);
    return (selected->outputs & API_BIT(output)) || selected->result[output];
}

bool api_rollout_gains_prepare(api_plan *plan, api_selection *selected, api_rollout_gains *g)
{
    if (!g->cost.present) return true;
    ((api_step_options *)selected->options)->differentiates = g->backward;
    return api_rollout_cost_load(plan->query, &g->cost) && take_output(plan, selected, API_STEP_Q_AFTER) &&
           take_output(plan, selected, API_STEP_QD_AFTER) &&
           (!g->backward ||
            (take_output(plan, selected, API_STEP_STATE_MATRIX) && take_output(plan, selected, API_STEP_INPUT_MATRIX)));
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/* The backward pass of one row. Matrices have the form of riccati.h. */
typedef struct pass {
    const api_evaluation    *e;
    const api_selection     *selected;
    const api_rollout_gains *g;
    size_t                   row, steps;
    double                  *by_q, *by_qd, *by_tau; /* derivatives of the cost of a node, in lane 0 of the lanes */
    double                  *scratch;               /* scratch of the cost */
    double                  *A, *B, *Q_ux, *Q_uu, *V, *K, *work;
    double                   damping, scale;
    bool                     indefinite;
} pass;

/* Sets the arrays of a pass from `memory` on. Returns how many numbers they have. */
static size_t place_pass(pass *p, double *memory)
{
    const size_t nv = p->e->model->nv, lanes = nv * p->e->lanes, n = 2 * nv + 1, m = p->g->n_driven,
                 width_n = dyn_riccati_width(n), width_m = dyn_riccati_width(m);
    const struct part {
        double **array;
        size_t   entries;
    } parts[]  = {{&p->A, n * width_n},
                  {&p->B, n * width_m},
                  {&p->Q_ux, m * width_n},
                  {&p->Q_uu, m * width_m},
                  {&p->V, n * width_n},
                  {&p->K, m * width_n},
                  {&p->work, dyn_riccati_work(n, m)},
                  {&p->by_q, lanes},
                  {&p->by_qd, lanes},
                  {&p->by_tau, lanes},
                  {&p->scratch, API_COST_SCRATCH * nv}};
    size_t sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (memory) *parts[i].array = memory + sum;
        sum += dyn_riccati_width(parts[i].entries);
    }
    return sum;
}

static size_t state_of_node(const pass *p, size_t node)
{
    return p->row * p->steps + node;
}

static double *output_lane(const pass *p, size_t output, size_t node)
{
    double *lanes = p->selected->result[output];
    return lanes ? api_state_lane(p->e, lanes, api_output_entries(p->e->model, p->selected, output),
                                  state_of_node(p, node))
                 : NULL;
}

/* --- the cost ----------------------------------------------------------------------------------------------------- */

/* Sets up the state after step `node` - 1 for the functions of the cost. Its derivatives are zero. */
static api_cost_state state_after_step(const pass *p, size_t node)
{
    const api_evaluation *e  = p->e;
    const size_t          nv = e->model->nv, bytes = nv * e->lanes * sizeof *p->by_q;
    const bool            last = node == p->steps;
    memset(p->by_q, 0, bytes);
    memset(p->by_qd, 0, bytes);
    const double *q  = last ? output_lane(p, API_STEP_Q_AFTER, node - 1)
                            : api_state_lane(e, e->plan->state[API_Q], e->model->nq, state_of_node(p, node)),
                 *qd = last ? output_lane(p, API_STEP_QD_AFTER, node - 1)
                            : api_state_lane(e, e->plan->state[API_QD], nv, state_of_node(p, node));
    return (api_cost_state){.row     = p->row,
                            .node    = node,
                            .steps   = p->steps,
                            .nv      = nv,
                            .W       = e->lanes,
                            .q       = q,
                            .qd      = qd,
                            .by_q    = p->by_q,
                            .by_qd   = p->by_qd,
                            .scratch = p->scratch};
}

/* Returns the cost of the torques of step n, and writes its derivatives. */
static double cost_of_torques(const pass *p, size_t n)
{
    const api_evaluation *e  = p->e;
    const size_t          nv = e->model->nv;
    const api_cost_state  x  = {
          .row = p->row, .node = n, .steps = p->steps, .nv = nv, .W = e->lanes, .scratch = p->scratch};
    memset(p->by_tau, 0, nv * e->lanes * sizeof *p->by_tau);
    return api_rollout_cost_of_torques(&p->g->cost, &x,
                                       api_state_lane(e, e->plan->state[API_TAU], nv, state_of_node(p, n)), p->by_tau);
}

static void put_costs(const pass *p)
{
    for (size_t n = 0; n < p->steps; n++) {
        const api_cost_state x          = state_after_step(p, n + 1);
        double              *to         = output_lane(p, API_NODE_COSTS, n);
        const double         of_torques = cost_of_torques(p, n);
        if (to) *to = of_torques + api_rollout_cost_of_state(&p->g->cost, &x);
    }
}

/* --- the backward pass -------------------------------------------------------------------------------------------- */

/* Adds the cost of the state after step n to V. */
static void add_state_cost(const pass *p, size_t n)
{
    const size_t         nv = p->e->model->nv, last = 2 * nv, width = dyn_riccati_width(last + 1), W = p->e->lanes;
    const api_cost_state x = state_after_step(p, n + 1);
    api_rollout_cost_of_state(&p->g->cost, &x);
    api_rollout_cost_add_curvature(&p->g->cost, &x, p->V, width);
    for (size_t i = 0; i < last; i++) {
        const double slope = i < nv ? p->by_q[i * W] : p->by_qd[(i - nv) * W];
        p->V[i * width + last] += slope;
        p->V[last * width + i] += slope;
    }
}

/* Copies A, and the columns of B that belong to the torques that are optimised. Sets the second derivatives of the cost
 * with respect to these torques. */
static void load_node(const pass *p, size_t n)
{
    const size_t nv = p->e->model->nv, last = 2 * nv, m = p->g->n_driven, W = p->e->lanes,
                 width = dyn_riccati_width(last + 1), width_m = dyn_riccati_width(m);
    const double *A = output_lane(p, API_STEP_STATE_MATRIX, n), *B = output_lane(p, API_STEP_INPUT_MATRIX, n);
    cost_of_torques(p, n);
    memset(p->Q_ux, 0, m * width * sizeof *p->Q_ux);
    memset(p->Q_uu, 0, m * width_m * sizeof *p->Q_uu);
    for (size_t i = 0; i < last; i++) {
        for (size_t j = 0; j < last; j++)
            p->A[i * width + j] = A[(i * last + j) * W];
        for (size_t j = 0; j < m; j++)
            p->B[i * width_m + j] = B[(i * nv + (size_t)p->g->driven[j]) * W];
    }
    for (size_t j = 0; j < m; j++) {
        const size_t v = (size_t)p->g->driven[j];
        for (size_t k = 0; k < m; k++)
            p->Q_uu[j * width_m + k] =
                api_rollout_cost_torque_curvature(&p->g->cost, p->row, v, (size_t)p->g->driven[k]);
        p->Q_ux[j * width + last] = p->by_tau[v * W];
    }
}

/* Copies the results of node n to their outputs. Returns the sum of all numbers, which is not finite if one of them is
 * not. */
static double put_node(const pass *p, size_t n)
{
    const size_t nv = p->e->model->nv, last = 2 * nv, m = p->g->n_driven, W = p->e->lanes,
                 width = dyn_riccati_width(last + 1);
    double *gains = output_lane(p, API_GAINS, n), *forward = output_lane(p, API_FEED_FORWARD_TORQUES, n),
           *gradient = output_lane(p, API_VALUE_GRADIENT, n), *hessian = output_lane(p, API_VALUE_HESSIAN, n),
           *change = output_lane(p, API_EXPECTED_CHANGES, n), slope = 0, square = 0, sum = 0;
    for (size_t v = 0; v < nv; v++) {
        for (size_t i = 0; gains && i < last; i++)
            gains[(v * last + i) * W] = 0;
        if (forward) forward[v * W] = 0;
    }
    for (size_t j = 0; j < m; j++) {
        const size_t  v = (size_t)p->g->driven[j];
        const double *K = p->K + j * width;
        for (size_t i = 0; i < last; i++) {
            if (gains) gains[(v * last + i) * W] = K[i];
            sum += fabs(K[i]);
        }
        if (forward) forward[v * W] = K[last];
        slope += K[last] * p->Q_ux[j * width + last];
        square += K[last] * K[last];
    }
    for (size_t i = 0; i < last; i++) {
        for (size_t j = 0; j < last; j++) {
            if (hessian) hessian[(i * last + j) * W] = p->V[i * width + j];
            sum += fabs(p->V[i * width + j]);
        }
        if (gradient) gradient[i * W] = p->V[i * width + last];
        sum += fabs(p->V[i * width + last]);
    }
    if (change) change[0] = slope;
    if (change) change[W] = -0.5 * (slope + p->damping * square);
    return sum + fabs(slope) + square;
}

/* Fails the row: `state` is its first one. The result is that of api_fail_state. */
static bool fail_row(const pass *p, api_code code, size_t n, const char *text)
{
    return api_fail_state(p->e, code, API_COST, state_of_node(p, 0), "step %zu: %s", n, text);
}

typedef enum pass_end { PASSED, INDEFINITE, FAILED, STOPPED } pass_end;

/* Goes back over all nodes with one value of the damping. If it returns FAILED or STOPPED, *good is the result for the
 * row. */
static pass_end go_back(pass *p, bool *good)
{
    const size_t      nv = p->e->model->nv, n = 2 * nv + 1, width = dyn_riccati_width(n);
    const dyn_riccati io = {.n          = n,
                            .m          = p->g->n_driven,
                            .A          = p->A,
                            .B          = p->B,
                            .Q_ux       = p->Q_ux,
                            .Q_uu       = p->Q_uu,
                            .damping    = p->damping,
                            .V          = p->V,
                            .K          = p->K,
                            .work       = p->work,
                            .scale      = &p->scale,
                            .indefinite = &p->indefinite};
    memset(p->V, 0, n * width * sizeof *p->V);
    for (size_t node = p->steps; node-- > 0;) {
        add_state_cost(p, node);
        load_node(p, node);
        p->e->plan->target->riccati(&p->e->query->scene, NULL, &io, 1);
        *good = api_deadline_check(p->e->query->input->deadline, p->e->problem);
        if (!*good) return STOPPED;
        if (p->indefinite && isfinite(p->scale) && p->scale > 0) return INDEFINITE;
        if (p->indefinite && p->scale == 0) {
            *good = fail_row(p, API_BAD_VALUE, node, "the torques have neither a cost nor an effect on it: weigh tau");
            return FAILED;
        }
        if (p->indefinite || !isfinite(put_node(p, node))) {
            *good =
                fail_row(p, API_RESULT_NOT_FINITE, node, "the gains are not finite: figures of the cost are too large");
            return FAILED;
        }
    }
    return PASSED;
}

static void put_damping(const pass *p)
{
    for (size_t n = 0; n < p->steps; n++) {
        double *to = output_lane(p, API_USED_DAMPING, n);
        if (to) *to = p->damping;
    }
}

/* Repeats the pass until every Q_uu is positive definite: the damping grows tenfold, from at least 1e-8 of the largest
 * entry of the diagonal of the Q_uu that is not. */
static bool pass_row(pass *p)
{
    enum { MOST_TRIALS = 40 };
    bool good  = true;
    p->damping = p->g->damping;
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        const pass_end end = go_back(p, &good);
        if (end == PASSED) put_damping(p);
        if (end != INDEFINITE) return good;
        p->damping = fmax(10 * p->damping, 1e-8 * p->scale);
    }
    return fail_row(p, API_BAD_VALUE, 0,
                    "no damping makes the second derivatives by the torques positive: "
                    "weights must not be negative");
}

/* --- all rows ----------------------------------------------------------------------------------------------------- */

/* Data of the tasks of all slots: a pass with its arrays for each slot. */
typedef struct job {
    const api_evaluation *e;
    pass                 *slots;
} job;

static bool evaluate_row(void *arg, size_t slot, size_t row, api_problem *problem)
{
    const job           *j      = arg;
    api_evaluation       e      = *j->e;
    pass                 p      = j->slots[slot];
    const unsigned char *failed = api_failed_rows_marks(e.plan->failed_rows, 0);
    e.problem                   = problem;
    e.evaluating                = 0;
    p.e                         = &e;
    p.row                       = row;
    if (failed && failed[state_of_node(&p, 0)]) return true;
    put_costs(&p);
    return !p.g->backward || pass_row(&p);
}

static bool take_passes(job *j, size_t slots, const pass *one)
{
    api_pool    *pool = j->e->query->pool;
    pass         p    = *one;
    const size_t each = place_pass(&p, NULL), last = 2 * p.e->model->nv, width = dyn_riccati_width(last + 1);
    j->slots = api_take(pool, slots * sizeof *j->slots);
    for (size_t i = 0; j->slots && i < slots; i++) {
        double *memory = api_take(pool, each * sizeof *memory);
        if (!memory) return false;
        j->slots[i] = *one;
        memset(memory, 0, each * sizeof *memory);
        place_pass(&j->slots[i], memory);
        j->slots[i].A[last * width + last] = 1;
    }
    return j->slots != NULL;
}

bool api_rollout_gains_finish(const api_evaluation *e, const api_selection *selected, const api_rollout_gains *g)
{
    const api_query   *q        = e->query;
    const api_parallel parallel = api_query_parallel(q);
    const size_t       rows = api_answered_rows(q), slots = api_parallel_slots(&parallel, rows);
    job                j   = {.e = e};
    const pass         one = {.e = e, .selected = selected, .g = g, .steps = q->samples};
    if (!g->cost.present || rows == 0) return true;
    if (!take_passes(&j, slots, &one) || !api_run_parallel(&parallel, slots, rows, evaluate_row, &j)) return false;
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}

double api_rollout_gains_seconds(const api_query *q, const api_rollout_gains *g)
{
    const double nv = (double)q->model->nv, m = (double)g->n_driven;
    /* Multiplications of riccati.c for one node, in units of inverse dynamics per body: about 100 multiplications. */
    const double each = g->backward ? 0.003 * (16 * nv * nv * nv + 12 * nv * nv * m + 4 * nv * m * m) : 0;
    return (double)api_states(q) * each * q->call->api->calibration.body;
}
