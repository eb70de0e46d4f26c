/* rollout_cost.c - reads and evaluates the cost of a rollout: see rollout_cost.h. */
#include "rollout_cost.h"
#include "reference_positions.h"
#include "api/requests/fields/rows.h"
#include "api/robots/registry/registry.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/motion/tangent.h"
#include <string.h>

static const char *const weight_names[API_COST_TERMS]    = {"q", "qd", "tau", "final_q", "final_qd"};
static const char *const reference_names[API_COST_TERMS] = {"q_reference", "qd_reference", "tau_reference",
                                                            "q_reference", "qd_reference"};

/* Reads points of nv numbers, or of `width` numbers: one for each of `steps` steps, or a single one. */
static bool read_node_points(api_query *q, const api_node *value, const api_place *pointer, const api_points_form *kind,
                             size_t steps, api_points *points)
{
    const api_points_form form = {.name = kind->name, .least = 1, .why = "", .width = kind->width};
    if (!api_points_measure(q, value, pointer, &form, points)) return false;
    return points->n == 1 || points->n == steps ||
           api_fail_at(q->problem, pointer, API_WRONG_SHAPE, "%zu %s given, 1 or as many as torques, %zu, expected",
                       points->n, kind->name, steps);
}

/* True if the points of a model with quaternions have nq numbers. */
static bool has_positions(const api_query *q, const api_node *value)
{
    api_node   first = *value, inner;
    const bool batch = api_is_batch(value, 2);
    for (int level = 0; level < (batch ? 2 : 1); level++) {
        if (!api_node_is(&first, API_ARRAY) || api_node_size(&first) == 0 || !api_node_item(&first, 0, &inner))
            return false;
        first = inner;
    }
    return q->model->nq != q->model->nv && api_node_is(&first, API_ARRAY) && api_node_size(&first) == q->model->nq;
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
        if (!weight || !reference) continue;
        const bool of_q = i == API_COST_Q || i == API_COST_FINAL_Q, whole = of_q && has_positions(q, reference);
        const api_points_form points = {.name = "references", .width = whole ? q->model->nq : 0};
        if (!read_node_points(q, reference, &point_at, &points, steps, &term->reference)) return false;
        to->whole = to->whole || whole;
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
        if (value && !read_node_points(q, value, &pointer, &(api_points_form){.name = "multipliers"}, steps,
                                       &to->multipliers[i]))
            return false;
        any = any || value;
    }
    return any || api_fail(q->problem, API_MISSING_FIELD, NULL,
                           "rollout-gradient needs multipliers_q, multipliers_qd or a cost");
}

