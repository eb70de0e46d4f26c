/* differential_inverse_kinematics.c - finds velocities that come nearest to those of several frames and of the centre
 * of mass, by priorities and within the limits of the joints, for one step of time. */
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/limit_kinds.h"
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/inverse_kinematics/task_request.h"
#include "dynamics/inverse_kinematics_tasks/task_loops.h"
#include "dynamics/inverse_kinematics_tasks/velocity_bounds.h"
#include "dynamics/math/gather.h"
#include <math.h>
#include <string.h>

enum { VELOCITIES, VELOCITY_ERRORS, LIMITED };

typedef struct velocity_options {
    api_task_request *tasks;
    api_limit_list    limits;
    double           *lower,
        *upper; /* [tree nq] `upper` is 0 where a limit bounds the velocity of the joint; otherwise infinite bounds */
    double step, damping;
} velocity_options;

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_step(const api_query *q, const api_node *options, const api_place *up, velocity_options *o)
{
    const api_place step = api_place_key(up, "step"), damping = api_place_key(up, "damping");
    const api_node *value = api_node_get(options, "damping");
    if (!api_read_number(q, api_node_get(options, "step"), &step, &o->step)) return false;
    if (!(o->step > 0))
        return api_fail_at(q->problem, &step, API_BAD_VALUE, "%s given, a number of seconds greater than 0 expected",
                           API_NUMBER_TEXT(o->step));
    if (value && !api_read_number(q, value, &damping, &o->damping)) return false;
    return o->damping >= 0 || api_fail_at(q->problem, &damping, API_BAD_VALUE,
                                          "%s given, a number not less than 0 expected", API_NUMBER_TEXT(o->damping));
}

/* Refuses kinds of limits that bound no velocity. */
static bool check_kinds(const api_query *q, const api_node *kinds, const api_place *where)
{
    static const char *const known[] = {"position", "velocity", "acceleration"};
    const api_names          names   = api_names_from_array(known, sizeof known / sizeof *known);
    if (!kinds) return true;
    if (!api_check_names(q, kinds, where, "of position, velocity, acceleration")) return false;
    for (size_t i = 0; i < api_count_names(kinds); i++) {
        api_node        name;
        const api_place entry = api_take_name(kinds, where, i, &name);
        if (api_read_choice(q, &name, &entry, "a kind of limits that bounds velocities", &names) < 0) return false;
    }
    return true;
}

/* Lists the limits of the kinds that bound velocities. Refuses limits of motors of transmissions, which bound several
 * velocities together. */
static bool read_limits(api_query *q, const api_node *options, const api_place *up, velocity_options *o)
{
    static const dyn_limit_kind all[] = {DYN_LIMIT_POSITION, DYN_LIMIT_VELOCITY, DYN_LIMIT_ACCELERATION};
    const api_node             *kinds = api_node_get(options, "kinds");
    const api_place             where = api_place_key(up, "kinds");
    if (!check_kinds(q, kinds, &where)) return false;
    if (kinds ? !api_limits_read(q, kinds, &where, &o->limits)
              : !api_limits_list(q->pool, q->model, all, 3, &o->limits))
        return false;
    for (size_t i = 0; i < o->limits.n; i++)
        if (o->limits.limit[i].n != 1)
            return api_fail_at(q->problem, &where, API_NOT_SUPPORTED,
                               "the limit of %s of the motor %.64s bounds several velocities together, which is not "
                               "taken: list other kinds",
                               api_limit_names[o->limits.limit[i].kind], o->limits.owner[i].name);
    return true;
}

