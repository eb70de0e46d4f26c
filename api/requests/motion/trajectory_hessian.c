/* trajectory_hessian.c - compute second derivatives of torques along joint motions by the control points.
 *
 * With multipliers m_n of the torques at sample n, and b_rk of spline_motion.h, the scalar sum_n m_n . tau(t_n) has the
 * second derivatives
 *
 *     H_kl = sum_n sum_rs b_rk b_sl (d2 (m_n . tau) / d x_r d x_s),  x_0 = q, x_1 = qd, x_2 = qdd,
 *
 * nv x nv for each pair of control points k, l. A state of this operation is a whole motion: W motions are evaluated
 * side by side, and the samples of a motion are added in order. */
#include "motion.h"
#include "api/base/work/deadline.h"
#include "dynamics/hessian.h"
#include "dynamics/model/coordinates.h"
#include <string.h>

enum { HESSIAN };
enum { VECTORS = 4 /* q, qd, qdd and multipliers of a sample */, MATRICES = 5 /* results of the kernel */ };

typedef struct hessian_options {
    api_motion *motion;
    api_points  multipliers; /* one point for each sample */
    dyn_points  values;      /* numbers of the multipliers */
} hessian_options;

static bool read_multipliers(api_query *q, const api_node *given, hessian_options *o)
{
    const api_points_form form = {.name = "multipliers", .least = 1, .why = ""};
    const api_place       at   = api_place_key(NULL, "torque_multipliers");
    if (!api_points_measure(q, api_node_get(given, "torque_multipliers"), &at, &form, &o->multipliers)) return false;
    return o->multipliers.n == o->motion->path.samples ||
           api_fail_at(q->problem, &at, API_WRONG_SHAPE, "multipliers of %zu samples given, of %zu expected",
                       o->multipliers.n, o->motion->path.samples);
}

/* The options are members of the request: the operation is alone in it. */
static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    (void)up;
    const api_place  at = api_place_key(NULL, "control_points");
    hessian_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "second derivatives are for models without loops, and %s has loops", q->model->name);
    if (q->model->nq != q->model->nv)
        return api_fail_at(
            q->problem, &at, API_NOT_SUPPORTED,
            "second derivatives along motions are for models with as many positions as velocities; %s has "
            "nq = %zu, nv = %zu",
            q->model->name, q->model->nq, q->model->nv);
    if (!(o->motion = api_motion_read(q, given)) || !read_multipliers(q, given, o)) return false;
    q->samples = 0; /* the samples are no states */
    api_set_extent(selected, API_SUPPORT, o->motion->path.spline.n);
    return true;
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    hessian_options *o = selected->options;
    return api_motion_load(plan->query, o->motion) && api_points_load(plan->query, &o->multipliers, &o->values) &&
           api_motion_check_durations(plan, o->motion);
}

static size_t spare(const api_model *model, const api_selection *selected)
{
    (void)selected;
    return (VECTORS + MATRICES * model->nv) * model->nv;
}

/* Seconds of the samples after the first, which the weights do not cover. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_model *m    = q->model;
    const double     more = (double)((const hessian_options *)selected->options)->motion->path.samples - 1;
    return (double)q->rows * more * (8 * (double)m->n_bodies + 2 * (double)(m->nv * m->nv)) *
           q->call->api->calibration.body;
}

/* --- one sample of a block ---------------------------------------------------------------------------------------- */

/* Lanes of one sample of W motions. */
typedef struct sample {
    size_t  row[DYN_MAX_LANES];                      /* unused lanes repeat the last motion */
    size_t  first[DYN_MAX_LANES];                    /* of its control points */
    double  b[3][DYN_SPLINE_SUPPORT][DYN_MAX_LANES]; /* b_rk */
    double *q, *qd, *qdd, *multipliers;              /* nv */
    double *q_q, *q_qd, *q_qdd, *qd_qd, *qd_qdd;     /* nv x nv */
} sample;

