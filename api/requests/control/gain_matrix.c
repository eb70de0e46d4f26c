/* gain_matrix.c - reads matrices of gains (gain_matrix.h). */
#include "gain_matrix.h"
#include "api/requests/fields/points.h"
#include "api/requests/fields/rows.h"

bool api_gain_matrix_check(api_query *q, const api_node *matrix, const api_place *where)
{
    const size_t          nv   = q->model->nv;
    const api_points_form form = {.name = "rows of gains", .least = nv, .why = ", one for each joint", .width = 2 * nv};
    api_points            points;
    if (api_is_batch(matrix, 2))
        return api_fail_at(q->problem, where, API_WRONG_SHAPE, "an array of arrays of numbers expected");
    if (!api_points_measure(q, matrix, where, &form, &points)) return false;
    return points.n == nv ||
           api_fail_at(q->problem, where, API_WRONG_SHAPE, "%zu rows of gains given, %zu expected (nv of %s)", points.n,
                       nv, q->model->name);
}

void api_gain_matrix_read(const api_query *q, const api_node *matrix, double *to)
{
    const size_t nv = q->model->nv;
    for (size_t v = 0; v < nv; v++) {
        api_node     line;
        const size_t row = q->order ? (size_t)q->order[v] : v;
        api_node_item(matrix, v, &line);
        for (size_t i = 0; i < 2 * nv; i++)
            api_node_numbers(&line, i, 1, &to[row * 2 * nv + (q->order ? (size_t)q->order[i % nv] + i / nv * nv : i)]);
    }
}