/* Marks the coordinates whose velocities the limits bound. */
static bool mark_limits(const api_query *q, velocity_options *o)
{
    const dyn_model *m = q->model->dyn;
    o->lower           = api_take(q->pool, 2 * (size_t)m->nq * sizeof *o->lower);
    if (!o->lower) return false;
    o->upper = o->lower + m->nq;
    for (size_t i = 0; i < (size_t)m->nq; i++)
        o->lower[i] = -INFINITY, o->upper[i] = INFINITY;
    for (size_t i = 0; i < o->limits.n; i++) {
        const dyn_limit *l = &o->limits.limit[i];
        const size_t     v = l->kind == DYN_LIMIT_POSITION ? l->v : l->entry[0];
        for (size_t b = 0; b < m->n_bodies; b++)
            if ((size_t)m->body[b].joint.v == v && !m->body[b].joint.mimic) o->upper[m->body[b].joint.q] = 0;
    }
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *fields, const api_place *up)
{
    velocity_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o       = (velocity_options){.damping = 0};
    o->tasks = api_task_request_read(q, api_node_get(fields, "tasks"), up, true);
    if (!o->tasks || !read_step(q, fields, up, o) || !read_limits(q, fields, up, o) || !mark_limits(q, o)) return false;
    api_set_extent(selected, API_REQUEST_TASKS, o->tasks->n);
    return true;
}

static size_t own_entries(const api_selection *selected)
{
    return api_task_request_entries(((const velocity_options *)selected->options)->tasks);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_task_request_fill(plan, ((const velocity_options *)selected->options)->tasks);
}

/* --- a state ------------------------------------------------------------------------------------------------------ */

/* Scratch arrays of one state. */
typedef struct velocity_room {
    dyn_task_block       block;
    dyn_task_loops       loops;
    dyn_prioritised_step step;
    dyn_velocity_bounds  bounds;
    dyn_step_level
        level[DYN_MOST_TASKS + 1]; /* levels of priority; with loops the first level has the limited passive joints */
    size_t  n_limits;              /* rows of that level */
    double *q, *qd, *A, *right;    /* A and right: rows of the tasks */
    double *limits;                /* n_limits x n, then n_limits zeros */
} velocity_room;

static size_t entries_of(const api_model *m, const velocity_options *o, size_t W)
{
    const dyn_mechanism robot = api_model_mechanism(m);
    const size_t        n = (size_t)m->dyn->nv, nq = (size_t)m->dyn->nq, rows = DYN_TASK_ROWS * o->tasks->n;
    const size_t        limits = dyn_task_loop_rows(&robot, o->lower, o->upper);
    return W * dyn_task_block_entries(nq, n, o->tasks->n) + nq + 4 * n + rows * (n + 1) + limits * (n + 1) + 2 +
           dyn_prioritised_step_bytes(n, rows + limits) / sizeof(double) + 1;
}

static size_t spare(const api_model *model, const api_selection *selected)
{
    return entries_of(model, selected->options, 1);
}

/* Lists the levels of priority. Returns the number of their rows. */
static size_t list_velocity_levels(velocity_room *r)
{
    size_t rows = 0, first = 0;
    if (r->n_limits > 0) {
        r->level[first++] =
            (dyn_step_level){.rows = r->n_limits, .A = r->limits, .b = r->limits + r->n_limits * r->step.n};
        memset(r->limits + r->n_limits * r->step.n, 0, r->n_limits * sizeof *r->limits);
    }
    r->step.undamped = first;
    r->step.n_levels = first + dyn_task_levels(&r->block, r->A, r->right, r->level + first, &rows);
    return r->n_limits + rows;
}

