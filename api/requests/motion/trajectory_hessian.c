/* trajectory_hessian.c - computes second derivatives of torques along joint motions with respect to the control points.
 *
 * A state of this operation is a whole motion: W motions are evaluated side by side, and the samples of a motion are
 * added in order (motion_hessian.h). */
#include "motion.h"
#include "api/base/work/deadline.h"
#include "dynamics/hessian.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/trajectory_gradients/motion_hessian.h"
#include <string.h>

enum { HESSIAN };

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
    q->samples = 0; /* the samples of a motion are not states of the request here */
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
    return dyn_motion_hessian_entries(model->nv);
}

/* Returns the seconds of the samples after the first, which the weights do not cover. */
static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_model *m    = q->model;
    const double     more = (double)((const hessian_options *)selected->options)->motion->path.samples - 1;
    return (double)q->rows * more * (8 * (double)m->n_bodies + 2 * (double)(m->nv * m->nv)) *
           q->call->api->calibration.body;
}

/* --- one sample of a block ---------------------------------------------------------------------------------------- */

/* Checks that all angles are within the range of the kernels' sine and cosine. A motion beyond it fails; its q is set
 * to 0 in case the evaluation continues with the other motions. */
static bool check_angles(const api_evaluation *e, const dyn_motion_hessian *s, size_t block, size_t n)
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

/* --- a block of motions ------------------------------------------------------------------------------------------- */

static dyn_motion_hessian hessian_of(const api_evaluation *e, const hessian_options *o, size_t block)
{
    dyn_motion_hessian h = dyn_motion_hessian_lay_out(&o->motion->path, &o->values, e->lanes, e->spare);
    for (size_t l = 0; l < e->lanes; l++) {
        const size_t state = block * e->lanes + l;
        h.row[l]           = state < e->query->rows ? state : e->query->rows - 1;
    }
    return h;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    const hessian_options *o   = selected->options;
    double                *out = api_result_block(e, selected, HESSIAN, block);
    dyn_motion_hessian     h   = hessian_of(e, o, block);
    const dyn_hessian      io  = {.q           = h.q,
                                  .qd          = h.qd,
                                  .qdd         = h.qdd,
                                  .wrenches    = api_wrench_block(e, block),
                                  .multipliers = h.multipliers,
                                  .q_q         = h.q_q,
                                  .q_qd        = h.q_qd,
                                  .q_qdd       = h.q_qdd,
                                  .qd_qd       = h.qd_qd,
                                  .qd_qdd      = h.qd_qdd};
    memset(out, 0, api_output_entries(e->model, selected, HESSIAN) * e->lanes * sizeof *out);
    for (size_t n = 0; n < o->motion->path.samples; n++) {
        /* check the deadline at each sample, which takes milliseconds with many coordinates */
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        dyn_motion_hessian_put(&h, n);
        if (!check_angles(e, &h, block, n)) return false;
        e->kernels->hessian(&e->query->scene, e->workspace, &io, 1);
        dyn_motion_hessian_add(&h, out);
    }
    dyn_motion_hessian_mirror(&h, out);
    return true;
}

const api_operation api_trajectory_hessian = {
    .name       = "trajectory-hessian",
    .row_scenes = true,
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
