/* state_fields.c - read the order of coordinates, and measure the fields of the state: q, qd, qdd, qddd, tau, weights,
 * references, higher derivatives. */
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

/* Reads the list of derivatives of q from the fifth on, each of the form of qd. */
static bool measure_higher(api_query *q)
{
    const api_node *list = q->field[API_HIGHER_DERIVATIVES];
    api_place       at   = api_place_key(NULL, "higher_derivatives");
    if (!list) return true;
    if (!api_check_list(q, list, &at, "a derivative of q, from the fifth on")) return false;
    size_t n = api_node_size(list);
    if (n > API_MAX_HIGHER)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE,
                           "%zu derivatives given; at most %d are taken, those of orders 5 to %d", n, API_MAX_HIGHER,
                           API_MAX_HIGHER + 4);
    api_node *items = api_take(q->pool, n * sizeof *items);
    if (!items) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry = api_place_index(&at, i);
        if (!api_node_item(list, i, &items[i]) || !api_batch_measure(q, &items[i], &entry)) return false;
    }
    q->n_higher = n;
    q->higher   = items;
    return true;
}

bool api_measure_state(api_query *q)
{
    for (int f = 0; f < API_STATE_FIELDS; f++) {
        api_place at = api_place_key(NULL, api_field_names[f]);
        if (q->field[f] && !api_batch_measure(q, q->field[f], &at)) return false;
    }
    return measure_higher(q);
}
