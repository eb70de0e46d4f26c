/* rollout_feedback.c - reads the gains and reference states of a rollout with feedback: see rollout_feedback.h. */
#include "rollout_feedback.h"
#include "api/requests/configuration/reference_positions.h"
#include "api/requests/control/gain_matrix.h"
#include "api/robots/registry/registry.h"
#include "api/requests/fields/rows.h"
#include "dynamics/motion/tangent.h"

/* --- shapes ------------------------------------------------------------------------------------------------------- */

static bool check_node_count(const api_query *q, const api_place *pointer, size_t nodes, size_t steps)
{
    return nodes == steps || api_fail_at(q->problem, pointer, API_WRONG_SHAPE,
                                         "%zu nodes given, as many as torques, %zu, expected", nodes, steps);
}

static bool read_states(api_query *q, const api_place *up, const char *name, size_t width, api_rollout_feedback *f,
                        api_points *points)
{
    const api_node       *value   = api_node_get(f->value, name);
    const api_points_form form    = {.name = "states", .least = 1, .why = "", .width = width};
    const api_place       pointer = api_place_key(up, name);
    if (!value)
        return api_fail_at(q->problem, up, API_MISSING_FIELD, "feedback needs gains, q and qd, and has no %s", name);
    return api_points_measure(q, value, &pointer, &form, points) && check_node_count(q, &pointer, points->n, f->steps);
}

/* Checks the matrices of one row. */
static bool check_matrices(api_query *q, const api_node *row, const api_place *pointer, size_t steps)
{
    if (!api_node_is(row, API_ARRAY))
        return api_fail_at(q->problem, pointer, API_WRONG_TYPE, "%s given, an array of matrices expected",
                           api_node_kind_text(row));
    if (!check_node_count(q, pointer, api_node_size(row), steps)) return false;
    for (size_t n = 0; n < steps; n++) {
        api_node        matrix;
        const api_place matrix_at = api_place_index(pointer, n);
        api_node_item(row, n, &matrix);
        if (!api_gain_matrix_check(q, &matrix, &matrix_at)) return false;
    }
    return true;
}

static bool read_matrices(api_query *q, const api_node *value, const api_place *up, api_rollout_feedback *f)
{
    const api_place pointer = api_place_key(up, "gains");
    if (!value)
        return api_fail_at(q->problem, up, API_MISSING_FIELD, "feedback needs gains, q and qd, and has no gains");
    f->batch = api_is_batch(value, 3);
    if (!f->batch) return check_matrices(q, value, &pointer, f->steps);
    if (!api_batch_rows(q, api_node_size(value), &pointer)) return false;
    for (size_t row = 0; row < api_node_size(value); row++) {
        api_node        matrices;
        const api_place row_at = api_place_index(&pointer, row);
        api_node_item(value, row, &matrices);
        if (check_matrices(q, &matrices, &row_at, f->steps)) continue;
        q->problem->row = (long long)row;
        return false;
    }
    return true;
}

bool api_rollout_feedback_read(api_query *q, const api_node *request, const api_place *up, size_t steps,
                               api_rollout_feedback *f)
{
    static const char *const names[] = {"gains", "q", "qd", NULL};
    const api_place          pointer = api_place_key(up, "feedback");
    *f = (api_rollout_feedback){.value = api_node_get(request, "feedback"), .steps = steps};
    return !f->value ||
           (api_check_keys(q, f->value, &pointer, names, "feedback") &&
            read_matrices(q, api_node_get(f->value, "gains"), &pointer, f) &&
            read_states(q, &pointer, "q", q->model->nq, f, &f->q) && read_states(q, &pointer, "qd", 0, f, &f->qd));
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static const double *load_matrices(const api_query *q, const api_rollout_feedback *f)
{
    const api_node *value = api_node_get(f->value, "gains");
    const size_t    nv = q->model->nv, size = 2 * nv * nv, rows = f->batch ? q->rows : 1;
    double         *numbers = api_take(q->pool, rows * f->steps * size * sizeof *numbers);
    for (size_t row = 0; numbers && row < rows; row++)
        for (size_t n = 0; n < f->steps; n++) {
            api_node matrices = *value, matrix;
            if (!api_deadline_check(q->input->deadline, q->problem)) return NULL;
            if (f->batch) api_node_item(value, row, &matrices);
            api_node_item(&matrices, n, &matrix);
            api_gain_matrix_read(q, &matrix, numbers + (row * f->steps + n) * size);
        }
    return numbers;
}

bool api_rollout_feedback_load(const api_query *q, api_rollout_feedback *f)
{
    if (!f->value) return true;
    const api_place up = api_place_key(NULL, "feedback"), pointer = api_place_key(&up, "q");
    return (f->q_reference = api_reference_positions_read(q, &f->q, &pointer)) &&
           (f->qd_reference = api_points_read(q, &f->qd)) && (f->gain = load_matrices(q, f));
}

/* --- torques ------------------------------------------------------------------------------------------------------ */

/* Writes the difference between the state and its reference, 2 nv entries. */
static void write_state_change(const api_query *q, const api_rollout_feedback *f, const api_feedback_state *x)
{
    const size_t  nq = q->model->nq, nv = q->model->nv;
    const double *q_reference  = api_points_of(&f->q, f->q_reference, x->row) + x->node * nq,
                 *qd_reference = api_points_of(&f->qd, f->qd_reference, x->row) + x->node * nv;
    for (size_t i = 0; i < q->model->dyn->n_bodies; i++) {
        const dyn_body *body  = &q->model->dyn->body[i];
        const int       place = api_first_position(q->model, body), v = api_first_velocity(q->model, body);
        if (place < 0 || v < 0 || body->joint.mimic) continue;
        dyn_tangent_difference(body, q_reference + place, x->q + (size_t)place * x->stride, x->stride, x->dx + v);
    }
    for (size_t v = 0; v < nv; v++)
        x->dx[nv + v] = x->qd[v * x->stride] - qd_reference[v];
}

void api_rollout_feedback_add(const api_query *q, const api_rollout_feedback *f, const api_feedback_state *x)
{
    const size_t  nv = q->model->nv, size = 2 * nv * nv;
    const double *gain = f->gain + ((f->batch ? x->row * f->steps : 0) + x->node) * size;
    write_state_change(q, f, x);
    for (size_t v = 0; v < nv; v++) {
        double sum = 0;
        for (size_t i = 0; i < 2 * nv; i++)
            sum += gain[v * 2 * nv + i] * x->dx[i];
        x->tau[v * x->stride] += sum;
    }
}