static sample sample_of(const api_evaluation *e, size_t block)
{
    const size_t vector = e->model->nv * e->lanes, matrix = vector * e->model->nv;
    double      *x = e->spare, *M = x + VECTORS * vector;
    sample       s = {.q           = x,
                      .qd          = x + vector,
                      .qdd         = x + 2 * vector,
                      .multipliers = x + 3 * vector,
                      .q_q         = M,
                      .q_qd        = M + matrix,
                      .q_qdd       = M + 2 * matrix,
                      .qd_qd       = M + 3 * matrix,
                      .qd_qdd      = M + 4 * matrix};
    for (size_t l = 0; l < e->lanes; l++) {
        const size_t state = block * e->lanes + l;
        s.row[l]           = state < e->query->rows ? state : e->query->rows - 1;
    }
    return s;
}

/* Evaluates the basis at sample n of the motion of a lane, and q, qd and qdd from it. */
static void put_motion(const api_evaluation *e, const hessian_options *o, size_t n, size_t lane, sample *s)
{
    const dyn_motion *m = &o->motion->path;
    const size_t      W = e->lanes, nv = e->model->nv, row = s->row[lane];
    const double      duration = dyn_motion_duration(m, row);
    const dyn_sample  on_path  = dyn_motion_sample(m, n, duration);
    const double     *points   = dyn_points_of(&m->points, row) + on_path.first * nv, *multipliers;
    double scale = 1, *const x[3] = {s->q, s->qd, s->qdd};
    s->first[lane] = on_path.first;
    for (size_t r = 0; r < 3; r++, scale /= duration)
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k <= m->spline.degree; k++) {
                s->b[r][k][lane] = on_path.basis[r][k] * scale;
                sum += s->b[r][k][lane] * points[k * nv + j];
            }
            x[r][j * W + lane] = sum;
        }
    multipliers = dyn_points_of(&o->values, row) + n * nv;
    for (size_t j = 0; j < nv; j++)
        s->multipliers[j * W + lane] = multipliers[j];
}

/* Checks that all angles are within the range of the kernels' sine and cosine. A motion beyond it fails; its q is set
 * to 0 in case the evaluation continues with the other motions. */
static bool check_angles(const api_evaluation *e, const sample *s, size_t block, size_t n)
{
    for (size_t l = 0; l < e->lanes && block * e->lanes + l < e->query->rows; l++) {
        const dyn_bound *beyond = api_find_angle_beyond_limit(e->model, s->q + l, e->lanes);
        char             text[API_ANGLE_TEXT];
        if (!beyond) continue;
        api_angle_write(beyond, s->q[beyond->entry * e->lanes + l], text);
        for (size_t j = 0; j < e->model->nv; j++)
            s->q[j * e->lanes + l] = 0;
        if (!api_fail_state(e, API_ANGLE_TOO_LARGE, API_CONTROL_POINTS, block * e->lanes + l,
                            "at sample %zu %.64s is %s; angles are limited to %g rad", n,
                            e->model->position_names[beyond->entry], text, beyond->most))
            return false;
    }
    return true;
}

/* Adds the sample's part of entry number i nv + j of H_kl for all control points k <= l of the support. */
static inline __attribute__((always_inline)) void add_entry(size_t W, const api_evaluation *e, const api_motion *m,
                                                            const sample *s, size_t entry, double *out)
{
    const size_t nv = e->model->nv, i = entry / nv, j = entry % nv;
    const size_t ij = entry * W, ji = (j * nv + i) * W, support = m->path.spline.degree + 1;
    for (size_t k = 0; k < support; k++)
        for (size_t l = k; l < support; l++)
            for (size_t w = 0; w < W; w++) {
                const double b0k = s->b[0][k][w], b1k = s->b[1][k][w], b2k = s->b[2][k][w];
                const double b0l = s->b[0][l][w], b1l = s->b[1][l][w], b2l = s->b[2][l][w];
                const double by_position     = b0l * s->q_q[ij + w] + b1l * s->q_qd[ij + w] + b2l * s->q_qdd[ij + w];
                const double by_rate         = b0l * s->q_qd[ji + w] + b1l * s->qd_qd[ij + w] + b2l * s->qd_qdd[ij + w];
                const double by_acceleration = b0l * s->q_qdd[ji + w] + b1l * s->qd_qdd[ji + w];
                const size_t row             = (s->first[w] + k) * nv + i;
                out[((row * m->path.spline.n + s->first[w] + l) * nv + j) * W + w] +=
                    b0k * by_position + b1k * by_rate + b2k * by_acceleration;
            }
}

