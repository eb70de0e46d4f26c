/* motion_sample.c - evaluate q to qddd at all samples of the motions from their control points: see motion.h. */
#include "coordinate_change.h"
#include "api/requests/fields/rows.h"
#include "dynamics/loops/loops.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

/* --- states ----------------------------------------------------------------------------------------------------- */

/* A sample of a motion: its time and the motion's duration in s, and the basis functions that are not zero there, with
 * their derivatives by the fraction of the duration. */
typedef struct sample {
    double time, duration;
    size_t first;
    double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT];
} sample;

static sample evaluate_sample(const api_motion *m, size_t n, double duration)
{
    sample s        = {.duration = duration};
    double fraction = m->times ? m->times[n] / duration : (double)n / (double)(m->samples - 1);
    s.first         = dyn_spline_basis(&m->spline, fraction, s.basis);
    return s;
}

/* Writes a sample of a motion into the lanes of a state: the derivative of order r of the spline is sum_k b_rk c_k,
 * with b_rk that of basis function k, and c_k the control points in `points`. */
static void put_state(const api_evaluation *e, const api_motion *m, size_t state, const sample *s, const double *points)
{
    size_t  W = e->lanes, nv = e->model->nv, support = m->spline.degree + 1;
    double *basis = api_state_lane(e, m->basis, DYN_SPLINE_ORDERS * support, state), scale = 1, b[DYN_SPLINE_SUPPORT];
    *api_state_lane(e, m->time, 1, state)  = s->time;
    *api_state_lane(e, m->rate, 1, state)  = 1 / s->duration;
    *api_state_lane(e, m->first, 1, state) = (double)s->first;
    points += s->first * nv;
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++, scale /= s->duration) {
        double *q = api_state_lane(e, m->spline_state[r], nv, state);
        for (size_t k = 0; k < support; k++)
            basis[(r * support + k) * W] = b[k] = s->basis[r][k] * scale;
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k < support; k++)
                sum += b[k] * points[k * nv + j];
            q[j * W] = sum;
        }
    }
}

/* Sets the state to the zero position, in case the evaluation continues with the other rows. */
static void clear_state(const api_evaluation *e, const api_motion *m, size_t state)
{
    for (size_t i = 0; i < e->model->nv; i++)
        api_state_lane(e, m->spline_state[0], e->model->nv, state)[i * e->lanes] = 0;
    api_motion_put_coordinates(e, m, state);
}

/* Checks that all angles are within the range in which the kernels' sine and cosine are accurate, and rotation vectors
 * within theirs. A state out of range fails. */
static bool check_angles(const api_evaluation *e, const api_motion *m, size_t state)
{
    const double *q = api_state_lane(e, e->plan->state[API_Q], e->model->nq, state);
    char          text[API_ANGLE_TEXT];
    if (!api_rotation_vectors_within_limit(e, m, state)) {
        clear_state(e, m, state);
        return api_fail_state(e, API_ANGLE_TOO_LARGE, API_CONTROL_POINTS, state,
                              "at sample %zu a rotation vector is longer than 2 pi", state % m->samples);
    }
    const dyn_bound *beyond = api_find_angle_beyond_limit(e->model, q, e->lanes);
    if (!beyond) return true;
    api_angle_write(beyond, q[beyond->entry * e->lanes], text);
    clear_state(e, m, state);
    return api_fail_state(e, API_ANGLE_TOO_LARGE, API_CONTROL_POINTS, state,
                          "at sample %zu %.64s is %s; angles are limited to %g rad", state % m->samples,
                          e->model->position_names[beyond->entry], text, beyond->most);
}

/* The outer loop is over samples: all motions share the basis functions of a sample, unless "times" are given and the
 * durations differ. */
