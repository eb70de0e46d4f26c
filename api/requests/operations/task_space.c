/* task_space.c - computes the dynamics seen at a frame (Khatib 1987). Let J be the k x nv Jacobian of the frame along k
 * chosen axes. A force F there (tau = J^T F) accelerates the frame by xdd, with
 *
 *     F = Lambda xdd + mu, Lambda = (J M^-1 J^T)^-1, mu = Jbar^T h - Lambda Jdot qd, Jbar = M^-1 J^T Lambda,
 *
 * where h is the bias. Kernels compute M, J, Jdot and h in lanes. task_inertia.c computes the rest for one state at a
 * time, so that a state gives the same bits alone and in a batch. */
#include "api/requests/fields/fields.h"
#include "api/requests/fields/frame_fields.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/contact/task_inertia.h"
#include "api/codec/number.h"
#include <string.h>

enum { INERTIA, JACOBIAN, JACOBIAN_DOT_QD, JACOBIAN_INVERSE, BIAS, ELLIPSOID, CONDITION };

/* The operation's options. */
typedef struct task_options {
    const dyn_frame *frame;
    size_t           n_axes;
    int              axis[API_FRAME_AXES]; /* [n_axes] rows of the frame Jacobian, 0 to 5 */
    double           damping;
} task_options;

#define OF_KINEMATICS (API_BIT(JACOBIAN) | API_BIT(JACOBIAN_DOT_QD)) /* outputs that need no inertia */

/* --- options ---------------------------------------------------------------------------------------------------- */

static bool read_damping(const api_query *q, task_options *o, const api_node *value, const api_place *at)
{
    if (!value) return true;
    if (!api_node_is(value, API_NUMBER))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, a number expected", api_node_kind_text(value));
    o->damping = api_node_number(value);
    return o->damping >= 0 || api_fail_at(q->problem, at, API_BAD_VALUE, "%s given, a number not less than 0 expected",
                                          API_NUMBER_TEXT(o->damping));
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_node *frame    = api_node_get(given, "frame");
    api_place       frame_at = api_place_key(up, "frame"), axes_at = api_place_key(up, "axes");
    api_place       damping_at = api_place_key(up, "damping");
    int             i          = api_read_frame(q, frame, &frame_at);
    if (i < 0) return false;
    task_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (task_options){.frame = &q->model->frames[i].frame};
    if (!api_read_axes(q, api_node_get(given, "axes"), &axes_at, o->axis, &o->n_axes)) return false;
    api_set_extent(selected, API_SELECTED_AXES, o->n_axes);
    return read_damping(q, o, api_node_get(given, "damping"), &damping_at);
}

/* --- a block of states in lanes --------------------------------------------------------------------------------- */

typedef struct block_lanes {
    double  *J, *J_dot;   /* 6 x nv */
    double  *M, *inverse; /* nv x nv; the kernel detects singularities only if it computes the inverse */
    double  *h;           /* nv: the bias */
    double  *singular;    /* 1: the singular mask */
    dyn_task task;        /* arrays for one state, used for each in turn */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    size_t nv = model->nv; /* dyn_task needs memory for one state only, but is counted for every lane */
    return 12 * nv + 2 * nv * nv + nv + 1 + dyn_task_entries(nv, api_selected_extent(selected, API_SELECTED_AXES));
}

static block_lanes place(const api_evaluation *e, const api_selection *selected)
{
    const task_options *o  = selected->options;
    size_t              nv = e->model->nv, W = e->lanes;
    block_lanes         b = {.J = e->spare};
    b.J_dot               = b.J + 6 * nv * W;
    b.M                   = b.J_dot + 6 * nv * W;
    b.inverse             = b.M + nv * nv * W;
    b.h                   = b.inverse + nv * nv * W;
    b.singular            = b.h + nv * W;
    b.task                = (dyn_task){.nv = nv, .k = o->n_axes, .damping = o->damping};
    dyn_task_lay_out(&b.task, b.singular + W);
    return b;
}

