/* rollout_cost.c - reads the cost of a rollout: see rollout_cost.h. */
#include "rollout_cost.h"
#include "api/requests/configuration/reference_positions.h"
#include "api/requests/fields/rows.h"
#include "api/robots/registry/registry.h"
#include "dynamics/model/coordinates.h"
#include "api/base/work/deadline.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

static const char *const weight_names[API_COST_TERMS]    = {"q", "qd", "tau", "final_q", "final_qd"};
static const char *const reference_names[API_COST_TERMS] = {"q_reference", "qd_reference", "tau_reference",
                                                            "q_reference", "qd_reference"};
static const char *const matrix_names[API_COST_MATRICES] = {"state_weights", "tau_weights", "final_state_weights"};

/* The matrix whose weights are added to the weights of a term. */
static const int matrix_of_term[API_COST_TERMS] = {API_COST_STATE_MATRIX, API_COST_STATE_MATRIX, API_COST_TAU_MATRIX,
                                                   API_COST_FINAL_MATRIX, API_COST_FINAL_MATRIX};

/* Reads points of nv numbers, or of `width`: `steps` of them or one. */
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
        if (!reference || (!weight && !api_node_get(cost, matrix_names[matrix_of_term[i]]))) continue;
        const bool of_q = i == API_COST_Q || i == API_COST_FINAL_Q, whole = of_q && has_positions(q, reference);
        const api_points_form points = {.name = "references", .width = whole ? q->model->nq : 0};
        if (!read_node_points(q, reference, &point_at, &points, steps, &term->reference)) return false;
        to->whole = to->whole || whole;
    }
    return true;
}

/* Reads the shapes of the matrices of weights. */
static bool read_weight_matrices(api_query *q, const api_node *cost, const api_place *pointer, api_rollout_cost *to)
{
    for (int i = 0; i < API_COST_MATRICES; i++) {
        api_cost_matrix      *matrix    = &to->matrix[i];
        const size_t          n         = i == API_COST_TAU_MATRIX ? q->model->nv : 2 * q->model->nv;
        const api_points_form form      = {.name = "rows of weights", .least = 1, .why = "", .width = n};
        const api_place       matrix_at = api_place_key(pointer, matrix_names[i]);
        const api_node       *value     = api_node_get(cost, matrix_names[i]);
        if (!value) continue;
        if (!api_points_measure(q, value, &matrix_at, &form, &matrix->points)) return false;
        if (matrix->points.n != n)
            return api_fail_at(q->problem, &matrix_at, API_WRONG_SHAPE,
                               "%zu rows of weights given, %zu expected (%s of %s)", matrix->points.n, n,
                               i == API_COST_TAU_MATRIX ? "nv" : "2 nv", q->model->name);
    }
    return true;
}

/* Refuses references of quantities that have no weight, and a cost without weights. */
static bool check_terms(const api_query *q, const api_node *cost, const api_place *pointer,
                        const api_rollout_cost *read)
{
    bool any = false;
    for (int i = 0; i < API_COST_TERMS; i++)
        any = any || read->term[i].weights.value || read->matrix[matrix_of_term[i]].points.value;
    if (!any)
        return api_fail_at(q->problem, pointer, API_MISSING_FIELD,
                           "a cost needs a weight: of q, qd, tau, final_q or final_qd, or a matrix state_weights, "
                           "tau_weights or final_state_weights");
    for (int i = 0; i <= API_COST_TAU; i++) {
        const api_place reference_at = api_place_key(pointer, reference_names[i]);
        const bool      at_end       = i < API_COST_TAU && read->term[API_COST_FINAL_Q + i].reference.value;
        if (api_node_get(cost, reference_names[i]) && !read->term[i].reference.value && !at_end)
            return api_fail_at(q->problem, &reference_at, API_UNKNOWN_FIELD,
                               "%s has an effect only with a weight %s, or with %s", reference_names[i],
                               weight_names[i], matrix_names[matrix_of_term[i]]);
    }
    return true;
}