/* Finds, for each velocity of a joint with one coordinate, its entry of q. */
static bool find_positions(const api_query *q, api_rollout_cost *to)
{
    const dyn_model *m = q->model->dyn;
    to->model          = q->model;
    to->position       = api_take(q->pool, q->model->nv * sizeof *to->position);
    to->home           = api_take(q->pool, q->model->nq * sizeof *to->home);
    if (!to->position || !to->home) return false;
    memset(to->home, 0, q->model->nq * sizeof *to->home);
    for (size_t v = 0; v < q->model->nv; v++)
        to->position[v] = -1;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *body       = &m->body[i];
        const int       quaternion = dyn_quaternion_offset(body), place = api_first_position(q->model, body),
                  v = api_first_velocity(q->model, body);
        if (place < 0 || v < 0 || body->joint.mimic) continue;
        if (quaternion >= 0)
            to->home[place + quaternion + 3] = 1;
        else
            to->position[v] = place;
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

/* Refuses weights of q of joints with a quaternion beside a reference that has no quaternions. */
static bool check_position_weights(const api_query *q, const api_rollout_cost *cost, int term)
{
    const api_cost_term *t    = &cost->term[term];
    const size_t         rows = t->weights.batch ? q->rows : 1, nv = q->model->nv;
    const api_place      in = api_place_key(NULL, "cost"), pointer = api_place_key(&in, reference_names[term]);
    for (size_t i = 0; t->target && !cost->whole && i < rows * nv; i++)
        if (t->weight[t->weights.batch ? i : i % nv] != 0 && cost->position[i % nv] < 0)
            return api_fail_at(
                q->problem, &pointer, API_WRONG_SHAPE,
                "%.64s has a weight and belongs to a joint with a quaternion: give references of nq numbers, "
                "%zu, as q has",
                q->model->velocity_names[i % nv], q->model->nq);
    return true;
}

/* Reads the references of a term. */
static const double *load_reference(const api_query *q, const api_rollout_cost *cost, int term)
{
    const api_place in = api_place_key(NULL, "cost"), pointer = api_place_key(&in, reference_names[term]);
    const bool      of_q = term == API_COST_Q || term == API_COST_FINAL_Q;
    return of_q && cost->whole ? api_reference_positions_read(q, &cost->term[term].reference, &pointer)
                               : api_points_read(q, &cost->term[term].reference);
}

bool api_rollout_cost_load(const api_query *q, api_rollout_cost *cost)
{
    for (int i = 0; i < API_COST_TERMS; i++) {
        api_cost_term *t = &cost->term[i];
        if (t->weights.value && !(t->weight = api_points_read(q, &t->weights))) return false;
        if (t->reference.value && !(t->target = load_reference(q, cost, i))) return false;
        if (t->weight && (i == API_COST_Q || i == API_COST_FINAL_Q) && !check_position_weights(q, cost, i))
            return false;
    }
    for (int i = 0; i < 2; i++)
        if (cost->multipliers[i].value && !(cost->multiplier[i] = api_points_read(q, &cost->multipliers[i])))
            return false;
    return true;
}

/* Returns the point of node `node`, counted from 0, of a row; a single point serves for all nodes. */
static const double *point_of(const api_points *points, const double *numbers, size_t row, size_t node)
{
    return api_points_of(points, numbers, row) + (points->n == 1 ? 0 : node * points->width);
}

/* Adds a term of x. Returns its cost. */
static double add_term(const api_cost_term *t, const api_cost_state *s, size_t node, const double *x, double *by_x)
{
    double sum = 0;
    if (!t->weight) return 0;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    const double *target = t->target ? point_of(&t->reference, t->target, s->row, node) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        if (weight[v] == 0) continue;
        const double distance = x[v * s->W] - (target ? target[v] : 0), slope = weight[v] * distance;
        sum += 0.5 * slope * distance;
        by_x[v * s->W] += slope;
    }
    return sum;
}

/* The term of q of one joint with a quaternion: its weights, difference and derivative. */
typedef struct turned_term {
    size_t n, v; /* velocities, and the first one */
    double weight[DYN_TANGENT_MOST], dx[DYN_TANGENT_MOST], J[DYN_TANGENT_MOST][DYN_TANGENT_MOST];
} turned_term;

/* Returns false if body i has no quaternion, or its position has no weight. */
static bool turned_term_of(const api_rollout_cost *cost, int term, const api_cost_state *s, size_t i, turned_term *to)
{
    const api_cost_term *t     = &cost->term[term];
    const dyn_body      *body  = &cost->model->dyn->body[i];
    const int            place = api_first_position(cost->model, body), v = api_first_velocity(cost->model, body);
    if (!t->weight || dyn_quaternion_offset(body) < 0 || place < 0 || v < 0) return false;
    const double *weight = api_points_of(&t->weights, t->weight, s->row) + v;
    const double *reference =
        t->target && cost->whole ? point_of(&t->reference, t->target, s->row, s->node - 1) : cost->home;
    bool any = false;
    to->n    = (size_t)dyn_joint_nv(body->joint.kind);
    to->v    = (size_t)v;
    for (size_t k = 0; k < to->n; k++) {
        to->weight[k] = weight[k];
        any           = any || weight[k] != 0;
    }
    if (!any) return false;
    dyn_tangent_difference(body, reference + place, s->q + (size_t)place * s->W, s->W, to->dx);
    dyn_tangent_derivative(body, to->dx, to->J);
    return true;
}

/* Adds the term of q of joints with a quaternion: 1/2 dx^T w dx, with the derivative J^T w dx. */
static double add_turned_terms(const api_rollout_cost *cost, int term, const api_cost_state *s)
{
    double      sum = 0;
    turned_term x;
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        if (!turned_term_of(cost, term, s, i, &x)) continue;
        for (size_t k = 0; k < x.n; k++) {
            sum += 0.5 * x.weight[k] * x.dx[k] * x.dx[k];
            for (size_t c = 0; c < x.n; c++)
                s->by_q[(x.v + c) * s->W] += x.J[k][c] * x.weight[k] * x.dx[k];
        }
    }
    return sum;
}