static bool fill(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t block)
{
    const task_options *o       = selected->options;
    const dyn_kernels  *kernels = e->kernels;
    const double       *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block);
    dyn_kinematics      kinematics = {.q = q, .qd = qd, .frame = o->frame, .jacobian = b->J, .jacobian_dot = b->J_dot};
    dyn_bias            bias       = {.q = q, .qd = qd, .wrenches = api_wrench_block(e, block), .bias = b->h};
    dyn_mass_matrix     mass       = {.q = q, .mass_matrix = b->M, .inverse = b->inverse, .singular = b->singular};
    kernels->kinematics(&e->query->scene, e->workspace, &kinematics, 1);
    if (selected->outputs & API_BIT(BIAS)) kernels->bias(&e->query->scene, e->workspace, &bias, 1);
    if (!(selected->outputs & ~OF_KINEMATICS)) return true;
    kernels->mass_matrix(&e->query->scene, e->workspace, &mass, 1);
    return api_check_singular(e, b->singular, block, 1);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

/* Returns the first entry of an output in a row's lane, entries W apart; NULL: not requested. */
static double *result_of(const api_evaluation *e, const api_selection *selected, size_t output, size_t row)
{
    double *block = api_result_block(e, selected, output, row / e->lanes);
    return block ? block + row % e->lanes : NULL;
}

/* Returns entry a of Jdot qd, the acceleration of the frame at qdd = 0, along the a-th chosen axis. */
static double drift(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t row, size_t a)
{
    const task_options *o  = selected->options;
    size_t              nv = e->model->nv, W = e->lanes, lane = row % W;
    const double       *J_dot = b->J_dot + (size_t)o->axis[a] * nv * W + lane;
    const double       *qd    = api_state_block(e, API_QD, row / W);
    double              sum   = 0;
    for (size_t v = 0; qd && v < nv; v++)
        sum += J_dot[v * W] * qd[v * W + lane];
    return sum;
}

static void write_kinematics(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t row)
{
    const task_options *o  = selected->options;
    size_t              nv = e->model->nv, W = e->lanes;
    double *J = result_of(e, selected, JACOBIAN, row), *J_dot_qd = result_of(e, selected, JACOBIAN_DOT_QD, row);
    for (size_t a = 0; a < o->n_axes; a++) {
        const double *from = b->J + (size_t)o->axis[a] * nv * W + row % W;
        for (size_t v = 0; J && v < nv; v++)
            J[(a * nv + v) * W] = from[v * W];
        if (J_dot_qd) J_dot_qd[a * W] = drift(e, selected, b, row, a);
    }
}

/* Writes the bias mu = Jbar^T h - Lambda Jdot qd of one state. */
static void write_bias(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t row,
                       double *mu)
{
    const dyn_task *t = &b->task;
    size_t          W = e->lanes, lane = row % W;
    for (size_t a = 0; a < t->k; a++) {
        double sum = 0;
        for (size_t v = 0; v < t->nv; v++)
            sum += t->X[v + t->nv * a] * b->h[v * W + lane];
        for (size_t c = 0; c < t->k; c++)
            sum -= t->Lambda[a + t->k * c] * drift(e, selected, b, row, c);
        mu[a * W] = sum;
    }
}

/* Writes the semi-axes of the ellipsoid of forces Lambda xdd with |xdd| = 1, the longest first. The sign of each is
 * such that its largest component is positive. */
static void write_ellipsoid(const dyn_task *t, size_t W, double *axes)
{
    for (size_t i = 0; i < t->k; i++) {
        size_t        last = t->k - 1 - i, largest = 0; /* eigenvalues increase */
        const double *v = t->Vt + last;
        for (size_t a = 1; a < t->k; a++)
            if (v[t->k * a] * v[t->k * a] > v[t->k * largest] * v[t->k * largest]) largest = a;
        double length = v[t->k * largest] < 0 ? -t->mass[last] : t->mass[last];
        for (size_t a = 0; a < t->k; a++)
            axes[(i * t->k + a) * W] = length * v[t->k * a];
    }
}

