/* rollout_cost.c - reads and evaluates the cost of a rollout: see rollout_cost.h. */
#include "rollout_cost.h"
#include "api/robots/model/registry.h"
#include <string.h>

static const char *const weight_names[API_COST_TERMS]    = {"q", "qd", "tau", "final_q", "final_qd"};
static const char *const reference_names[API_COST_TERMS] = {"q_reference", "qd_reference", "tau_reference",
                                                            "q_reference", "qd_reference"};

/* Reads points of nv numbers: `steps` of them or one. */
static bool read_node_points(api_query *q, const api_node *value, const api_place *pointer, const char *name,
                             size_t steps, api_points *points)
{
    const api_points_form form = {.name = name, .least = 1, .why = ""};
    if (!api_points_measure(q, value, pointer, &form, points)) return false;
    return points->n == 1 || points->n == steps ||
           api_fail_at(q->problem, pointer, API_WRONG_SHAPE, "%zu %s given, 1 or as many as torques, %zu, expected",
                       points->n, name, steps);
}

static bool read_terms(api_query *q, const api_node *cost, const api_place *pointer, size_t steps, api_rollout_cost *to)
{
    const api_points_form form = {.name = "weights", .least = 0, .why = "", .spread = true};
    for (int i = 0; i < API_COST_TERMS; i++) {
        const api_place weight_at = api_place_key(pointer, weight_names[i]),
                        point_at  = api_place_key(pointer, reference_names[i]);
        const api_node *weight    = api_node_get(cost, weight_names[i]),
                       *reference = api_node_get(cost, reference_names[i]);
        api_cost_term *term       = &to->term[i];
        if (weight && !api_points_measure(q, weight, &weight_at, &form, &term->weights)) return false;
        if (weight && reference && !read_node_points(q, reference, &point_at, "references", steps, &term->reference))
            return false;
    }
    return true;
}

/* Refuses references of quantities that have no weight, and a cost without weights. */
static bool check_terms(const api_query *q, const api_node *cost, const api_place *pointer,
                        const api_rollout_cost *read)
{
    bool any = false;
    for (int i = 0; i < API_COST_TERMS; i++)
        any = any || read->term[i].weights.value;
    if (!any)
        return api_fail_at(q->problem, pointer, API_MISSING_FIELD,
                           "a cost needs a weight: of q, qd, tau, final_q or final_qd");
    for (int i = 0; i <= API_COST_TAU; i++) {
        const api_place reference_at = api_place_key(pointer, reference_names[i]);
        const bool      at_end       = i < API_COST_TAU && read->term[API_COST_FINAL_Q + i].weights.value;
        if (api_node_get(cost, reference_names[i]) && !read->term[i].weights.value && !at_end)
            return api_fail_at(q->problem, &reference_at, API_UNKNOWN_FIELD, "%s has an effect only with a weight %s",
                               reference_names[i], weight_names[i]);
    }
    return true;
}

static bool read_cost(api_query *q, const api_node *request, const api_place *up, size_t steps, api_rollout_cost *to)
{
    static const char *const names[] = {"q",           "qd",           "tau",           "final_q", "final_qd",
                                        "q_reference", "qd_reference", "tau_reference", NULL};
    const api_node          *cost    = api_node_get(request, "cost");
    const api_place          pointer = api_place_key(up, "cost");
    to->present                      = cost != NULL;
    return !cost || (api_check_keys(q, cost, &pointer, names, "cost") && read_terms(q, cost, &pointer, steps, to) &&
                     check_terms(q, cost, &pointer, to));
}

static bool read_state_multipliers(api_query *q, const api_node *request, const api_place *up, size_t steps,
                                   api_rollout_cost *to)
{
    static const char *const names[2] = {"multipliers_q", "multipliers_qd"};
    bool                     any      = to->present;
    for (int i = 0; i < 2; i++) {
        const api_node *value   = api_node_get(request, names[i]);
        const api_place pointer = api_place_key(up, names[i]);
        if (value && !read_node_points(q, value, &pointer, "multipliers", steps, &to->multipliers[i])) return false;
        any = any || value;
    }
    return any || api_fail(q->problem, API_MISSING_FIELD, NULL,
                           "rollout-gradient needs multipliers_q, multipliers_qd or a cost");
}

/* Sets the entry of q of each velocity of a joint with one coordinate. */
static bool find_positions(const api_query *q, api_rollout_cost *to)
{
    const dyn_model *m = q->scene.model ? q->scene.model : q->model->dyn;
    to->position       = api_take(q->pool, q->model->nv * sizeof *to->position);
    if (!to->position) return false;
    for (size_t v = 0; v < q->model->nv; v++)
        to->position[v] = -1;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body_joint *j = &m->body[i].joint;
        if (!j->mimic && !dyn_joint_has_quaternion(j->kind)) to->position[j->v] = j->q;
    }
    return true;
}

