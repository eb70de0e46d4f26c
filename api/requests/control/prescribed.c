/* prescribed.c - reads and checks prescribed motions (prescribed.h). */
#include "prescribed.h"
#include "api/requests/fields/rows.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

static const char *const fields_of[] = {"coordinates", "motion", NULL};

#define AGREE 1e-9 /* a given initial value may differ from the motion's value r by this times 1 + |r| */

/* --- coordinates -------------------------------------------------------------------------------------------------- */

static bool add_coordinate(const api_query *q, const api_place *at, int v, const api_coordinate *coordinate,
                           api_prescribed_motion *p)
{
    if (p->mask[v])
        return api_fail_at(q->problem, at, API_DUPLICATE_NAME, "%.64s is listed twice", q->model->velocity_names[v]);
    if (coordinate[v].position < 0)
        return api_fail_at(q->problem, at, API_NOT_SUPPORTED,
                           "%.64s belongs to %.64s, which has a quaternion: only coordinates with a position of their "
                           "own can be prescribed",
                           q->model->velocity_names[v], api_coordinate_joint(q->model, &coordinate[v]));
    p->mask[v]   = true;
    p->v[p->n]   = (size_t)v;
    p->q[p->n++] = (size_t)coordinate[v].position;
    return true;
}

static bool read_coordinates(api_query *q, const api_node *list, const api_place *at, api_prescribed_motion *p)
{
    size_t          nv         = q->model->nv;
    api_coordinate *coordinate = api_take(q->pool, nv * sizeof *coordinate);
    p->mask                    = api_take(q->pool, nv * sizeof *p->mask);
    p->v                       = api_take(q->pool, nv * sizeof *p->v);
    p->q                       = api_take(q->pool, nv * sizeof *p->q);
    if (!coordinate || !p->mask || !p->v || !p->q) return false;
    memset(p->mask, false, nv * sizeof *p->mask);
    api_coordinates_describe(q->model, coordinate);
    if (!api_check_names(q, list, at, "coordinate's name")) return false;
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, at, i, &name);
        int       v     = api_read_coordinate(q, &name, &entry);
        if (v < 0 || !add_coordinate(q, &entry, v, coordinate, p)) return false;
    }
    return true;
}

/* --- motion ------------------------------------------------------------------------------------------------------- */

/* Refuses jumps of position and velocity. At a knot of multiplicity m a spline of degree d has d - m continuous
 * derivatives. */
static bool check_smooth(const api_query *q, const dyn_signal *s, double duration, const api_place *at)
{
    const double *t = s->spline.knots;
    for (size_t i = s->spline.degree + 1, times = 1; !s->is_sine && i < s->spline.n; i++) {
        times       = t[i] == t[i - 1] ? times + 1 : 1;
        double when = (t[i] - t[s->spline.degree]) / (t[s->spline.n] - t[s->spline.degree]) * s->range;
        if (s->spline.degree >= times + 1 || !(when > 0 && when < duration)) continue;
        return api_fail_at(
            q->problem, at, API_BAD_VALUE,
            "the motion jumps in %s at %s s, which would need infinite efforts: give a smooth motion, for "
            "example with \"interpolation\": \"cubic\"",
            s->spline.degree >= times ? "velocity" : "position", API_NUMBER_TEXT(when));
    }
    return true;
}

bool api_prescribed_read(api_query *q, const api_node *fields, double duration, api_prescribed_motion *p)
{
    const api_node *value          = api_node_get(fields, "prescribed");
    api_place       at             = api_place_key(NULL, "prescribed");
    api_place       coordinates_at = api_place_key(&at, "coordinates"), motion_at = api_place_key(&at, "motion");
    api_signal_form form = {.duration = duration, .reach = duration};
    *p                   = (api_prescribed_motion){.n = 0};
    if (!value) return true;
    if (!api_check_keys(q, value, &at, fields_of, "prescribed")) return false;
    for (size_t i = 0; fields_of[i]; i++) {
        api_place missing = api_place_key(&at, fields_of[i]);
        if (!api_node_get(value, fields_of[i]))
            return api_fail_at(q->problem, &missing, API_MISSING_FIELD, "prescribed needs its %s", fields_of[i]);
    }
    if (!read_coordinates(q, api_node_get(value, "coordinates"), &coordinates_at, p)) return false;
    form.width = p->n;
    return api_signal_read(q, api_node_get(value, "motion"), &motion_at, &form, &p->motion) &&
           check_smooth(q, &p->motion.curve, duration, &motion_at);
}

/* --- initial state ------------------------------------------------------------------------------------------------ */

/* Compares a given position or velocity x of the coordinate `name` with the motion at time 0. */
static bool agree(const api_evaluation *e, const char *name, api_field field, size_t state, double x, double motion)
{
    if (x == 0 || fabs(x - motion) <= AGREE * (1 + fabs(motion))) return true;
    return api_fail_state(e, API_BAD_VALUE, (int)field, state,
                          "%.64s is prescribed and begins with %s, but %s is given: give %s or 0", name,
                          API_NUMBER_TEXT(motion), API_NUMBER_TEXT(x), API_NUMBER_TEXT(motion));
}

static bool check_row(const api_evaluation *e, const api_prescribed_motion *p, size_t row,
                      double *const r[DYN_SIGNAL_ORDERS])
{
    size_t        state = row * e->query->samples;
    const double *q     = api_state_lane(e, e->plan->state[API_Q], e->model->nq, state);
    const double *qd    = api_state_lane(e, e->plan->state[API_QD], e->model->nv, state);
    dyn_signal_at(&p->motion.curve, 1, &row, (dyn_moment){0, 0}, DYN_SIGNAL_ORDERS, r);
    for (size_t k = 0; k < p->n; k++) {
        const char *name = e->model->velocity_names[p->v[k]];
        if (!agree(e, name, API_Q, state, q[p->q[k] * e->lanes], r[0][k]) ||
            !agree(e, name, API_QD, state, qd[p->v[k] * e->lanes], r[1][k]))
            return false;
    }
    return true;
}

bool api_prescribed_load(const api_plan *plan, api_prescribed_motion *p)
{
    const api_query *q  = plan->query;
    api_place        at = api_place_key(NULL, "prescribed"), motion_at = api_place_key(&at, "motion");
    if (p->n == 0) return true;
    double *r[DYN_SIGNAL_ORDERS];
    for (size_t i = 0; i < DYN_SIGNAL_ORDERS; i++)
        if (!(r[i] = api_take(q->pool, p->n * sizeof *r[i]))) return false;
    if (!api_signal_load(q, &motion_at, &p->motion)) return false;
    api_evaluation e = api_evaluation_of(plan);
    for (size_t row = 0; row < q->rows; row++)
        if (!check_row(&e, p, row, r)) return false;
    return true;
}
