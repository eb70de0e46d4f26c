/* motion.c - reading a request for motions: see motion.h. */
#include "motion.h"
#include "batch.h"
#include <math.h>

static bool read_number(const api_evaluation *e, const api_node *value, const api_place *at, double *number)
{
    if (!api_node_is(value, API_NUMBER))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, a number expected", api_node_kind_text(value));
    *number = api_node_number(value);
    return true;
}

static bool read_degree(const api_evaluation *e, const api_node *fields, api_motion *m)
{
    double    degree = 0;
    api_place at     = api_place_key(NULL, "degree");
    if (!read_number(e, api_node_get(fields, "degree"), &at, &degree)) return false;
    if (!(degree >= 1 && degree <= API_SPLINE_DEGREE && degree == floor(degree)))
        return api_fail_at(e, &at, API_BAD_VALUE, "%.17g given, a whole number from 1 to %d expected", degree,
                           API_SPLINE_DEGREE);
    m->spline.degree = (size_t)degree;
    return true;
}

/* --- control points --------------------------------------------------------------------------------------------- */

static bool read_list(const api_evaluation *e, const api_node *list, const api_place *at, const char *of)
{
    return api_node_is(list, API_ARRAY) ||
           api_fail_at(e, at, API_WRONG_TYPE, "%s given, an array of %s expected", api_node_kind_text(list), of);
}

