/* row_scene.c - gives a slot the scene of each row: see row_scene.h. */
#include "row_scene.h"
#include "api/requests/scene/row_scenes.h"
#include "api/requests/fields/rows.h"
#include <string.h>

bool api_row_scene_open(api_evaluation *e)
{
    const api_query *q = e->plan->query;
    if (!q->row_scenes) return true;
    e->own_query = api_take(q->pool, sizeof *e->own_query);
    if (!e->own_query || (q->row_scenes->n > 0 && !api_pool_claim(q->pool, q->model->dyn->bytes))) return false;
    *e->own_query  = *q;
    e->payloads    = api_take(q->pool, q->row_scenes->n * sizeof *e->payloads);
    e->row_numbers = api_take(q->pool, (q->model->nv + 1) * sizeof *e->row_numbers);
    if (!e->payloads || !e->row_numbers) return false;
    if (q->row_scenes->n > 0) memcpy(e->payloads, q->row_scenes->payload, q->row_scenes->n * sizeof *e->payloads);
    e->query = e->own_query;
    return true;
}

void api_row_scene_close(api_evaluation *e)
{
    dyn_model_free(e->row_model);
    e->row_model = NULL;
    e->query     = e->plan->query;
}

/* Builds the model with the payloads of a row. */
static bool load_row(api_evaluation *e, size_t row)
{
    const api_row_scenes *scenes = e->own_query->row_scenes;
    for (size_t i = 0; i < scenes->n; i++)
        e->payloads[i].inertia = scenes->inertia[row * scenes->n + i];
    dyn_model_free(e->row_model);
    e->row_model              = NULL;
    const dyn_status status   = dyn_model_with_payload(e->model->dyn, scenes->n, e->payloads, &e->row_model);
    e->own_query->scene.model = e->row_model;
    if (status == DYN_NO_MEMORY)
        return api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for the model with its payload");
    return status == DYN_OK || api_fail(e->problem, API_BAD_VALUE, "/payload",
                                        "the figures of a payload of row %zu are too large to be added", row);
}

bool api_row_scene_set(api_evaluation *e, size_t state)
{
    const api_row_scenes *scenes = e->own_query->row_scenes;
    const size_t          row    = api_row_of(e->own_query, state);
    double               *g      = e->own_query->scene.gravity;
    if (scenes->gravity) memcpy(g, scenes->gravity + 3 * row, 3 * sizeof *g);
    return scenes->n == 0 || load_row(e, row);
}
