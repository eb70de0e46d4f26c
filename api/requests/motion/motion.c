/* motion.c - read and check the description of a motion in a request: see motion.h. */
#include "motion.h"
#include "api/requests/fields/rows.h"
#include "api/requests/lanes/failed_rows.h"
#include "sampling.h"
#include "spline_fields.h"
#include "api/codec/number.h"
#include <math.h>

#define ANY_DURATION 1e6 /* s, a substitute where no motion of the request has a valid duration */

/* --- time ------------------------------------------------------------------------------------------------------- */

static bool check_duration(api_problem *problem, double duration, const api_place *at)
{
    if (!(duration > 0))
        return api_fail_at(problem, at, API_BAD_VALUE, "%s given, a time in s greater than 0 expected",
                           API_NUMBER_TEXT(duration));
    return isfinite(1 / (duration * duration * duration)) ||
           api_fail_at(problem, at, API_BAD_VALUE,
                       "%s s given: so short a motion has derivatives too large to compute with",
                       API_NUMBER_TEXT(duration));
}

/* True if the duration is valid. Otherwise writes the problem to `found`, not to the request's problem. */
static bool is_valid(double duration, const api_place *at, api_problem *found)
{
    api_problem_clear(found);
    return check_duration(found, duration, at);
}

/* Replaces each invalid duration by a valid one, so that the other motions can be evaluated. The motions with
 * invalid durations are marked later, by api_motion_check_durations. */
static void replace_durations(const api_place *at, size_t n, double *durations)
{
    api_problem found;
    double      valid = ANY_DURATION;
    for (size_t b = n; b-- > 0;)
        if (is_valid(durations[b], at, &found)) valid = durations[b];
    for (size_t b = 0; b < n; b++)
        if (!is_valid(durations[b], at, &found)) durations[b] = valid;
}

bool api_motion_check_durations(const api_plan *plan, const api_motion *m)
{
    const api_query *q     = plan->query;
    api_failed_rows *f     = plan->failed_rows;
    const api_node  *value = q->field[API_DURATION];
    api_place        at    = api_place_key(NULL, "duration");
    api_problem      found;
    if (!f || !value) return true; /* without the field "duration", the duration is a constant of the operation */
    if (!m->path.durations_differ)
        return is_valid(api_node_number(value), &at, &found) || api_failed_rows_add_all(f, &found, q->problem);
    for (size_t b = 0; b < q->rows; b++) {
        double    duration;
        api_place entry_at = api_place_index(&at, b);
        api_node_numbers(value, b, 1, &duration);
        if (!is_valid(duration, &entry_at, &found) && !api_failed_rows_add(f, -1, b * q->samples, &found, q->problem))
            return false;
    }
    return true;
}

static bool check_durations(const api_query *q, const api_place *at, size_t n, const double *durations)
{
    for (size_t b = 0; b < n; b++) {
        api_place entry_at = api_place_index(at, b);
        if (check_duration(q->problem, durations[b], &entry_at)) continue;
        q->problem->row = (long long)b;
        return false;
    }
    return true;
}

/* Reads one duration for all motions, or one for each motion. Returns the number of durations, 0 with a problem. */
static size_t read_durations(api_query *q, const api_node *value, const api_place *at, double **durations)
{
    bool   differ = api_node_is(value, API_ARRAY), alone = api_failed_rows_requested(q);
    size_t n = differ ? api_node_size(value) : 1;
    if (n == 0) {
        api_fail_at(q->problem, at, API_WRONG_SHAPE, "an empty array given, a time for each motion expected");
        return 0;
    }
    if (differ && !api_batch_rows(q, n, at)) return 0;
    *durations = api_take(q->pool, n * sizeof **durations);
    if (!*durations) return 0;
    if (!(differ ? api_read_numbers(q, value, at, n, *durations) : api_read_number(q, value, at, *durations))) return 0;
    if (alone) replace_durations(at, n, *durations);
    bool good = alone || (differ ? check_durations(q, at, n, *durations) : check_duration(q->problem, **durations, at));
    return good ? n : 0;
}

static bool read_duration(api_query *q, const api_node *fields, api_motion *m)
{
    const api_node *value     = api_node_get(fields, "duration");
    api_place       at        = api_place_key(NULL, "duration");
    double         *durations = NULL;
    size_t          n         = read_durations(q, value, &at, &durations);
    m->path.durations         = durations;
    m->path.durations_differ  = api_node_is(value, API_ARRAY);
    m->least = m->most = n > 0 ? durations[0] : 0;
    for (size_t b = 1; b < n; b++) {
        m->least = fmin(m->least, durations[b]);
        m->most  = fmax(m->most, durations[b]);
    }
    return n > 0;
}

static bool read_samples(api_query *q, const api_node *fields, api_motion *m)
{
    api_sampling sampling;
    if (!api_sampling_read(q, fields, m->least, "a trajectory", &sampling)) return false;
    m->path.samples = sampling.n;
    m->path.times   = sampling.times;
    return true;
}

static bool read_dense(const api_query *q, const api_node *fields, api_motion *m)
{
    api_place at = api_place_key(NULL, "dense");
    return api_read_flag(q, api_node_get(fields, "dense"), &at, &m->dense);
}

api_motion *api_motion_read(api_query *q, const api_node *fields)
{
    api_place   root = api_place_key(NULL, "control_points");
    api_motion *m    = api_take(q->pool, sizeof *m);
    if (!m) return NULL;
    if (q->model->nq != q->model->nv && q->model->loops) {
        api_fail_at(
            q->problem, &root, API_NOT_SUPPORTED,
            "trajectories of models with loops need as many positions as velocities; %s has nq = %zu, nv = %zu: "
            "replace a spherical joint by three revolute joints, a floating base also by three prismatic ones",
            q->model->name, q->model->nq, q->model->nv);
        return NULL;
    }
    *m = (api_motion){.path.robot = api_model_mechanism(q->model)};
    if (!api_spline_read(q, fields, NULL, 0, &m->path.spline, &m->points) || !read_duration(q, fields, m) ||
        !read_samples(q, fields, m) || !read_dense(q, fields, m) ||
        !api_wrench_signals_read(q, 1, m->most, &m->wrenches))
        return NULL;
    q->samples = m->path.samples;
    return m;
}

/* --- use ---------------------------------------------------------------------------------------------------------- */

bool api_motion_load(const api_query *q, api_motion *m)
{
    return api_points_load(q, &m->points, &m->path.points);
}

dyn_motion_block api_motion_block(const api_evaluation *e, const api_motion *m, size_t block)
{
    const size_t     nv = e->model->nv, support = m->path.spline.degree + 1;
    dyn_motion_block b = {.motion   = &m->path,
                          .deadline = e->query->scene.deadline,
                          .W        = e->lanes,
                          .state    = block * e->lanes,
                          .states   = api_states(e->query),
                          .dense    = m->dense,
                          .time     = api_block(e, m->time, 1, block),
                          .rate     = api_block(e, m->rate, 1, block),
                          .first    = api_block(e, m->first, 1, block),
                          .basis    = api_block(e, m->basis, DYN_SPLINE_ORDERS * support, block)};
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        b.x[r] = api_block(e, m->spline_state[r], nv, block);
    return b;
}