static bool check_point(const api_evaluation *e, const api_node *point, const api_place *at)
{
    size_t nv = e->model->nv, n = api_node_size(point), extent[API_PACKED_RANK];
    if (!read_list(e, point, at, "numbers, one for each joint,")) return false;
    for (size_t j = 0; api_node_packed(point, extent) != 1 && j < n; j++) {
        api_node  entry;
        api_place entry_at = api_place_index(at, j);
        if (api_node_item(point, j, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(e, &entry_at, API_WRONG_TYPE, "%s given, a number expected", api_node_kind_text(&entry));
    }
    return n == nv ||
           api_fail_at(e, at, API_WRONG_SHAPE, "%zu entries given, %zu expected (nv of %s)", n, nv, e->model->name);
}

/* One motion's; `n` of them in every motion, which the first sets. */
static bool check_points(const api_evaluation *e, const api_node *points, const api_place *at, size_t degree, size_t *n)
{
    if (!read_list(e, points, at, "control points")) return false;
    size_t given = api_node_size(points);
    if (given <= degree)
        return api_fail_at(e, at, API_WRONG_SHAPE, "%zu control points given, at least %zu expected for degree %zu",
                           given, degree + 1, degree);
    if (*n > 0 && given != *n)
        return api_fail_at(e, at, API_WRONG_SHAPE,
                           "%zu control points given, but the first motion has %zu: all motions have the same", given,
                           *n);
    *n = given;
    for (size_t k = 0; k < given; k++) {
        api_node  point;
        api_place point_at = api_place_index(at, k);
        if (!api_node_item(points, k, &point) || !check_point(e, &point, &point_at)) return false;
    }
    return true;
}

/* n x nv numbers are one motion, B x n x nv a batch. */
static bool is_batch(const api_node *points)
{
    api_node motion, point;
    return api_node_item(points, 0, &motion) && api_node_item(&motion, 0, &point) && api_node_is(&point, API_ARRAY);
}

static bool read_control_points(api_evaluation *e, const api_node *fields, api_motion *m)
{
    const api_node *points = m->control_points = api_node_get(fields, "control_points");
    api_place       at                         = api_place_key(NULL, "control_points");
    m->batch                                   = is_batch(points);
    if (!m->batch) return check_points(e, points, &at, m->spline.degree, &m->spline.n);
    if (!api_batch_rows(e, api_node_size(points), &at)) return false;
    for (size_t b = 0; b < api_node_size(points); b++) {
        api_node  motion;
        api_place motion_at = api_place_index(&at, b);
        api_node_item(points, b, &motion);
        if (check_points(e, &motion, &motion_at, m->spline.degree, &m->spline.n)) continue;
        e->problem->row = (long long)b;
        return false;
    }
    return true;
}

/* --- time ------------------------------------------------------------------------------------------------------- */

static bool check_duration(const api_evaluation *e, double duration, const api_place *at)
{
    return (duration > 0 && isfinite(1 / (duration * duration * duration))) ||
           api_fail_at(e, at, API_BAD_VALUE, "%.17g given, a time in s greater than 0 expected", duration);
}

static double *read_numbers(api_evaluation *e, const api_node *list, const api_place *at, size_t n)
{
    double *numbers = api_take(e, n * sizeof *numbers);
    return numbers && api_read_numbers(e, list, at, n, numbers) ? numbers : NULL;
}

/* One, or one for each motion; returns how many, 0 with a problem. */
static size_t read_durations(api_evaluation *e, const api_node *value, const api_place *at, double **durations)
{
    size_t n = api_node_size(value);
    if (!api_node_is(value, API_ARRAY)) {
        *durations = api_take(e, sizeof **durations);
        return *durations && read_number(e, value, at, *durations) && check_duration(e, **durations, at);
    }
    if (n == 0) {
        api_fail_at(e, at, API_WRONG_SHAPE, "an empty array given, a time for each motion expected");
        return 0;
    }
    *durations = api_batch_rows(e, n, at) ? read_numbers(e, value, at, n) : NULL;
    for (size_t b = 0; *durations && b < n; b++) {
        api_place entry_at = api_place_index(at, b);
        if (check_duration(e, (*durations)[b], &entry_at)) continue;
        e->problem->row = (long long)b;
        return 0;
    }
    return *durations ? n : 0;
}

static bool read_duration(api_evaluation *e, const api_node *fields, api_motion *m)
{
    const api_node *value     = api_node_get(fields, "duration");
    api_place       at        = api_place_key(NULL, "duration");
    double         *durations = NULL;
    size_t          n         = read_durations(e, value, &at, &durations);
    m->durations              = durations;
    m->durations_differ       = api_node_is(value, API_ARRAY);
    m->least                  = n > 0 ? durations[0] : 0;
    for (size_t b = 1; b < n; b++)
        m->least = fmin(m->least, durations[b]);
    return n > 0;
}

static bool check_samples(const api_evaluation *e, double n, const api_place *at)
{
    size_t limit = e->call->api->limits.rows;
    return n <= (double)limit ||
           api_fail_at(e, at, API_TOO_MANY_ROWS, "%.17g samples asked for, the limit is %zu", n, limit);
}

static bool read_times(api_evaluation *e, const api_node *times, const api_place *at, api_motion *m)
{
    if (!read_list(e, times, at, "times")) return false;
    m->samples = api_node_size(times);
    if (m->samples == 0) return api_fail_at(e, at, API_WRONG_SHAPE, "an empty array given, at least one time expected");
    if (!check_samples(e, (double)m->samples, at)) return false;
    m->times = read_numbers(e, times, at, m->samples);
    for (size_t n = 0; m->times && n < m->samples; n++) {
        api_place entry_at = api_place_index(at, n);
        if (!(m->times[n] >= 0 && m->times[n] <= m->least))
            return api_fail_at(e, &entry_at, API_BAD_VALUE,
                               "%.17g s given, a time from 0 to the duration, %.17g s, expected", m->times[n],
                               m->least);
    }
    return m->times != NULL;
}

static bool read_samples(api_evaluation *e, const api_node *fields, api_motion *m)
{
    const api_node *samples = api_node_get(fields, "samples"), *times = api_node_get(fields, "times");
    api_place       at = api_place_key(NULL, "samples"), times_at = api_place_key(NULL, "times");
    double          n = 0;
    if (times)
        return samples ? api_fail_at(e, &times_at, API_BAD_VALUE, "times given beside samples: give one of them")
                       : read_times(e, times, &times_at, m);
    if (!samples)
        return api_fail_at(e, &at, API_MISSING_FIELD,
                           "a trajectory needs samples, their number, or times, where they are");
    if (!read_number(e, samples, &at, &n)) return false;
    if (!(n >= 2 && n == floor(n)))
        return api_fail_at(e, &at, API_BAD_VALUE, "%.17g given, a whole number of at least 2 expected", n);
    if (!check_samples(e, n, &at)) return false;
    m->samples = (size_t)n;
    return true;
}

/* --- knots ------------------------------------------------------------------------------------------------------ */

static bool fail_knots(const api_evaluation *e, const api_motion *m, const api_place *up, size_t i, api_knots what)
{
    const double *t  = m->spline.knots;
    api_place     at = api_place_index(up, i);
    if (what == API_KNOTS_FALL)
        return api_fail_at(e, &at, API_BAD_VALUE, "%.17g given after %.17g: knots never fall; sort them", t[i],
                           t[i - 1]);
    if (what == API_KNOTS_REPEATED)
        return api_fail_at(e, &at, API_BAD_VALUE,
                           "%.17g given once more: at degree %zu at most %zu knots coincide, at the ends %zu", t[i],
                           m->spline.degree, m->spline.degree, m->spline.degree + 1);
    return api_fail_at(
        e, up, API_BAD_VALUE,
        "the motion goes from knot %zu, %.17g, to knot %zu, %.17g: a finite range greater than 0 expected",
        m->spline.degree, t[m->spline.degree], m->spline.n, t[m->spline.n]);
}

static bool read_knots(api_evaluation *e, const api_node *fields, api_motion *m)
{
    const api_node *knots = api_node_get(fields, "knots");
    api_place       at    = api_place_key(NULL, "knots");
    size_t          count = m->spline.n + m->spline.degree + 1, i;
    api_knots       what;
    if (!knots) {
        m->spline.knots = api_take(e, count * sizeof(double));
        if (m->spline.knots) api_spline_clamp(&m->spline);
        return m->spline.knots != NULL;
    }
    if (api_node_is(knots, API_ARRAY) && api_node_size(knots) != count)
        return api_fail_at(e, &at, API_WRONG_SHAPE,
                           "%zu knots given, %zu expected: one for each of %zu control points, and degree + 1",
                           api_node_size(knots), count, m->spline.n);
    m->spline.knots = read_numbers(e, knots, &at, count);
    if (!m->spline.knots) return false;
    return !api_spline_knots_fail(&m->spline, &i, &what) || fail_knots(e, m, &at, i, what);
}

static bool read_dense(const api_evaluation *e, const api_node *fields, api_motion *m)
{
    const api_node *dense = api_node_get(fields, "dense");
    api_place       at    = api_place_key(NULL, "dense");
    m->dense              = api_node_is(dense, API_TRUE);
    return !dense || m->dense || api_node_is(dense, API_FALSE) ||
           api_fail_at(e, &at, API_WRONG_TYPE, "%s given, true or false expected", api_node_kind_text(dense));
}

api_motion *api_motion_read(api_evaluation *e, const api_node *fields)
{
    api_place   root = api_place_key(NULL, "control_points");
    api_motion *m    = api_take(e, sizeof *m);
    if (!m) return NULL;
    if (e->model->nq != e->model->nv) {
        api_fail_at(e, &root, API_NOT_SUPPORTED,
                    "trajectories are for models with as many positions as velocities; %s has nq = %zu, nv = %zu: "
                    "describe its base by three prismatic and three revolute joints",
                    e->model->name, e->model->nq, e->model->nv);
        return NULL;
    }
    *m = (api_motion){.samples = 0};
    if (!read_degree(e, fields, m) || !read_control_points(e, fields, m) || !read_duration(e, fields, m) ||
        !read_samples(e, fields, m) || !read_knots(e, fields, m) || !read_dense(e, fields, m))
        return NULL;
    e->samples = m->samples;
    return m;
}
