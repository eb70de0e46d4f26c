/* state.c - read the fields of the state into lanes: q, qd, qdd, qddd, tau, weights, references, higher derivatives. */
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include "failed_rows.h"
#include "api/requests/fields/fields.h"
#include "vector_reader.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

static bool check_angles(const api_evaluation *e, const api_vector *v, const double *q, size_t stride,
                         const api_place *row)
{
    const dyn_bound *beyond = api_find_angle_beyond_limit(e->model, q, stride);
    if (!beyond) return true;
    char      text[API_ANGLE_TEXT];
    api_place at = api_vector_entry(v, row, beyond->entry);
    api_angle_write(beyond, q[beyond->entry * stride], text);
    return api_fail_at(e->problem, &at, API_ANGLE_TOO_LARGE, "%.64s is %s; angles are limited to %g rad",
                       v->names[beyond->entry], text, beyond->most);
}

bool api_check_quaternion(const api_evaluation *e, const api_vector *v, size_t first, double *quaternion, size_t stride,
                          size_t lanes, const api_place *row)
{
    double     norm = 1;
    const bool any  = e->query->normalise;
    for (size_t lane = 0; lane < lanes; lane++) {
        if (any ? dyn_quaternion_normalise_any(quaternion + lane, stride, &norm)
                : dyn_quaternion_normalise(quaternion + lane, stride, &norm))
            continue;
        if (!row) return false;
        api_place at = api_vector_entry(v, row, first);
        if (any)
            return api_fail_at(
                e->problem, &at, API_BAD_QUATERNION,
                "the quaternion [x, y, z, w] that begins here has the norm %.9g and cannot be normalised", norm);
        return api_fail_at(e->problem, &at, API_BAD_QUATERNION,
                           "the quaternion [x, y, z, w] that begins here has the norm %.9g, which differs from 1 by "
                           "more than %g: normalise it, or give \"normalise\": true",
                           norm, DYN_QUATERNION_TOLERANCE);
    }
    return true;
}

/* Checks positions. The caller checks the bounds of all angles; if `row` is given, this function names the bad
 * angle. */
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
        int     quaternion = dyn_quaternion_offset(body);
        if (quaternion >= 0 && !api_check_quaternion(e, v, (size_t)(place + quaternion),
                                                     own + (size_t)quaternion * stride, stride, lanes, row))
            return false;
    }
    return true;
}

/* Checks weights: zero leaves the equation of a torque out, a negative weight is a problem. */
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
        return api_fail_at(e->problem, &at, API_BAD_VALUE, "the weight %s is negative",
                           API_NUMBER_TEXT(weights[k * stride]));
    }
    return true;
}

/* Checks that an entry that the evaluation computes is given as 0: qdd of a free coordinate, tau of a driven one. */
static bool check_zeros(const api_evaluation *e, const api_vector *v, const double *values, size_t stride, size_t lanes,
                        const api_place *row, bool driven, const char *text)
{
    const bool *of = e->query->driven;
    for (size_t k = 0; of && k < v->n; k++)
        for (size_t lane = 0; lane < lanes && of[k] == driven; lane++) {
            if (values[k * stride + lane] == 0) continue;
            if (!row) return false;
            api_place at = api_vector_entry(v, row, k);
            return api_fail_at(e->problem, &at, API_BAD_VALUE, "%.64s is %s is found, and %s given instead of 0",
                               v->names[k], text, API_NUMBER_TEXT(values[k * stride + lane]));
        }
    return true;
}

static bool check_free_qdd(const api_evaluation *e, const api_vector *v, double *qdd, size_t stride, size_t lanes,
                           const api_place *row)
{
    return check_zeros(e, v, qdd, stride, lanes, row, false, "free: its acceleration");
}

static bool check_free_tau(const api_evaluation *e, const api_vector *v, double *tau, size_t stride, size_t lanes,
                           const api_place *row)
{
    return check_zeros(e, v, tau, stride, lanes, row, true, "not free: its effort");
}

static bool (*const check_of[API_STATE_FIELDS])(const api_evaluation *, const api_vector *, double *, size_t, size_t,
                                                const api_place *) = {[API_Q]        = check_positions,
                                                                      [API_Q_TARGET] = check_positions,
                                                                      [API_QDD]      = check_free_qdd,
                                                                      [API_TAU]      = check_free_tau,
                                                                      [API_WEIGHTS]  = check_weights};

/* Reserves the lanes of "higher_derivatives". The place of the list is taken from the pool, because batches that are
 * read window by window still point to it. */
static bool fill_higher(api_plan *plan)
{
    const api_query *q = plan->query;
    const api_model *m = q->model;
    if (q->n_higher == 0) return true;
    api_place *list = api_take(q->pool, sizeof *list);
    if (!list) return false;
    *list = api_place_key(NULL, "higher_derivatives");
    for (size_t i = 0; i < q->n_higher; i++) {
        api_vector v = {.value  = &q->higher[i],
                        .at     = api_place_index(list, i),
                        .n      = m->nv,
                        .count  = "nv",
                        .names  = m->velocity_names,
                        .order  = q->order,
                        .stride = m->nv};
        v.lanes = plan->higher[i] = api_take_lanes(plan, v.n);
        if (!v.lanes || !api_vector_read(plan, &v)) return false;
    }
    return true;
}

bool api_fill_state(api_plan *plan)
{
    const api_model *m = plan->query->model;
    for (int f = 0; f < API_STATE_FIELDS; f++) {
        if (!plan->query->field[f]) continue;
        const bool position = api_is_position((api_field)f);
        api_vector v        = {.value = plan->query->field[f],
                               .n     = position ? m->nq : m->nv,
                               .count = position ? "nq" : "nv",
                               .names = position ? m->position_names : m->velocity_names,
                               .order = position ? plan->query->order_q : plan->query->order,
                               .check = check_of[f]};
        v.at                = api_place_key(NULL, api_field_names[f]);
        v.stride            = v.n;
        v.n_bounds          = position ? m->n_angles : 0;
        v.bounds            = m->angles;
        v.neutral           = position ? api_failed_rows_home(plan->failed_rows) : NULL;
        v.lanes = plan->state[f] = api_take_lanes(plan, v.n);
        if (!v.lanes || !api_vector_read(plan, &v)) return false;
    }
    return fill_higher(plan);
}