static void lay_out(const api_evaluation *e, const velocity_options *o, const dyn_mechanism *robot, velocity_room *r)
{
    const size_t nq = (size_t)e->model->dyn->nq, n = (size_t)e->model->dyn->nv, rows = DYN_TASK_ROWS * o->tasks->n;
    const bool   loops = e->model->loops != NULL;
    r->block           = (dyn_task_block){.robot     = robot,
                                          .kernels   = e->plan->target,
                                          .workspace = loops ? dyn_loop_tree_workspace(e->workspace) : e->workspace,
                                          .n         = o->tasks->n,
                                          .task      = o->tasks->task};
    r->loops           = (dyn_task_loops){
                  .robot = robot, .lower = o->lower, .upper = o->upper, .W = e->lanes, .closed = loops ? e->workspace : NULL};
    r->n_limits = dyn_task_loop_rows(robot, o->lower, o->upper);
    dyn_task_block_lay_out(&r->block, e->spare);
    r->q         = e->spare + e->lanes * dyn_task_block_entries(nq, n, o->tasks->n);
    r->qd        = r->q + nq;
    r->bounds    = (dyn_velocity_bounds){.nq           = nq,
                                         .nv           = n,
                                         .n            = o->limits.n,
                                         .limit        = o->limits.limit,
                                         .step         = o->step,
                                         .acceleration = r->qd + n,
                                         .lower        = r->qd + 2 * n,
                                         .upper        = r->qd + 3 * n};
    r->A         = r->qd + 4 * n;
    r->right     = r->A + rows * n;
    r->limits    = r->right + rows;
    double *next = r->limits + r->n_limits * (n + 1);
    next += (size_t)(next - e->spare) % 2; /* aligned to 16 bytes, as e->spare is */
    r->step      = (dyn_prioritised_step){.n       = n,
                                          .level   = r->level,
                                          .lower   = r->bounds.lower,
                                          .upper   = r->bounds.upper,
                                          .damping = o->damping * o->damping,
                                          .least   = true};
    r->step.rows = list_velocity_levels(r);
    dyn_prioritised_step_lay_out(&r->step, next);
}

/* Copies a state: the coordinates of the tree. The velocities of passive joints are those of qd_tree = G qd. */
static const double *take_state(const api_evaluation *e, size_t state, velocity_room *r)
{
    const api_model *m = e->model;
    double *const q = e->plan->state[API_Q], *const qd = e->plan->state[API_QD];
    r->loops.lane = state % e->lanes;
    if (m->loops)
        dyn_gather(dyn_loop_tree_q(e->workspace), (size_t)m->dyn->nq, e->lanes, r->loops.lane, r->q);
    else
        dyn_gather(api_state_lane(e, q, m->nq, state), m->nq, e->lanes, 0, r->q);
    if (!qd) return NULL;
    const double *lane = api_state_lane(e, qd, m->nv, state);
    const double *G    = m->loops ? dyn_loop_G(e->workspace) + r->loops.lane : NULL;
    for (size_t v = 0; v < r->step.n; v++) {
        r->qd[v] = G ? 0 : lane[v * e->lanes];
        for (size_t j = 0; G && j < m->nv; j++)
            r->qd[v] += G[(v * m->nv + j) * e->lanes] * lane[j * e->lanes];
    }
    return r->qd;
}

/* Writes the norms of J qd - velocity of each task. */
static void write_errors(const api_evaluation *e, const velocity_options *o, const velocity_room *r, double *lane)
{
    const double *A = r->A, *b = r->right;
    for (size_t k = 0; lane && k < o->tasks->n; k++) {
        const dyn_frame_task *task   = &o->tasks->task[k];
        double                sum[2] = {0};
        for (size_t i = 0; i < dyn_task_rows(task); i++, A += r->step.n) {
            double left = -*b++;
            for (size_t v = 0; v < r->step.n; v++)
                left += A[v] * r->step.x[v];
            sum[i / 3] += left * left / task->weight;
        }
        for (size_t i = 0; i < 2; i++)
            lane[(2 * o->tasks->goal[k].index + i) * e->lanes] = sqrt(sum[i]);
    }
}