static void write_inertia(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t row)
{
    const dyn_task *t = &b->task;
    size_t          W = e->lanes, k = t->k;
    double *inertia = result_of(e, selected, INERTIA, row), *inverse = result_of(e, selected, JACOBIAN_INVERSE, row);
    double *mu = result_of(e, selected, BIAS, row), *ellipsoid = result_of(e, selected, ELLIPSOID, row);
    double *condition = result_of(e, selected, CONDITION, row);
    for (size_t i = 0; inertia && i < k * k; i++)
        inertia[i * W] = t->Lambda[i];
    for (size_t i = 0; inverse && i < t->nv * k; i++)
        inverse[i * W] = t->X[i / k + t->nv * (i % k)];
    if (mu) write_bias(e, selected, b, row, mu);
    if (ellipsoid) write_ellipsoid(t, W, ellipsoid);
    if (condition) *condition = t->mass[k - 1] / t->mass[0];
}

static bool fail(const api_evaluation *e, const dyn_task *t, dyn_task_status status, size_t row)
{
    if (status == DYN_TASK_SINGULAR)
        return api_fail_state(
            e, API_SINGULAR_JACOBIAN, API_Q, row,
            "the Jacobian of these %zu axes has the rank %zu at this state: choose fewer axes, or give damping", t->k,
            dyn_task_rank(t));
    return api_fail_state(e, API_RESULT_NOT_FINITE, -1, row, "the numbers of this state are too large");
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    const task_options *o  = selected->options;
    block_lanes         b  = place(e, selected);
    size_t              nv = e->model->nv, W = e->lanes;
    const double        reach = dyn_point_reach(e->model->dyn, o->frame->body, o->frame->X_bf.p);
    if (!fill(e, selected, &b, block)) return false;
    for (size_t row = block * W; row < (block + 1) * W && row < e->query->rows; row++) {
        size_t lane = row % W;
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        write_kinematics(e, selected, &b, row);
        if (!(selected->outputs & ~OF_KINEMATICS)) continue;
        for (size_t i = 0; i < nv * nv; i++)
            b.task.M[i] = b.M[i * W + lane];
        for (size_t a = 0; a < o->n_axes; a++)
            dyn_task_set_row(&b.task, a, b.J + (size_t)o->axis[a] * nv * W + lane, W,
                             dyn_task_row_scale(b.J + lane, nv, W, (size_t)o->axis[a], reach));
        dyn_task_status status = dyn_task_solve(&b.task);
        if (status == DYN_TASK_DONE)
            write_inertia(e, selected, &b, row);
        else if (!fail(e, &b.task, status, row))
            return false;
    }
    return true;
}

const api_operation api_task_space = {
    .name       = "task-space",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_FRAME) | API_BIT(API_AXES) | API_BIT(API_DAMPING),
    .needs_options = API_BIT(API_FRAME),
    .outputs       = {[INERTIA]          = {"inertia", true, {API_SELECTED_AXES, API_SELECTED_AXES}},
                      [JACOBIAN]         = {"jacobian", false, {API_SELECTED_AXES, API_NV}},
                      [JACOBIAN_DOT_QD]  = {"jacobian_dot_qd", false, {API_SELECTED_AXES}},
                      [JACOBIAN_INVERSE] = {"jacobian_inverse", false, {API_NV, API_SELECTED_AXES}},
                      [BIAS]             = {"bias", false, {API_SELECTED_AXES}},
                      [ELLIPSOID]        = {"ellipsoid", false, {API_SELECTED_AXES, API_SELECTED_AXES}},
                      [CONDITION]        = {"condition", false, {0}}},
    .one_by_one    = true,
    .weight        = 50,
    .square_weight = 30,
    .options       = options,
    .spare         = spare,
    .load_in_trees = true,
    .evaluate      = evaluate,
};
