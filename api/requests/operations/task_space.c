/* task_space.c - computes the dynamics seen at frames (Khatib 1987).
 * Let J be the k x nv Jacobian of the frames along k chosen axes, those of one frame after those of another. Forces F
 * there (tau = J^T F) accelerate the frames by xdd, with
 *
 *     F = Lambda xdd + mu, Lambda = (J M^-1 J^T)^-1, mu = Jbar^T h - Lambda Jdot qd, Jbar = M^-1 J^T Lambda,
 *
 * where h is the bias. Kernels compute all of it in lanes (dynamics/constraint.h). LAPACK decomposes Lambda of one
 * state (task_inertia.h) for its ellipsoid and condition, and where J is so close to losing rank that singular values
 * must decide. */
#include "api/requests/fields/fields.h"
#include "api/requests/fields/frame_fields.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/contact/contact.h"
#include "api/codec/number.h"
#include <string.h>

enum { INERTIA, JACOBIAN, JACOBIAN_DOT_QD, JACOBIAN_INVERSE, BIAS, ELLIPSOID, CONDITION };

/* The operation's options. */
typedef struct task_options {
    dyn_held_set contact; /* the frames, and which rows (axes) of their Jacobians are used */
    double       damping;
} task_options;

#define OF_KINEMATICS    (API_BIT(JACOBIAN) | API_BIT(JACOBIAN_DOT_QD)) /* outputs that need no inertia */
#define OF_DECOMPOSITION (API_BIT(ELLIPSOID) | API_BIT(CONDITION))
/* J counts as singular if a singular value is below 1e-8 of the largest. Up to this condition number of J M^-1 J^T it
 * is not. */
#define MOST_CONDITION 1e12

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

/* Reads a frame and its axes from the members of `fields`. */
static bool read_task_frame(const api_query *q, const api_node *fields, const api_place *up, dyn_held_set *contact)
{
    dyn_held_frame *frame    = &contact->frame[contact->n];
    const api_place frame_at = api_place_key(up, "frame"), axes_at = api_place_key(up, "axes");
    const int       i = api_read_frame(q, api_node_get(fields, "frame"), &frame_at);
    if (i < 0) return false;
    *frame = (dyn_held_frame){.frame = q->model->frames[i].frame};
    if (!api_read_axes(q, api_node_get(fields, "axes"), &axes_at, frame->axis, &frame->n)) return false;
    contact->n++;
    contact->k += frame->n;
    return true;
}

/* Reads entry i of "frames". */
static bool read_task_entry(const api_query *q, const api_node *list, const api_place *where_frames, size_t i,
                            dyn_held_set *contact)
{
    static const char *const keys[]   = {"frame", "axes", NULL};
    const api_place          entry_at = api_place_index(where_frames, i), frame_at = api_place_key(&entry_at, "frame");
    api_node                 entry;
    if (!api_node_item(list, i, &entry)) return false;
    if (!api_node_is(&entry, API_OBJECT))
        return api_fail_at(q->problem, &entry_at, API_WRONG_TYPE, "%s given, an object with frame and axes expected",
                           api_node_kind_text(&entry));
    if (!api_check_keys(q, &entry, &entry_at, keys, "a frame of task-space")) return false;
    if (!api_node_get(&entry, "frame"))
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD, "a frame of task-space needs its name");
    return read_task_frame(q, &entry, &entry_at, contact);
}

enum { MOST_FRAMES = 8 /* most frames: LAPACK decomposes their matrices at once, without a check of the deadline */ };

/* Reads "frames", which stands in place of frame and axes. */
static bool read_task_frames(const api_query *q, const api_node *fields, const api_place *up, dyn_held_set *contact)
{
    static const char *const alone[]      = {"frame", "axes"};
    const api_node          *list         = api_node_get(fields, "frames");
    const api_place          where_frames = api_place_key(up, "frames");
    for (size_t i = 0; i < 2; i++) {
        const api_place where = api_place_key(up, alone[i]);
        if (api_node_get(fields, alone[i]))
            return api_fail_at(q->problem, &where, API_BAD_VALUE, "%s is given beside frames: make it an entry there",
                               alone[i]);
    }
    if (!api_check_list(q, list, &where_frames, "frame")) return false;
    if (api_node_size(list) > MOST_FRAMES)
        return api_fail_at(q->problem, &where_frames, API_WRONG_SHAPE, "%zu frames given, at most %d expected",
                           api_node_size(list), MOST_FRAMES);
    contact->frame = api_take(q->pool, api_node_size(list) * sizeof *contact->frame);
    for (size_t i = 0; contact->frame && i < api_node_size(list); i++)
        if (!read_task_entry(q, list, &where_frames, i, contact)) return false;
    return contact->frame != NULL;
}

