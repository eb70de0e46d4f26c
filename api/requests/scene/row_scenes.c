/* row_scenes.c - reads gravity by rows, and refuses it where it is not taken: see row_scenes.h. */
#include "row_scenes.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/operation.h"
#include "api/requests/fields/rows.h"
#include <stdio.h>
#include <string.h>

bool api_fail_row_scenes(const api_query *q, const char *field, const char *what)
{
    const api_place place = api_place_key(NULL, field);
    return api_fail_at(
        q->problem, &place, API_NOT_SUPPORTED,
        "%s takes no %s that differs from row to row: send one request for each, or one value for all rows", what,
        field);
}

api_row_scenes *api_row_scenes_of(api_query *q, const char *field)
{
    for (size_t i = 0; !q->row_scenes && i < q->n_selected; i++)
        if (!q->selected[i].operation->row_scenes) {
            api_fail_row_scenes(q, field, q->selected[i].operation->name);
            return NULL;
        }
    if (q->row_scenes) return q->row_scenes;
    q->row_scenes = api_take(q->pool, sizeof *q->row_scenes);
    if (q->row_scenes) *q->row_scenes = (api_row_scenes){.gravity = NULL};
    return q->row_scenes;
}

/* Reads a vector for each row. */
static double *read_gravity_rows(const api_query *q, const api_node *rows, const api_place *place)
{
    const size_t n = api_node_size(rows);
    size_t       extent[API_PACKED_RANK];
    double      *vectors = api_take(q->pool, 3 * n * sizeof *vectors);
    if (vectors && api_node_packed(rows, extent) == 2 && extent[1] == 3) {
        api_node_numbers(rows, 0, 3 * n, vectors);
        return vectors;
    }
    for (size_t i = 0; vectors && i < n; i++) {
        const api_place entry = api_place_index(place, i);
        api_node        row;
        if (api_node_item(rows, i, &row) && !api_read_numbers(q, &row, &entry, 3, vectors + 3 * i)) return NULL;
    }
    return vectors;
}

bool api_decode_gravity(api_query *q)
{
    const api_node *field = q->field[API_GRAVITY];
    const api_place place = api_place_key(NULL, "gravity");
    memcpy(q->scene.gravity, q->model->dyn->gravity, sizeof q->scene.gravity);
    if (field && api_is_empty_batch(q, field)) return true;
    if (!field || !api_is_batch(field, 1)) return !field || api_read_numbers(q, field, &place, 3, q->scene.gravity);
    api_row_scenes *scenes = api_row_scenes_of(q, "gravity");
    const double   *rows   = scenes ? read_gravity_rows(q, field, &place) : NULL;
    if (!rows || !api_batch_rows(q, api_node_size(field), &place)) return false;
    scenes->gravity = rows;
    memcpy(q->scene.gravity, rows, sizeof q->scene.gravity);
    return true;
}