static void write_state(const api_evaluation *e, const api_selection *selected, const velocity_room *r, size_t state)
{
    const velocity_options *o  = selected->options;
    const size_t            nv = e->model->nv;
    double *const *const    to = selected->result;
    for (size_t v = 0; v < nv; v++) {
        const size_t i = e->model->loops ? (size_t)e->model->loops->active_v[v] : v;
        if (to[VELOCITIES]) api_state_lane(e, to[VELOCITIES], nv, state)[v * e->lanes] = r->step.x[i];
        if (to[LIMITED]) api_state_lane(e, to[LIMITED], nv, state)[v * e->lanes] = (double)r->step.side[i];
    }
    double *const errors = to[VELOCITY_ERRORS];
    write_errors(e, o, r, errors ? api_state_lane(e, errors, 2 * o->tasks->n, state) : NULL);
}

/* Copies the velocities of elastic joints to their motors, which are no unknowns of the problem. */
static void move_motors(const dyn_model *m, double *qd)
{
    for (size_t c = 0; c < m->n_couplings; c++)
        qd[m->coupling[c].v_theta] = qd[m->coupling[c].v];
}

static bool solve_state(const api_evaluation *e, const api_selection *selected, velocity_room *r, size_t state)
{
    const velocity_options *o = selected->options;
    double                  goal[DYN_MOST_TASKS * DYN_TASK_GOAL], velocity[DYN_MOST_TASKS][DYN_TASK_ROWS];
    const double           *qd = take_state(e, state, r);
    api_task_goals(e, o->tasks, state, goal);
    for (size_t k = 0; k < o->tasks->n; k++)
        for (size_t i = 0; i < DYN_TASK_ROWS; i++)
            velocity[k][i] = i < o->tasks->goal[k].entries[0] ? goal[DYN_TASK_GOAL * k + i] : 0;
    dyn_velocity_bounds_find(&r->bounds, r->q, qd);
    dyn_task_evaluate(&r->block, r->q);
    dyn_task_jacobian(&r->block, r->A);
    dyn_task_loops_fold(&r->loops, r->step.rows - r->n_limits, r->A);
    dyn_task_drop_noise(&r->block, r->A);
    dyn_task_loops_write_rows(&r->loops, r->limits);
    dyn_task_gather(&r->block, (const double(*)[DYN_TASK_ROWS])velocity, 1, r->right);
    if (!dyn_prioritised_step_solve(&r->step))
        return api_fail_state(e, API_RESULT_NOT_FINITE, API_Q, state, "a Jacobian or velocity is not finite");
    move_motors(e->model->dyn, r->step.x);
    write_state(e, selected, r, state);
    return true;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const size_t        first = block * e->lanes, left = api_states(e->query) - first;
    const dyn_mechanism robot = api_model_mechanism(e->model);
    velocity_room       r;
    lay_out(e, selected->options, &robot, &r);
    for (size_t lane = 0; lane < (left < e->lanes ? left : e->lanes); lane++) {
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        if (e->model->loops && api_failed_rows_has(e->plan->failed_rows, first + lane))
            continue; /* the loops of the state could not be closed */
        if (!solve_state(e, selected, &r, first + lane)) return false;
    }
    return true;
}

/* --- cost --------------------------------------------------------------------------------------------------------- */

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const velocity_options *o    = selected->options;
    const double            rows = DYN_TASK_ROWS * (double)o->tasks->n, n = (double)q->model->dyn->nv;
    return (double)api_states(q) * (10e-6 + 60e-9 * n * n + 12e-9 * rows * rows * n);
}

const api_operation api_differential_inverse_kinematics = {
    .name  = "differential-inverse-kinematics",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_JOINTS) | API_BIT(API_TASKS) | API_BIT(API_STEP) | API_BIT(API_DAMPING) |
             API_BIT(API_KINDS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS),
    .needs_options   = API_BIT(API_TASKS) | API_BIT(API_STEP),
    .outputs         = {[VELOCITIES]      = {"qd", true, {API_NV}},
                        [VELOCITY_ERRORS] = {"task_errors", false, {API_REQUEST_TASKS, 2}},
                        [LIMITED]         = {"limited", false, {API_NV}}},
    .alone           = true,
    .one_by_one      = true,
    .weight          = 1,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .own_entries     = own_entries,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
