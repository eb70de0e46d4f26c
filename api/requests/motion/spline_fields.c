/* spline_fields.c - read and check the fields of a B-spline: see spline_fields.h. */
#include "spline_fields.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>

static bool read_degree(const api_query *q, const api_node *fields, const api_place *up, dyn_spline *s)
{
    double    degree = 0;
    api_place at     = api_place_key(up, "degree");
    if (!api_read_number(q, api_node_get(fields, "degree"), &at, &degree)) return false;
    if (!(degree >= 1 && degree <= DYN_SPLINE_DEGREE && degree == floor(degree)))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a whole number from 1 to %d expected",
                           API_NUMBER_TEXT(degree), DYN_SPLINE_DEGREE);
    s->degree = (size_t)degree;
    return true;
}

static bool read_control_points(api_query *q, const api_node *fields, const api_place *up, size_t width, dyn_spline *s,
                                api_points *points)
{
    char            why[40];
    api_points_form form = {.name = "control points", .least = s->degree + 1, .why = why, .width = width};
    api_place       at   = api_place_key(up, "control_points");
    snprintf(why, sizeof why, " for degree %zu", s->degree);
    if (!api_points_measure(q, api_node_get(fields, "control_points"), &at, &form, points)) return false;
    s->n = points->n;
    return true;
}

static bool fail_knots(const api_query *q, const dyn_spline *s, const api_place *up, size_t i, dyn_knots what)
{
    const double *t  = s->knots;
    api_place     at = api_place_index(up, i);
    if (what == DYN_KNOTS_FALL)
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given after %s: knots never fall; sort them",
                           API_NUMBER_TEXT(t[i]), API_NUMBER_TEXT(t[i - 1]));
    if (what == DYN_KNOTS_REPEATED)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s given once more: at degree %zu at most %zu knots coincide, at the ends %zu",
                           API_NUMBER_TEXT(t[i]), s->degree, s->degree, s->degree + 1);
    if (what == DYN_KNOTS_NEAR)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s given after %s: knots that differ must be at least %g apart", API_NUMBER_TEXT(t[i]),
                           API_NUMBER_TEXT(t[i - 1]), DYN_SPLINE_NEAR);
    if (what == DYN_KNOTS_FAR)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "the knots go from %s to %s: at most %g between the first and the last expected",
                           API_NUMBER_TEXT(t[0]), API_NUMBER_TEXT(t[i]), DYN_SPLINE_FAR);
    return api_fail_at(q->problem, up, API_BAD_VALUE,
                       "the motion goes from knot %zu, %s, to knot %zu, %s: a range of at least %g expected", s->degree,
                       API_NUMBER_TEXT(t[s->degree]), s->n, API_NUMBER_TEXT(t[s->n]), DYN_SPLINE_NEAR);
}

static bool read_knots(api_query *q, const api_node *fields, const api_place *up, dyn_spline *s)
{
    const api_node *knots = api_node_get(fields, "knots");
    api_place       at    = api_place_key(up, "knots");
    size_t          count = s->n + s->degree + 1, i;
    dyn_knots       what;
    if (!knots) {
        s->knots = api_take(q->pool, count * sizeof(double));
        if (s->knots) dyn_spline_clamp(s);
        return s->knots != NULL;
    }
    if (api_node_is(knots, API_ARRAY) && api_node_size(knots) != count)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE,
                           "%zu knots given, %zu expected: one for each of %zu control points, and degree + 1",
                           api_node_size(knots), count, s->n);
    s->knots = api_take_numbers(q, knots, &at, count);
    return s->knots && (!dyn_spline_knots_fail(s, &i, &what) || fail_knots(q, s, &at, i, what));
}

bool api_spline_read(api_query *q, const api_node *fields, const api_place *up, size_t width, dyn_spline *s,
                     api_points *points)
{
    return read_degree(q, fields, up, s) && read_control_points(q, fields, up, width, s, points) &&
           read_knots(q, fields, up, s);
}
