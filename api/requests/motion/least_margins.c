/* least_margins.c - see least_margins.h. */
#include "least_margins.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/trajectory_gradients/motion_knots.h"
#include <math.h>
#include <string.h>

/* Returns the numbers of one gradient: with respect to all control points, the duration and all knots. */
static size_t gradient_size(const api_motion *m, size_t nv)
{
    return m->path.spline.n * nv + 1 + dyn_motion_knots(&m->path);
}

static double margin_of(const api_evaluation *e, const api_least_margins *l, size_t state, size_t i)
{
    return api_state_lane(e, l->margins, l->limits->n, state)[i * e->lanes];
}

size_t api_least_margin_sample(const api_evaluation *e, const api_least_margins *l, size_t row, size_t i)
{
    const size_t first = row * l->motion->path.samples;
    size_t       least = 0;
    for (size_t n = 1; n < l->motion->path.samples; n++)
        if (margin_of(e, l, first + n, i) < margin_of(e, l, first + least, i)) least = n;
    return least;
}

bool api_least_margins_check(const api_evaluation *e, const api_least_margins *l)
{
    for (size_t state = 0; state < api_states(e->query); state++) {
        bool finite = true;
        for (size_t i = 0; i < l->limits->n; i++)
            finite = finite && isfinite(margin_of(e, l, state, i));
        if (finite || api_failed_rows_has(e->plan->failed_rows, state)) continue;
        if (!api_fail_state(e, API_RESULT_NOT_FINITE, API_CONTROL_POINTS, state,
                            "at sample %zu a margin is not finite: the figures are too large",
                            state % l->motion->path.samples))
            return false;
    }
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}

/* --- gradients ---------------------------------------------------------------------------------------------------- */

bool api_least_gradients_take(const api_query *q, api_least_margins *l)
{
    const size_t bytes = q->rows * l->limits->n * gradient_size(l->motion, q->model->nv) * sizeof *l->gradients;
    l->gradients       = api_take(q->pool, bytes);
    if (l->gradients) memset(l->gradients, 0, bytes);
    return l->gradients != NULL;
}

size_t api_least_gradient_room(const api_motion *m, size_t nv)
{
    return gradient_size(m, nv) + DYN_SPLINE_ORDERS * nv;
}

/* Returns the partial derivatives of row i. */
static dyn_partials row_of(const api_evaluation *e, const dyn_partials *p, size_t i)
{
    dyn_partials row = {.rows = 1, .orders = p->orders, .by_duration = p->by_duration + i * e->lanes};
    for (size_t r = 0; r < p->orders; r++)
        row.by[r] = p->by[r] + i * e->model->nv * e->lanes;
    return row;
}

/* Returns where the gradient of limit i of a motion is stored. */
static double *gradient_of(const api_query *q, const api_least_margins *l, size_t row, size_t i)
{
    return l->gradients + (row * l->limits->n + i) * gradient_size(l->motion, q->model->nv);
}

bool api_least_gradient_store(const api_evaluation *e, const api_least_margins *l, const dyn_partials *margins,
                              size_t state, size_t i, double *room)
{
    const size_t        W = e->lanes, nv = e->model->nv, points = l->motion->path.spline.n * nv, block = state / W;
    const size_t        size   = gradient_size(l->motion, nv);
    const dyn_partials  one    = row_of(e, margins, i);
    dyn_motion_block    all    = api_motion_block(e, l->motion, block);
    const dyn_gradients to     = {room, room + points * W, room + (points + 1) * W};
    double             *stored = gradient_of(e->query, l, state / l->motion->path.samples, i), sum = 0;
    all.dense = true;
    dyn_chain_gradients(&all, &one, &to, room + size * W);
    for (size_t k = 0; k < size; k++) {
        const size_t j = e->query->order && k < points ? k - k % nv + (size_t)e->query->order[k % nv] : k;
        stored[k]      = room[j * W + state % W];
        sum += fabs(stored[k]);
    }
    return isfinite(sum) ||
           api_fail_state(e, API_RESULT_NOT_FINITE, API_CONTROL_POINTS, state,
                          "the gradient of the least margin of %.64s is not finite", l->limits->owner[i].name);
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* Writes the least margin of limit i at `state`. Before the evaluation, when lengths are measured, `state` is not read.
 */
static void emit_margin(const api_evaluation *e, const api_least_margins *l, size_t state, size_t i, api_emit *to)
{
    const dyn_limit *limit = &l->limits->limit[i];
    double           near = 0, margin = 0, time = 0;
    if (to->buffer) {
        const double side = api_state_lane(e, l->sides, 2 * l->limits->n, state)[i * e->lanes];
        near              = side > 0 ? limit->lower : limit->upper;
        margin            = margin_of(e, l, state, i);
        time              = *api_state_lane(e, l->motion->time, 1, state);
    }
    api_emit_object(to);
    api_emit_string_member(to, "joint", l->limits->owner[i].name);
    api_emit_string_member(to, "kind", api_limit_names[limit->kind]);
    api_emit_number_member(to, "limit", near);
    api_emit_number_member(to, "margin", margin);
    api_emit_number_member(to, "time", time);
    api_emit_end(to);
}

static void emit_gradient(const api_evaluation *e, const api_least_margins *l, size_t state, size_t i, api_emit *to)
{
    const api_motion *m  = l->motion;
    const size_t      nv = e->model->nv, knots = dyn_motion_knots(&m->path), points[] = {m->path.spline.n, nv};
    const double     *gradient = to->buffer ? gradient_of(e->query, l, state / m->path.samples, i) : NULL;
    api_emit_object(to);
    api_emit_integer_member(to, "sample", (long long)(to->buffer ? state % m->path.samples : m->path.samples - 1));
    api_emit_key(to, "dcontrol_points");
    api_emit_numbers(to, gradient, 2, points);
    api_emit_number_member(to, "dduration", gradient ? gradient[m->path.spline.n * nv] : 0);
    api_emit_key(to, "dknots");
    api_emit_numbers(to, gradient ? gradient + m->path.spline.n * nv + 1 : NULL, 1, &knots);
    api_emit_end(to);
}

typedef void emit_one(const api_evaluation *e, const api_least_margins *l, size_t state, size_t i, api_emit *to);

static void emit_all(const api_plan *plan, const api_least_margins *l, emit_one *one, api_emit *to)
{
    const api_evaluation e = api_evaluation_of(plan);
    if (plan->query->batched) api_emit_array(to);
    for (size_t row = 0; row < api_answered_rows(plan->query); row++) {
        const size_t first = row * l->motion->path.samples;
        if (to->buffer && api_failed_rows_has(plan->failed_rows, first)) {
            api_emit_null(to);
            continue;
        }
        api_emit_array(to);
        for (size_t i = 0; i < l->limits->n; i++)
            one(&e, l, first + (to->buffer ? api_least_margin_sample(&e, l, row, i) : 0), i, to);
        api_emit_end(to);
    }
    if (plan->query->batched) api_emit_end(to);
}

void api_least_margins_emit(const api_plan *plan, const api_least_margins *l, api_emit *to)
{
    emit_all(plan, l, emit_margin, to);
}

void api_least_gradients_emit(const api_plan *plan, const api_least_margins *l, api_emit *to)
{
    emit_all(plan, l, emit_gradient, to);
}