/* Reads the single frame of the request. */
static bool read_single_frame(const api_query *q, const api_node *fields, const api_place *up, dyn_held_set *contact)
{
    const api_place where_frames = api_place_key(up, "frame");
    if (!api_node_get(fields, "frame"))
        return api_fail_at(q->problem, &where_frames, API_MISSING_FIELD, "task-space needs frame, or frames");
    contact->frame = api_take(q->pool, sizeof *contact->frame);
    return contact->frame && read_task_frame(q, fields, up, contact);
}

static bool options(api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    const api_place damping_at = api_place_key(up, "damping");
    task_options   *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (task_options){0};
    if (api_node_get(fields, "frames") ? !read_task_frames(q, fields, up, &o->contact)
                                       : !read_single_frame(q, fields, up, &o->contact))
        return false;
    api_set_extent(selected, API_SELECTED_AXES, o->contact.k);
    return read_damping(q, o, api_node_get(fields, "damping"), &damping_at);
}

/* --- a block of states in lanes --------------------------------------------------------------------------------- */

typedef struct block_lanes {
    dyn_held_set       contact; /* the frames with their axes */
    dyn_contact_block  held;    /* J, M and their factors; the task of one state */
    dyn_contact_states states;
    double            *J, *J_dot;     /* n x 6 x nv: Jacobians of the frames, and their rates */
    double            *h;             /* nv: the bias */
    double            *Lambda, *Jbar; /* k x k: task-space inertia; nv x k: dynamically consistent inverse */
    double            *bound;         /* 1: a bound on the condition number of J M^-1 J^T + damping^2 */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    const dyn_held_set *contact = &((const task_options *)selected->options)->contact;
    const size_t        nv = model->nv, k = contact->k;
    return (12 * contact->n + 1) * nv + k * k + nv * k + 1 + dyn_contact_entries(nv, contact);
}

/* Places the arrays of a block. `b` must not move afterwards, because it keeps a pointer to its own contact. */
static void place(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b)
{
    const task_options *o  = selected->options;
    const size_t        nv = e->model->nv, W = e->lanes, k = o->contact.k, n = o->contact.n;
    b->contact          = o->contact;
    b->contact.deadline = e->query->scene.deadline;
    b->states           = (dyn_contact_states){.kernels   = e->kernels,
                                               .scene     = &e->query->scene,
                                               .workspace = e->workspace,
                                               .q         = api_state_block(e, API_Q, block),
                                               .qd        = api_state_block(e, API_QD, block)};
    b->J                = e->spare;
    b->J_dot            = b->J + 6 * n * nv * W;
    b->h                = b->J_dot + 6 * n * nv * W;
    b->Lambda           = b->h + nv * W;
    b->Jbar             = b->Lambda + k * k * W;
    b->bound            = b->Jbar + nv * k * W;
    b->held             = dyn_contact_lay_out(&b->contact, nv, W, b->bound + W);

    b->held.damping        = o->damping * o->damping;
    b->held.task.redundant = false;
    b->held.task.damping   = o->damping;
}

/* Finds the Jacobian of each frame and its rate. */
static void find_jacobians(const api_evaluation *e, const block_lanes *b)
{
    const size_t entries = 6 * e->model->nv * e->lanes;
    for (size_t i = 0; i < b->contact.n; i++) {
        const dyn_kinematics io = {.q            = b->states.q,
                                   .qd           = b->states.qd,
                                   .frame        = &b->contact.frame[i].frame,
                                   .jacobian     = b->J + i * entries,
                                   .jacobian_dot = b->J_dot + i * entries};
        e->kernels->kinematics(&e->query->scene, e->workspace, &io, 1);
    }
}