bool api_rollout_cost_read(api_query *q, const api_node *request, const api_place *up, size_t steps,
                           api_rollout_cost *cost)
{
    *cost = (api_rollout_cost){.present = false};
    return read_cost(q, request, up, steps, cost) && read_state_multipliers(q, request, up, steps, cost) &&
           find_positions(q, cost);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Refuses weights of q of joints with a quaternion, whose difference from a reference is no difference of numbers. */
static bool check_position_weights(const api_query *q, const api_rollout_cost *cost, int term)
{
    const api_cost_term *t    = &cost->term[term];
    const size_t         rows = t->weights.batch ? q->rows : 1, nv = q->model->nv;
    for (size_t i = 0; i < rows * nv; i++) {
        const api_place in = api_place_key(NULL, "cost"), pointer = api_place_key(&in, weight_names[term]);
        if (t->weight[i] == 0 || cost->position[i % nv] >= 0) continue;
        return api_fail_at(
            q->problem, &pointer, API_NOT_SUPPORTED,
            "%.64s belongs to a joint with a quaternion, whose position has no quadratic cost: give it the "
            "weight 0, or use multipliers_q",
            q->model->velocity_names[i % nv]);
    }
    return true;
}

bool api_rollout_cost_load(const api_query *q, api_rollout_cost *cost)
{
    for (int i = 0; i < API_COST_TERMS; i++) {
        api_cost_term *t = &cost->term[i];
        if (t->weights.value && !(t->weight = api_points_read(q, &t->weights))) return false;
        if (t->reference.value && !(t->target = api_points_read(q, &t->reference))) return false;
        if (t->weight && (i == API_COST_Q || i == API_COST_FINAL_Q) && !check_position_weights(q, cost, i))
            return false;
    }
    for (int i = 0; i < 2; i++)
        if (cost->multipliers[i].value && !(cost->multiplier[i] = api_points_read(q, &cost->multipliers[i])))
            return false;
    return true;
}

/* The point of node `node`, from 0, of a row; a single point is that of all nodes. */
static const double *point_of(const api_points *points, const double *numbers, size_t row, size_t node)
{
    return api_points_of(points, numbers, row) + (points->n == 1 ? 0 : node * points->width);
}

/* Adds a term of x, whose entry v is at x[entry[v] W], or x[v W] without `entry`. Returns its cost. */
static double add_term(const api_cost_term *t, const api_cost_state *s, size_t node, const int *entry, const double *x,
                       double *by_x)
{
    double sum = 0;
    if (!t->weight) return 0;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    const double *target = t->target ? point_of(&t->reference, t->target, s->row, node) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        if (weight[v] == 0) continue;
        const size_t place    = entry ? (size_t)entry[v] : v;
        const double distance = x[place * s->W] - (target ? target[v] : 0), slope = weight[v] * distance;
        sum += 0.5 * slope * distance;
        by_x[v * s->W] += slope;
    }
    return sum;
}

double api_rollout_cost_of_state(const api_rollout_cost *cost, const api_cost_state *s)
{
    const bool last     = s->node == s->steps;
    double    *slopes[] = {s->by_q, s->by_qd};
    double     sum      = add_term(&cost->term[API_COST_Q], s, s->node - 1, cost->position, s->q, s->by_q);
    sum += add_term(&cost->term[API_COST_QD], s, s->node - 1, NULL, s->qd, s->by_qd);
    if (last) sum += add_term(&cost->term[API_COST_FINAL_Q], s, s->node - 1, cost->position, s->q, s->by_q);
    if (last) sum += add_term(&cost->term[API_COST_FINAL_QD], s, s->node - 1, NULL, s->qd, s->by_qd);
    for (int i = 0; i < 2; i++) {
        const api_points *points = &cost->multipliers[i];
        if (!cost->multiplier[i] || (points->n == 1 && !last)) continue; /* a single point is that of the end */
        const double *multipliers = point_of(points, cost->multiplier[i], s->row, s->node - 1);
        for (size_t v = 0; v < s->nv; v++)
            slopes[i][v * s->W] += multipliers[v];
    }
    return sum;
}

double api_rollout_cost_of_torques(const api_rollout_cost *cost, const api_cost_state *s, const double *tau,
                                   double *by_tau)
{
    return add_term(&cost->term[API_COST_TAU], s, s->node, NULL, tau, by_tau);
}

static void add_weights(const api_rollout_cost *cost, int term, size_t row, size_t nv, double *diagonal)
{
    const api_cost_term *t = &cost->term[term];
    if (!t->weight) return;
    const double *weight = api_points_of(&t->weights, t->weight, row);
    for (size_t v = 0; v < nv; v++)
        diagonal[v] += weight[v];
}

void api_rollout_cost_add_curvature(const api_rollout_cost *cost, const api_cost_state *s, double *diagonal)
{
    add_weights(cost, API_COST_Q, s->row, s->nv, diagonal);
    add_weights(cost, API_COST_QD, s->row, s->nv, diagonal + s->nv);
    if (s->node < s->steps) return;
    add_weights(cost, API_COST_FINAL_Q, s->row, s->nv, diagonal);
    add_weights(cost, API_COST_FINAL_QD, s->row, s->nv, diagonal + s->nv);
}

void api_rollout_cost_add_torque_curvature(const api_rollout_cost *cost, size_t row, size_t nv, double *diagonal)
{
    add_weights(cost, API_COST_TAU, row, nv, diagonal);
}
