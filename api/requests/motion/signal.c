/* signal.c - reads and checks the forms of signals (signal.h). */
#include "signal.h"
#include "api/requests/fields/rows.h"
#include "dynamics/motion/natural_spline.h"
#include "spline_fields.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

static const char *const sampled_fields[] = {"values", "times", "interpolation", NULL};
static const char *const spline_fields[]  = {"degree", "control_points", "knots", NULL};
static const char *const sine_fields[]    = {"amplitude", "angular_frequency", "offset", "phase", NULL};

/* --- splines ---------------------------------------------------------------------------------------------------- */

static bool take_knots(api_query *q, dyn_spline *s, size_t degree, size_t n)
{
    s->degree = degree;
    s->n      = n;
    s->knots  = api_take(q->pool, (n + degree + 1) * sizeof *s->knots);
    return s->knots != NULL;
}

/* Makes the curve constant: a spline of degree 0 with one control point. */
static bool make_constant(api_query *q, api_signal *s)
{
    if (!take_knots(q, &s->curve.spline, 0, 1)) return false;
    s->curve.spline.knots[0] = 0;
    s->curve.spline.knots[1] = s->curve.range;
    s->curve.stretches       = true;
    return true;
}

static bool read_constant(api_query *q, const api_node *value, const api_place *at, size_t width, api_signal *s)
{
    api_points_form form = {.name = "values", .width = width};
    return api_points_measure(q, value, at, &form, &s->points[0]) && make_constant(q, s);
}

bool api_signal_make_zero(api_query *q, const api_signal_form *form, api_signal *s)
{
    const size_t width = form->width > 0 ? form->width : q->model->nv;
    bool         room  = true;
    *s                 = (api_signal){.curve.range = form->duration};
    s->curve.parts[0]  = (dyn_points){api_take_zeroed(q->pool, width, &room), 1, width, false};
    return room && make_constant(q, s);
}

typedef enum interpolation { HOLD, LINEAR, CUBIC, INTERPOLATIONS } interpolation;

static bool read_interpolation(const api_query *q, const api_node *fields, const api_place *up, interpolation *how)
{
    static const char *const names[INTERPOLATIONS] = {"hold", "linear", "cubic"};
    const api_node          *value                 = api_node_get(fields, "interpolation");
    api_place                at                    = api_place_key(up, "interpolation");
    *how                                           = LINEAR;
    if (!value) return true;
    const char *name = api_read_string(q, value, &at);
    if (!name) return false;
    for (*how = HOLD; *how < INTERPOLATIONS; ++*how)
        if (strcmp(names[*how], name) == 0) return true;
    return api_fail_at(q->problem, &at, API_BAD_VALUE, "\"%.64s\" given, \"hold\", \"linear\" or \"cubic\" expected",
                       name);
}

static bool check_times(const api_query *q, const double *t, size_t n, const api_place *at, double least)
{
    for (size_t i = 0; i < n; i++) {
        api_place entry_at = api_place_index(at, i);
        if (i == 0 ? t[i] != 0 : !(t[i] > t[i - 1]))
            return api_fail_at(q->problem, &entry_at, API_BAD_VALUE, "%s s given: times begin with 0 and rise",
                               API_NUMBER_TEXT(t[i]));
    }
    if (t[n - 1] >= least) return true;
    api_place last_at = api_place_index(at, n - 1);
    return api_fail_at(q->problem, &last_at, API_BAD_VALUE,
                       "the last time is %s s: with interpolation the times must reach the duration, %s s",
                       API_NUMBER_TEXT(t[n - 1]), API_NUMBER_TEXT(least));
}

/* Returns the times of n values, in s, and with HOLD one more time, the end of the last value. With given times this
 * end must not depend on the duration, which may differ between the motions of a request. Returns NULL with a problem.
 */
static const double *read_times(api_query *q, const api_node *fields, const api_place *up, const api_signal_form *form,
                                interpolation how, size_t n)
{
    const api_node *list = api_node_get(fields, "times");
    api_place       at   = api_place_key(up, "times");
    double         *t = api_take(q->pool, (n + 1) * sizeof *t), spans = how == HOLD ? (double)n : (double)(n - 1);
    for (size_t i = 0; t && !list && i <= n; i++)
        t[i] = (double)i / spans * form->duration;
    if (!t || !list) return t;
    if (!api_read_numbers(q, list, &at, n, t) || !check_times(q, t, n, &at, how == HOLD ? 0 : form->reach)) return NULL;
    t[n] = 2 * t[n - 1] + 1;
    return t;
}

/* Sets the knots of a spline through values at n times: each time once, and the first and last degree + 1 times (a
 * clamped spline). */