/* Adds the term of q. */
static double add_position_term(const api_rollout_cost *cost, int term, const api_cost_state *s)
{
    const api_cost_term *t   = &cost->term[term];
    double               sum = 0;
    if (!t->weight) return 0;
    const double *weight = api_points_of(&t->weights, t->weight, s->row);
    const double *target = t->target ? point_of(&t->reference, t->target, s->row, s->node - 1) : NULL;
    for (size_t v = 0; v < s->nv; v++) {
        if (weight[v] == 0 || cost->position[v] < 0) continue;
        const size_t place    = (size_t)cost->position[v];
        const double distance = s->q[place * s->W] - (target ? target[cost->whole ? place : v] : 0),
                     slope    = weight[v] * distance;
        sum += 0.5 * slope * distance;
        s->by_q[v * s->W] += slope;
    }
    return sum + add_turned_terms(cost, term, s);
}

double api_rollout_cost_of_state(const api_rollout_cost *cost, const api_cost_state *s)
{
    const bool last     = s->node == s->steps;
    double    *slopes[] = {s->by_q, s->by_qd};
    double     sum      = add_position_term(cost, API_COST_Q, s);
    sum += add_term(&cost->term[API_COST_QD], s, s->node - 1, s->qd, s->by_qd);
    if (last) sum += add_position_term(cost, API_COST_FINAL_Q, s);
    if (last) sum += add_term(&cost->term[API_COST_FINAL_QD], s, s->node - 1, s->qd, s->by_qd);
    for (int i = 0; i < 2; i++) {
        const api_points *points = &cost->multipliers[i];
        if (!cost->multiplier[i] || (points->n == 1 && !last))
            continue; /* a single point belongs to the last node only */
        const double *multipliers = point_of(points, cost->multiplier[i], s->row, s->node - 1);
        for (size_t v = 0; v < s->nv; v++)
            slopes[i][v * s->W] += multipliers[v];
    }
    return sum;
}

double api_rollout_cost_of_torques(const api_rollout_cost *cost, const api_cost_state *s, const double *tau,
                                   double *by_tau)
{
    return add_term(&cost->term[API_COST_TAU], s, s->node, tau, by_tau);
}

/* Adds the weights of a term to the diagonal of a matrix, whose rows are `width` apart; 0: the diagonal itself. Weights
 * of q of joints with a quaternion are left out; `position` is cost->position for the term of q, else NULL. */
static void add_weights(const api_rollout_cost *cost, int term, size_t row, const int *position, double *matrix,
                        size_t width)
{
    const api_cost_term *t = &cost->term[term];
    if (!t->weight) return;
    const double *weight = api_points_of(&t->weights, t->weight, row);
    for (size_t v = 0; v < cost->model->nv; v++)
        if (!position || position[v] >= 0) matrix[v * (width + 1)] += weight[v];
}

/* Adds J^T w J of joints with a quaternion, with J of dynamics/motion/tangent.h. */
static void add_turned_weights(const api_rollout_cost *cost, int term, const api_cost_state *s, double *matrix,
                               size_t width)
{
    turned_term x;
    for (size_t i = 0; i < cost->model->dyn->n_bodies; i++) {
        if (!turned_term_of(cost, term, s, i, &x)) continue;
        for (size_t k = 0; k < x.n; k++)
            for (size_t r = 0; r < x.n; r++)
                for (size_t c = 0; c < x.n; c++)
                    matrix[(x.v + r) * width + x.v + c] += x.J[k][r] * x.weight[k] * x.J[k][c];
    }
}

void api_rollout_cost_add_curvature(const api_rollout_cost *cost, const api_cost_state *s, double *matrix, size_t width)
{
    double *of_qd = matrix + s->nv * (width + 1);
    for (int term = API_COST_Q; term <= API_COST_FINAL_QD; term++) {
        const bool final = term >= API_COST_FINAL_Q, of_q = term == API_COST_Q || term == API_COST_FINAL_Q;
        if (term == API_COST_TAU || (final && s->node < s->steps)) continue;
        add_weights(cost, term, s->row, of_q ? cost->position : NULL, of_q ? matrix : of_qd, width);
        if (of_q) add_turned_weights(cost, term, s, matrix, width);
    }
}

void api_rollout_cost_add_torque_curvature(const api_rollout_cost *cost, size_t row, double *diagonal)
{
    add_weights(cost, API_COST_TAU, row, NULL, diagonal, 0);
}
