/* state.c - q, qd, qdd, qddd, tau and the order of their entries. */
#include "api/load/document/geometry.h"
#include "api/model/coordinates.h"
#include "api/lanes/failed_rows.h"
#include "free_coordinates.h"
#include "api/wire/number.h"
#include <math.h>
#include <string.h>

/* Place i of the request is coordinate order[i]; each coordinate once. */
static bool read_order(const api_evaluation *e, const api_node *list, const api_place *at, int *order, bool *seen)
{
    for (size_t i = 0; i < e->model->nv; i++) {
        api_node  item;
        api_place entry = api_place_index(at, i);
        order[i]        = api_node_item(list, i, &item) ? api_read_coordinate(e, &item, &entry) : -1;
        if (order[i] < 0) return false;
        if (seen[order[i]])
            return api_fail_at(e, &entry, API_DUPLICATE_NAME, "the joint %.64s is listed twice",
                               e->model->velocity_names[order[i]]);
        seen[order[i]] = true;
    }
    return true;
}

bool api_decode_joints(api_evaluation *e)
{
    const api_model *m    = e->model;
    const api_node  *list = e->given[API_JOINTS];
    api_place        at   = api_place_key(NULL, "joints");
    if (!list) return true;
    if (m->nq != m->nv)
        return api_fail_at(e, &at, API_BAD_VALUE,
                           "joints is for models with as many positions as velocities; %s has nq = %zu, nv = %zu",
                           m->name, m->nq, m->nv);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(e, &at, API_WRONG_TYPE, "%s given, an array of all %zu joints' names expected",
                           api_node_kind_text(list), m->nv);
    if (api_node_size(list) != m->nv)
        return api_fail_at(e, &at, API_WRONG_SHAPE, "%zu names given, all %zu of %s expected", api_node_size(list),
                           m->nv, m->name);
    int  *order = api_take(e->pool, m->nv * sizeof *order);
    bool *seen  = api_take(e->pool, m->nv);
    if (!order || !seen) return false;
    memset(seen, 0, m->nv);
    e->order = order;
    return read_order(e, list, &at, order, seen);
}

bool api_measure_state(api_evaluation *e)
{
    for (int f = 0; f < API_STATE_FIELDS; f++) {
        api_place at = api_place_key(NULL, api_field_names[f]);
        if (e->given[f] && !api_batch_measure(e, e->given[f], &at)) return false;
    }
    return true;
}

static bool check_angles(const api_evaluation *e, const api_vector *v, const double *q, size_t stride,
                         const api_place *row)
{
    const dyn_bound *beyond = api_find_angle_beyond_limit(e->model, q, stride);
    if (!beyond) return true;
    char      text[API_ANGLE_TEXT];
    api_place at = api_vector_entry(v, row, beyond->entry);
    api_angle_write(beyond, q[beyond->entry * stride], text);
    return api_fail_at(e, &at, API_ANGLE_TOO_LARGE, "%.64s is %s; angles are limited to %g rad",
                       v->names[beyond->entry], text, beyond->most);
}

bool api_check_quaternion(const api_evaluation *e, const api_vector *v, size_t first, double *quaternion, size_t stride,
                          size_t lanes, const api_place *row)
{
    double norm = 1;
    for (size_t lane = 0; lane < lanes; lane++) {
        if (api_quaternion_normalise(quaternion + lane, stride, &norm)) continue;
        if (!row) return false;
        api_place at = api_vector_entry(v, row, first);
        return api_fail_at(
            e, &at, API_BAD_QUATERNION,
            "the quaternion [x, y, z, w] that begins here has the norm %.9g, which differs from 1 by more than %g",
            norm, API_QUATERNION_TOLERANCE);
    }
    return true;
}

/* Angles have bounds (api_model): only to say which is beyond is one looked at here. */
static bool check_positions(const api_evaluation *e, const api_vector *v, double *q, size_t stride, size_t lanes,
                            const api_place *row)
{
    const dyn_model *m = e->model->dyn;
    if (row && !check_angles(e, v, q, stride, row)) return false;
    if (m->n_quaternions == 0) return true;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *body  = &m->body[i];
        int             place = api_first_position(e->model, body);
        if (place < 0) continue;
        double *own        = q + (size_t)place * stride;
        int     quaternion = api_quaternion_offset(body);
        if (quaternion >= 0 && !api_check_quaternion(e, v, (size_t)(place + quaternion),
                                                     own + (size_t)quaternion * stride, stride, lanes, row))
            return false;
    }
    return true;
}

/* Zero leaves an equation out. */
static bool check_weights(const api_evaluation *e, const api_vector *v, double *weights, size_t stride, size_t lanes,
                          const api_place *row)
{
    for (size_t k = 0; k < v->n; k++) {
        bool good = true;
        for (size_t lane = 0; lane < lanes; lane++)
            good &= weights[k * stride + lane] >= 0;
        if (good) continue;
        if (!row) return false;
        api_place at = api_vector_entry(v, row, k);
        return api_fail_at(e, &at, API_BAD_VALUE, "the weight %s is negative", API_NUMBER_TEXT(weights[k * stride]));
    }
    return true;
}

static bool (*const check_of[API_STATE_FIELDS])(const api_evaluation *, const api_vector *, double *, size_t, size_t,
                                                const api_place *) = {[API_Q]       = check_positions,
                                                                      [API_QDD]     = api_check_free_qdd,
                                                                      [API_TAU]     = api_check_free_tau,
                                                                      [API_WEIGHTS] = check_weights};

bool api_decode_state(api_evaluation *e)
{
    const api_model *m = e->model;
    for (int f = 0; f < API_STATE_FIELDS; f++) {
        if (!e->given[f]) continue;
        api_vector v = {.value = e->given[f], .n = f == API_Q ? m->nq : m->nv, .count = f == API_Q ? "nq" : "nv"};
        v.at         = api_place_key(NULL, api_field_names[f]);
        v.names      = f == API_Q ? m->position_names : m->velocity_names;
        v.order      = e->order;
        v.stride     = v.n;
        v.check      = check_of[f];
        v.n_bounds   = f == API_Q ? m->n_angles : 0;
        v.bounds     = m->angles;
        v.neutral    = f == API_Q ? api_failed_rows_home(e) : NULL;
        v.lanes = e->state[f] = api_take_lanes(e, v.n);
        if (!v.lanes || !api_batch_read(e, &v)) return false;
    }
    return true;
}