static bool put_states(const api_evaluation *e, const api_motion *m, const double *points)
{
    size_t room   = e->plan->blocks * e->lanes;
    bool   shared = !m->times || !m->durations_differ;
    sample s;
    for (size_t n = 0; n < m->samples; n++) {
        if (n % API_CHUNK == 0 && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        for (size_t b = 0; b < e->query->rows; b++) {
            double duration = m->durations[m->durations_differ ? b : 0];
            if (b == 0 || !shared) s = evaluate_sample(m, n, duration);
            s.duration   = duration;
            s.time       = m->times ? m->times[n] : (double)n / (double)(m->samples - 1) * duration;
            size_t state = b * m->samples + n, last = state + 1 == api_states(e->query) ? room : state + 1;
            for (; state < last; state++) { /* the last state also fills the unused lanes of its block */
                put_state(e, m, state, &s, api_points_of(&m->points, points, b));
                if (api_rotation_vectors_within_limit(e, m, state)) api_motion_put_coordinates(e, m, state);
            }
            if (!check_angles(e, m, b * m->samples + n)) return false;
        }
    }
    return true;
}

/* --- between samples --------------------------------------------------------------------------------------------- */

/* The fraction t / T of sample n. */
static double fraction_of(const api_motion *m, size_t row, size_t n)
{
    return m->times ? m->times[n] / m->durations[m->durations_differ ? row : 0] : (double)n / (double)(m->samples - 1);
}

void api_motion_between(const api_evaluation *e, const api_motion *m, size_t row, size_t n, double s, double *q)
{
    double        basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT], begin = fraction_of(m, row, n - 1);
    const double *points = api_points_of(&m->points, m->values, row);
    size_t        nv     = e->model->nv, first;
    first                = dyn_spline_basis(&m->spline, begin + s * (fraction_of(m, row, n) - begin), basis);
    for (size_t j = 0; j < nv; j++) {
        q[j] = 0;
        for (size_t k = 0; k <= m->spline.degree; k++)
            q[j] += basis[0][k] * points[(first + k) * nv + j];
    }
}

double api_motion_time(const api_motion *m, size_t row, size_t n, double s)
{
    double begin = fraction_of(m, row, n - 1);
    return (begin + s * (fraction_of(m, row, n) - begin)) * m->durations[m->durations_differ ? row : 0];
}

/* The derivative of a spline by the knot value is a weighted mean of d (c_k+1 - c_k) / (t_k+d+1 - t_k+1), and is
 * therefore at most the largest of these terms. */
double api_motion_travel_bound(const api_evaluation *e, const api_motion *m, size_t row, size_t n)
{
    const dyn_spline *spline = &m->spline;
    const double     *points = api_points_of(&m->points, m->values, row), *t = spline->knots;
    double            begin = fraction_of(m, row, n - 1), end = fraction_of(m, row, n), most = 0;
    size_t            d = spline->degree, nv = e->model->nv, last = dyn_spline_first(spline, end) + d;
    for (size_t k = dyn_spline_first(spline, begin); k < last; k++)
        for (size_t j = 0; j < nv; j++) {
            double travel = e->model->loops->travel[e->model->loops->active_v[j]];
            double way    = travel * fabs(points[(k + 1) * nv + j] - points[k * nv + j]);
            if (way > 0) most = fmax(most, (double)d * way / (t[k + d + 1] - t[k + 1]));
        }
    return most * (end - begin) * (t[spline->n] - t[d]);
}

/* --- all lanes -------------------------------------------------------------------------------------------------- */

/* Takes the lanes of the derivative of order r. */
static bool take_coordinates(api_plan *plan, api_motion *m, int r)
{
    const api_model *model = plan->query->model;
    plan->state[API_Q + r] = api_take_lanes(plan, r == 0 ? model->nq : model->nv);
    m->spline_state[r]     = api_has_rotation_vectors(model) ? api_take_lanes(plan, model->nv) : plan->state[API_Q + r];
    return plan->state[API_Q + r] && m->spline_state[r];
}

bool api_motion_sample(api_plan *plan, api_motion *m)
{
    const double *points = m->values = api_points_read(plan->query, &m->points);
    m->time                          = api_take_lanes(plan, 1);
    m->rate                          = api_take_lanes(plan, 1);
    m->first                         = api_take_lanes(plan, 1);
    m->basis                         = api_take_lanes(plan, DYN_SPLINE_ORDERS * (m->spline.degree + 1));
    bool room                        = points && m->time && m->rate && m->first && m->basis;
    for (int r = 0; room && r < DYN_SPLINE_ORDERS; r++)
        room = take_coordinates(plan, m, r);
    api_evaluation e = api_evaluation_of(plan);
    return room && api_motion_check_durations(plan, m) && put_states(&e, m, points) &&
           api_motion_sample_wrenches(plan, m);
}
