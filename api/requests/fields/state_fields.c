/* state_fields.c - read the order of coordinates, and measure the fields of the state: q, qd, qdd, qddd, tau, weights,
 * references, higher derivatives. */
#include "rows.h"
#include "fields.h"
#include <string.h>

/* The coordinates of a floating base, which are the first of a model: positions and velocities. */
enum { BASE_POSITIONS = 7, BASE_VELOCITIES = 6 };

/* Reads the names of the coordinates from number `first` on, each once: entry i of a row in the request is coordinate
 * order[i]. The `base` coordinates of a floating base are the first entries of a row and keep their order. */
static bool read_order(const api_query *q, const api_node *list, const api_place *at, size_t first, int *order)
{
    const size_t nv = q->model->nv, base = q->model->dyn->floating ? BASE_VELOCITIES : 0;
    bool        *seen = api_take(q->pool, nv);
    if (!seen) return false;
    memset(seen, 0, nv);
    for (size_t i = first; i < nv; i++) {
        api_node  name;
        api_place entry = api_take_name(list, at, i - first, &name);
        order[i]        = api_read_coordinate(q, &name, &entry);
        if (order[i] < 0) return false;
        if (seen[order[i]])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "the joint %.64s is listed twice",
                               q->model->velocity_names[order[i]]);
        if ((i < base || (size_t)order[i] < base) && (size_t)order[i] != i)
            return api_fail_at(
                q->problem, &entry, API_BAD_VALUE,
                "%.64s given: the coordinates of the base stay first and in their order, or are left out",
                q->model->velocity_names[order[i]]);
        seen[order[i]] = true;
    }
    return true;
}

/* Sets the order of positions from that of velocities: a floating base has one position more than velocities, and any
 * other joint as many. */
static bool order_positions(api_query *q)
{
    const api_model *m     = q->model;
    int             *order = api_take(q->pool, m->nq * sizeof *order);
    if (!order) return false;
    for (size_t i = 0; i < m->nq; i++)
        order[i] = i < BASE_POSITIONS ? (int)i : q->order[i - 1] + 1;
    q->order_q = order;
    return true;
}

bool api_decode_joints(api_query *q)
{
    const api_model *m    = q->model;
    const api_node  *list = q->field[API_JOINTS];
    api_place        at   = api_place_key(NULL, "joints");
    const size_t     base = m->dyn->floating ? BASE_VELOCITIES : 0, n = api_count_names(list);
    if (!list) return true;
    if (m->nq - m->nv != (m->dyn->floating ? BASE_POSITIONS - BASE_VELOCITIES : 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "joints is for models whose joints have as many positions as velocities; some of %s have a "
                           "quaternion",
                           m->name);
    if (!api_node_is(list, API_ARRAY) && !api_node_is(list, API_STRING))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, an array of all %zu joints' names expected",
                           api_node_kind_text(list), m->nv - base);
    if (n != m->nv && n != m->nv - base)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE, "%zu names given, all %zu of %s expected%s", n,
                           m->nv - base, m->name, base > 0 ? ", with or without the 6 coordinates of its base" : "");
    int *order = api_take(q->pool, m->nv * sizeof *order);
    if (!order) return false;
    for (size_t i = 0; i < base; i++)
        order[i] = (int)i;
    q->order = q->order_q = order;
    return read_order(q, list, &at, m->nv - n, order) && (base == 0 || order_positions(q));
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