static void put_knots(const dyn_spline *s, const double *t, size_t n, interpolation how)
{
    size_t ends = s->degree, last = how == HOLD ? n : n - 1;
    for (size_t i = 0; i < s->n + s->degree + 1; i++) {
        size_t at   = i < ends ? 0 : i - ends;
        s->knots[i] = t[at < last ? at : last];
    }
}

static bool read_sampled(api_query *q, const api_node *fields, const api_place *up, const api_signal_form *span,
                         api_signal *s)
{
    interpolation   how;
    api_place       at   = api_place_key(up, "values");
    api_points_form form = {.name = "values", .least = 1, .why = "", .width = span->width};
    if (!read_interpolation(q, fields, up, &how)) return false;
    if (how != HOLD) {
        form.least = 2;
        form.why   = " to interpolate between";
    }
    if (!api_points_measure(q, api_node_get(fields, "values"), &at, &form, &s->points[0])) return false;
    size_t        n = s->points[0].n, degree = how == HOLD ? 0 : how == LINEAR ? 1 : 3;
    const double *t = read_times(q, fields, up, span, how, n);
    if (!t || !take_knots(q, &s->curve.spline, degree, n + (how == CUBIC ? 2 : 0))) return false;
    put_knots(&s->curve.spline, t, n, how);
    s->is_cubic        = how == CUBIC;
    s->curve.stretches = !api_node_get(fields, "times");
    s->curve.range     = s->curve.spline.knots[s->curve.spline.n] - s->curve.spline.knots[degree];
    return true;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static bool read_sine(api_query *q, const api_node *fields, const api_place *up, size_t width, api_signal *s)
{
    api_points_form form = {.name = "values", .width = width};
    s->curve.is_sine     = true;
    for (int i = 0; i < DYN_SINE_PARTS; i++) {
        const api_node *value = api_node_get(fields, sine_fields[i]);
        api_place       at    = api_place_key(up, sine_fields[i]);
        form.spread           = i == DYN_SINE_FREQUENCY;
        if (!value && i <= DYN_SINE_FREQUENCY)
            return api_fail_at(q->problem, &at, API_MISSING_FIELD, "a sinusoid needs its %s", sine_fields[i]);
        if (value && !api_points_measure(q, value, &at, &form, &s->points[i])) return false;
    }
    return true;
}

static bool read_spline(api_query *q, const api_node *fields, const api_place *up, size_t width, api_signal *s)
{
    api_place at = api_place_key(up, "degree");
    if (!api_node_get(fields, "degree"))
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "a spline needs its degree");
    s->curve.stretches = true;
    return api_spline_read(q, fields, up, width, &s->curve.spline, &s->points[0]);
}

bool api_signal_read(api_query *q, const api_node *value, const api_place *at, const api_signal_form *form,
                     api_signal *s)
{
    size_t width = form->width;
    *s           = (api_signal){.curve.range = form->duration};
    if (api_node_is(value, API_ARRAY) || api_node_is(value, API_NUMBER)) return read_constant(q, value, at, width, s);
    if (api_node_get(value, "values"))
        return api_check_keys(q, value, at, sampled_fields, "sampled values") && read_sampled(q, value, at, form, s);
    if (api_node_get(value, "control_points"))
        return api_check_keys(q, value, at, spline_fields, "a spline") && read_spline(q, value, at, width, s);
    if (api_node_get(value, "amplitude"))
        return api_check_keys(q, value, at, sine_fields, "a sinusoid") && read_sine(q, value, at, width, s);
    return api_fail_at(q->problem, at, api_node_is(value, API_OBJECT) ? API_MISSING_FIELD : API_WRONG_TYPE,
                       "%s given: an array of %zu numbers, or an object with values, control_points or amplitude "
                       "expected",
                       api_node_kind_text(value), width > 0 ? width : q->model->nv);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static bool interpolate(const api_query *q, const api_place *at, api_signal *s)
{
    const dyn_points values = s->curve.parts[0];
    switch (dyn_natural_spline(api_pool_memory(q->pool), &s->curve.spline, &values, values.batch ? q->rows : 1,
                               &s->curve.parts[0])) {
    case DYN_INTERPOLATED: return true;
    case DYN_INTERPOLATION_SINGULAR:
        return api_fail_at(q->problem, at, API_BAD_VALUE, "the times of sampled values are too close to each other");
    case DYN_INTERPOLATION_NO_MEMORY: break;
    }
    return false;
}

bool api_signal_load(const api_query *q, const api_place *at, api_signal *s)
{
    for (int i = 0; i < DYN_SINE_PARTS; i++)
        if (s->points[i].value && !api_points_load(q, &s->points[i], &s->curve.parts[i])) return false;
    return !s->is_cubic || interpolate(q, at, s);
}