static bool fill(const api_evaluation *e, const api_selection *selected, block_lanes *b, size_t block)
{
    dyn_bias bias = {.q = b->states.q, .qd = b->states.qd, .wrenches = api_wrench_block(e, block), .bias = b->h};
    if (selected->outputs & OF_KINEMATICS) find_jacobians(e, b);
    if (selected->outputs & API_BIT(BIAS)) e->kernels->bias(&e->query->scene, e->workspace, &bias, 1);
    if (!(selected->outputs & ~OF_KINEMATICS)) return true;
    dyn_contact_evaluate(&b->held, &b->states);
    if (!dyn_contact_factor(&b->held, &b->states)) return api_deadline_check(e->query->input->deadline, e->problem);
    dyn_contact_find_inertia(&b->held, &b->states, b->Lambda,
                             selected->outputs & (API_BIT(JACOBIAN_INVERSE) | API_BIT(BIAS)) ? b->Jbar : NULL,
                             b->bound);
    return api_check_singular(e, b->held.factor.singular, block, 1);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

/* Returns the first entry of an output in a row's lane, entries W apart; NULL: not requested. */
static double *result_of(const api_evaluation *e, const api_selection *selected, size_t output, size_t row)
{
    double *block = api_result_block(e, selected, output, row / e->lanes);
    return block ? block + row % e->lanes : NULL;
}

/* Returns an entry of Jdot qd, the acceleration of a frame at qdd = 0 along an axis, from the row of J_dot. */
static double drift(const api_evaluation *e, const double *J_dot, size_t row)
{
    const size_t  nv = e->model->nv, W = e->lanes;
    const double *qd  = api_state_block(e, API_QD, row / W);
    double        sum = 0;
    for (size_t v = 0; qd && v < nv; v++)
        sum += J_dot[v * W] * qd[v * W + row % W];
    return sum;
}

static void write_kinematics(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t row)
{
    const size_t nv = e->model->nv, W = e->lanes;
    double      *J = result_of(e, selected, JACOBIAN, row), *J_dot_qd = result_of(e, selected, JACOBIAN_DOT_QD, row);
    for (size_t i = 0, r = 0; i < b->contact.n; i++)
        for (size_t a = 0; a < b->contact.frame[i].n; a++, r++) {
            const size_t from = (6 * i + (size_t)b->contact.frame[i].axis[a]) * nv * W + row % W;
            for (size_t v = 0; J && v < nv; v++)
                J[(r * nv + v) * W] = b->J[from + v * W];
            if (J_dot_qd) J_dot_qd[r * W] = drift(e, b->J_dot + from, row);
        }
}

/* Writes the bias mu = Jbar^T h - Lambda Jdot qd of one state. */
static void write_bias(const api_evaluation *e, const block_lanes *b, size_t row, double *mu)
{
    const size_t W = e->lanes, lane = row % W, nv = e->model->nv, k = b->contact.k;
    for (size_t a = 0; a < k; a++) {
        double sum = 0;
        for (size_t v = 0; v < nv; v++)
            sum += b->Jbar[(v * k + a) * W + lane] * b->h[v * W + lane];
        for (size_t c = 0; c < k; c++)
            sum -= b->Lambda[(a * k + c) * W + lane] * b->held.jdot_qd[c * W + lane];
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
    const size_t W = e->lanes, lane = row % W, k = b->contact.k, n = e->model->nv * k;
    double *inertia = result_of(e, selected, INERTIA, row), *inverse = result_of(e, selected, JACOBIAN_INVERSE, row);
    double *mu = result_of(e, selected, BIAS, row);
    for (size_t i = 0; inertia && i < k * k; i++)
        inertia[i * W] = b->Lambda[i * W + lane];
    for (size_t i = 0; inverse && i < n; i++)
        inverse[i * W] = b->Jbar[i * W + lane];
    if (mu) write_bias(e, b, row, mu);
}

/* Writes the outputs that the decomposition of one state has, after decompose_inertia(). */
static void write_decomposition(const api_evaluation *e, const api_selection *selected, const dyn_task *t, size_t row)
{
    double *ellipsoid = result_of(e, selected, ELLIPSOID, row), *condition = result_of(e, selected, CONDITION, row);
    if (ellipsoid) write_ellipsoid(t, e->lanes, ellipsoid);
    if (condition) *condition = t->mass[t->k - 1] / t->mass[0];
}

/* Decomposes Lambda of one state by LAPACK. Writes Lambda and Jbar, unless `well`: the kernels have found them. */
static dyn_task_status decompose_inertia(const api_evaluation *e, block_lanes *b, size_t lane, bool well)
{
    dyn_task    *t = &b->held.task;
    const size_t W = e->lanes, nv = t->nv, k = t->k;
    dyn_task_take_lane(t, b->held.M, b->held.J, W, lane);
    const dyn_task_status status = dyn_task_solve(t);
    if (well || status != DYN_TASK_DONE) return status;
    for (size_t i = 0; i < k * k; i++)
        b->Lambda[i * W + lane] = t->Lambda[i];
    for (size_t i = 0; i < nv * k; i++)
        b->Jbar[i * W + lane] = t->X[i / k + nv * (i % k)];
    return status;
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
    (void)blocks; /* always 1: the operation is one_by_one */
    const size_t W = e->lanes;
    block_lanes  b;
    place(e, selected, block, &b);
    if (!fill(e, selected, &b, block)) return false;
    for (size_t row = block * W; row < (block + 1) * W && row < e->query->rows; row++) {
        dyn_task_status status = DYN_TASK_DONE;
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        if (selected->outputs & OF_KINEMATICS) write_kinematics(e, selected, &b, row);
        if (!(selected->outputs & ~OF_KINEMATICS)) continue;
        const bool well = dyn_contact_is_factored(&b.held, row % W) && b.bound[row % W] <= MOST_CONDITION;
        if (!well || selected->outputs & OF_DECOMPOSITION) status = decompose_inertia(e, &b, row % W, well);
        if (status != DYN_TASK_DONE) {
            if (!fail(e, &b.held.task, status, row)) return false;
            continue;
        }
        write_inertia(e, selected, &b, row);
        if (selected->outputs & OF_DECOMPOSITION) write_decomposition(e, selected, &b.held.task, row);
    }
    return true;
}

const api_operation api_task_space = {
    .name       = "task-space",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_FRAME) | API_BIT(API_AXES) | API_BIT(API_DAMPING) | API_BIT(API_FRAMES),
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