static inline __attribute__((always_inline)) void add_sample_by(size_t W, const api_evaluation *e, const api_motion *m,
                                                                const sample *s, double *out)
{
    for (size_t entry = 0; entry < e->model->nv * e->model->nv; entry++)
        add_entry(W, e, m, s, entry, out);
}

/* Calls add_sample_by with the number of lanes as a constant, so that the compiler unrolls the loops over lanes. */
static void add_sample(const api_evaluation *e, const api_motion *m, const sample *s, double *out)
{
    switch (e->lanes) {
    case 8: add_sample_by(8, e, m, s, out); break;
    case 4: add_sample_by(4, e, m, s, out); break;
    case 2: add_sample_by(2, e, m, s, out); break;
    default: add_sample_by(e->lanes, e, m, s, out); break;
    }
}

/* --- a block of motions ------------------------------------------------------------------------------------------- */

/* Copies H_kl, k < l, to H_lk, which is its transpose. */
static void mirror(const api_evaluation *e, const api_motion *m, double *out)
{
    const size_t W = e->lanes, nv = e->model->nv, n = m->path.spline.n * nv;
    for (size_t row = 0; row < n; row++)
        for (size_t column = (row / nv + 1) * nv; column < n; column++)
            memcpy(out + (column * n + row) * W, out + (row * n + column) * W, W * sizeof *out);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    const hessian_options *o   = selected->options;
    double                *out = api_result_block(e, selected, HESSIAN, block);
    sample                 s   = sample_of(e, block);
    const dyn_hessian      io  = {.q           = s.q,
                                  .qd          = s.qd,
                                  .qdd         = s.qdd,
                                  .wrenches    = api_wrench_block(e, block),
                                  .multipliers = s.multipliers,
                                  .q_q         = s.q_q,
                                  .q_qd        = s.q_qd,
                                  .q_qdd       = s.q_qdd,
                                  .qd_qd       = s.qd_qd,
                                  .qd_qdd      = s.qd_qdd};
    memset(out, 0, api_output_entries(e->model, selected, HESSIAN) * e->lanes * sizeof *out);
    for (size_t n = 0; n < o->motion->path.samples; n++) {
        /* Check at each sample: with many coordinates one takes milliseconds. */
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        for (size_t l = 0; l < e->lanes; l++)
            put_motion(e, o, n, l, &s);
        if (!check_angles(e, &s, block, n)) return false;
        e->kernels->hessian(&e->query->scene, e->workspace, &io, 1);
        add_sample(e, o->motion, &s, out);
    }
    mirror(e, o->motion, out);
    return true;
}

const api_operation api_trajectory_hessian = {
    .name = "trajectory-hessian",
    .needs =
        API_BIT(API_DEGREE) | API_BIT(API_DURATION) | API_BIT(API_CONTROL_POINTS) | API_BIT(API_TORQUE_MULTIPLIERS),
    .takes = API_BIT(API_KNOTS) | API_BIT(API_SAMPLES) | API_BIT(API_TIMES) | API_BIT(API_GRAVITY) |
             API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) |
             API_BIT(API_OUTPUTS),
    .outputs         = {[HESSIAN] = {"hessian_control_points", true, {API_SUPPORT, API_NV, API_SUPPORT, API_NV}}},
    .alone           = true,
    .one_by_one      = true,
    .weight          = 8,
    .square_weight   = 2,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
