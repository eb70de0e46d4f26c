/* guess.c - read "guess" into lanes: the passive coordinates that select an assembly mode of the loops. */
#include "vector_reader.h"
#include "dynamics/loops/loops.h"
#include "api/requests/fields/fields.h"
#include "failed_rows.h"
#include "dynamics/model/coordinates.h"
#include "api/codec/number.h"
#include "api/requests/fields/platform.h"
#include <math.h>
#include <string.h>

/* Checks that no coordinate exceeds DYN_MAX_ANGLE, up to which sine and cosine are accurate. */
static bool check_range(const api_evaluation *e, const api_vector *v, const double *values, size_t stride, size_t lanes,
                        const api_place *row)
{
    for (size_t k = 0; k < v->n; k++) {
        bool good = true;
        for (size_t lane = 0; lane < lanes; lane++)
            good &= fabs(values[k * stride + lane]) <= DYN_MAX_ANGLE;
        if (good) continue;
        if (!row) return false;
        api_place at = api_vector_entry(v, row, k);
        return api_fail_at(e->problem, &at, API_ANGLE_TOO_LARGE, "%s given for %.64s; a guess is limited to %g",
                           API_NUMBER_TEXT(values[k * stride]), v->names[k], DYN_MAX_ANGLE);
    }
    return true;
}

/* Returns the index among the passive coordinates of coordinate q of the tree; n_passive_q if it is not passive. */
static size_t passive_place(const dyn_loops *l, int q)
{
    size_t k = 0;
    while (k < l->n_passive_q && l->passive_q[k] != q)
        k++;
    return k;
}

static bool check_guess(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                        const api_place *row)
{
    const dyn_model *m = e->model->dyn;
    if (!check_range(e, v, values, stride, lanes, row)) return false;
    for (size_t i = 0; i < m->n_bodies; i++) {
        int at = dyn_quaternion_offset(&m->body[i]);
        if (at < 0) continue;
        size_t first = passive_place(e->model->loops, m->body[i].joint.q + at);
        if (first < v->n && !api_check_quaternion(e, v, first, values + first * stride, stride, lanes, row))
            return false;
    }
    return true;
}

/* Reads the passive coordinates of one state by name. Coordinates that are not named have the values of the reference.
 */
static bool read_named(const api_evaluation *e, const api_vector *v, double *values)
{
    const dyn_loops *l = e->model->loops;
    for (size_t k = 0; k < v->n; k++)
        values[k] = l->reference[l->passive_q[k]];
    for (size_t member = 0; member < api_node_size(v->value); member++) {
        const char *key = api_node_key(v->value, member);
        api_place   at  = api_place_key(&v->at, key);
        size_t      k   = 0;
        while (k < v->n && strcmp(v->names[k], key) != 0)
            k++;
        api_names known = api_names_from_array(v->names, v->n);
        if (k == v->n) return api_fail_no_such(e->query, &at, "passive coordinate", key, &known);
        if (!api_read_number(e->query, api_node_value(v->value, member), &at, &values[k])) return false;
    }
    return api_vector_check_one(e, v, values);
}

/* Reads the passive coordinates by name and copies them to all states. */
static bool spread_named(api_plan *plan, const api_vector *v)
{
    double        *values = api_take(plan->query->pool, v->n * sizeof *values);
    api_evaluation e      = api_evaluation_of(plan);
    if (!values || !read_named(&e, v, values)) return false;
    for (size_t i = 0; i < plan->blocks * v->n * plan->lanes; i++)
        v->lanes[i] = values[i / plan->lanes % v->n];
    return true;
}

bool api_fill_guess(api_plan *plan)
{
    const dyn_loops *l = plan->query->model->loops;
    if (!plan->query->field[API_GUESS]) return true;
    api_vector v = {.value = plan->query->field[API_GUESS], .count = "passive coordinates", .check = check_guess};
    v.at         = api_place_key(NULL, "guess");
    v.n = v.stride = l->n_passive_q;
    v.names        = l->passive_names;
    v.neutral      = api_failed_rows_guess(plan->failed_rows);
    v.lanes = plan->guess = api_take_lanes(plan, v.n);
    if (!v.lanes) return false;
    return api_node_is(v.value, API_OBJECT) ? spread_named(plan, &v) : api_vector_read(plan, &v);
}