static bool read_cost(api_query *q, const api_node *request, const api_place *up, size_t steps, api_rollout_cost *to)
{
    static const char *const names[] = {"q",
                                        "qd",
                                        "tau",
                                        "final_q",
                                        "final_qd",
                                        "q_reference",
                                        "qd_reference",
                                        "tau_reference",
                                        "state_weights",
                                        "tau_weights",
                                        "final_state_weights",
                                        NULL};
    const api_node          *cost    = api_node_get(request, "cost");
    const api_place          pointer = api_place_key(up, "cost");
    to->present                      = cost != NULL;
    return !cost || (api_check_keys(q, cost, &pointer, names, "cost") && read_terms(q, cost, &pointer, steps, to) &&
                     read_weight_matrices(q, cost, &pointer, to) && check_terms(q, cost, &pointer, to));
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

/* Sets the entry of q of each velocity of a joint with one coordinate. */
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

/* Refuses weights of q of joints with a quaternion if the references `target` have no quaternions. There are n weights,
 * of which those at i mod `width` < nv are weights of q. */
static bool check_position_weights(const api_query *q, const api_rollout_cost *cost, const double *target,
                                   const double *weight, size_t n, size_t width)
{
    const size_t    nv = q->model->nv;
    const api_place in = api_place_key(NULL, "cost"), pointer = api_place_key(&in, reference_names[API_COST_Q]);
    for (size_t i = 0; target && !cost->whole && i < n; i++)
        if (i % width < nv && weight[i] != 0 && cost->position[i % width] < 0)
            return api_fail_at(
                q->problem, &pointer, API_WRONG_SHAPE,
                "%.64s has a weight and belongs to a joint with a quaternion: give references of nq numbers, "
                "%zu, as q has",
                q->model->velocity_names[i % width], q->model->nq);
    return true;
}

/* Replaces a matrix by the mean of itself and its transpose. False: these differ by more than rounding. */
static bool symmetrize(size_t n, double *M)
{
    double most = 0;
    for (size_t i = 0; i < n * n; i++)
        most = fmax(most, fabs(M[i]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            if (fabs(M[i * n + j] - M[j * n + i]) > API_COST_ASYMMETRY * most) return false;
            M[i * n + j] = M[j * n + i] = 0.5 * M[i * n + j] + 0.5 * M[j * n + i];
        }
    return true;
}

/* Copies a matrix, whose rows and columns have the order of the request. */
static void order_weights(const api_query *q, size_t n, const double *from, double *to)
{
    const size_t nv = q->model->nv;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t row     = q->order ? (size_t)q->order[i % nv] + i / nv * nv : i,
                         column  = q->order ? (size_t)q->order[j % nv] + j / nv * nv : j;
            to[row * n + column] = from[i * n + j];
        }
}

static bool load_matrix(const api_query *q, api_rollout_cost *cost, int i)
{
    api_cost_matrix *matrix = &cost->matrix[i];
    const size_t     n = matrix->points.width, size = n * n, rows = matrix->points.batch ? q->rows : 1;
    const api_place  in = api_place_key(NULL, "cost"), pointer = api_place_key(&in, matrix_names[i]);
    const double    *rows_read = api_points_read(q, &matrix->points);
    double          *numbers   = api_take(q->pool, rows * size * sizeof *numbers);
    for (size_t row = 0; rows_read && numbers && row < rows; row++) {
        if (!api_deadline_check(q->input->deadline, q->problem)) return false;
        order_weights(q, n, rows_read + row * size, numbers + row * size);
        if (symmetrize(n, numbers + row * size)) continue;
        return api_fail_at(q->problem, &pointer, API_BAD_VALUE,
                           "the matrix is not symmetric: give the mean of the matrix and its transpose, which has the "
                           "same cost");
    }
    matrix->weight = numbers;
    return rows_read && numbers &&
           (i == API_COST_TAU_MATRIX ||
            check_position_weights(q, cost,
                                   cost->term[API_COST_Q].target != NULL ? cost->term[API_COST_Q].target
                                                                         : cost->term[API_COST_FINAL_Q].target,
                                   numbers, rows * size, n));
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
    cost->deadline = api_deadline_for_dynamics(q->input->deadline);
    for (int i = 0; i < API_COST_TERMS; i++) {
        api_cost_term *t = &cost->term[i];
        if (t->weights.value && !(t->weight = api_points_read(q, &t->weights))) return false;
        if (t->reference.value && !(t->target = load_reference(q, cost, i))) return false;
        const size_t weights = (t->weights.batch ? q->rows : 1) * q->model->nv;
        if (t->weight && (i == API_COST_Q || i == API_COST_FINAL_Q) &&
            !check_position_weights(q, cost, t->target, t->weight, weights, q->model->nv))
            return false;
    }
    for (int i = 0; i < API_COST_MATRICES; i++)
        if (cost->matrix[i].points.value && !load_matrix(q, cost, i)) return false;
    for (int i = 0; i < 2; i++)
        if (cost->multipliers[i].value && !(cost->multiplier[i] = api_points_read(q, &cost->multipliers[i])))
            return false;
    return true;
}
