/* state_fields.c - read the order of coordinates, and measure the fields of the state: q, qd, qdd, qddd, tau, weights,
 * references. */
#include "rows.h"
#include "fields.h"
#include <string.h>

/* Reads the names of all coordinates, each once: entry i of a row in the request is coordinate order[i]. */
static bool read_order(const api_query *q, const api_node *list, const api_place *at, int *order, bool *seen)
{
    for (size_t i = 0; i < q->model->nv; i++) {
        api_node  item;
        api_place entry = api_place_index(at, i);
        order[i]        = api_node_item(list, i, &item) ? api_read_coordinate(q, &item, &entry) : -1;
        if (order[i] < 0) return false;
        if (seen[order[i]])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "the joint %.64s is listed twice",
                               q->model->velocity_names[order[i]]);
        seen[order[i]] = true;
    }
    return true;
}

bool api_decode_joints(api_query *q)
{
    const api_model *m    = q->model;
    const api_node  *list = q->field[API_JOINTS];
    api_place        at   = api_place_key(NULL, "joints");
    if (!list) return true;
    if (m->nq != m->nv)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "joints is for models with as many positions as velocities; %s has nq = %zu, nv = %zu",
                           m->name, m->nq, m->nv);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, an array of all %zu joints' names expected",
                           api_node_kind_text(list), m->nv);
    if (api_node_size(list) != m->nv)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE, "%zu names given, all %zu of %s expected",
                           api_node_size(list), m->nv, m->name);
    int  *order = api_take(q->pool, m->nv * sizeof *order);
    bool *seen  = api_take(q->pool, m->nv);
    if (!order || !seen) return false;
    memset(seen, 0, m->nv);
    q->order = order;
    return read_order(q, list, &at, order, seen);
}

bool api_measure_state(api_query *q)
{
    for (int f = 0; f < API_STATE_FIELDS; f++) {
        api_place at = api_place_key(NULL, api_field_names[f]);
        if (q->field[f] && !api_batch_measure(q, q->field[f], &at)) return false;
    }
    return true;
}
