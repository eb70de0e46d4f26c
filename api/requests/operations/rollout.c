/* rollout.c - integrates each row over many steps under a sequence of torques, with the Jacobians of every step.
 *
 * The states of a request are the nodes of its rollouts: state b N + n is node n of row b. First the rows are
 * integrated, W side by side, which fills the lanes of all nodes. Then the nodes are independent, and each is evaluated
 * like a state of the operation step (step.h). */
#include "api/requests/scene/row_scene.h"
#include "api/requests/step/step.h"
#include "rollout_loops.h"
#include "api/requests/gradient/rollout_feedback.h"
#include "api/requests/gradient/rollout_gains.h"
#include "api/requests/cost/peek.h"
#include "api/service/http/call.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include "api/requests/fields/points.h"
#include <string.h>

/* The operation's options; the options of its steps come first (api_step_spare). */
typedef struct rollout_options {
    api_step_options     step;
    api_points           torques;
    api_rollout_gains    gains;
    api_rollout_feedback feedback;
} rollout_options;

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_points_form form = {.name = "torques", .least = 1, .why = ""};
    api_place             at   = api_place_key(up, "torques");
    rollout_options      *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o || !api_step_read(q, given, up, &o->step) ||
        !api_points_measure(q, api_node_get(given, "torques"), &at, &form, &o->torques))
        return false;
    q->samples = o->torques.n;
    if (!(api_node_get(given, "phases") ? api_phases_read(q, given, up, o->torques.n, &o->step.held)
                                        : api_held_read(q, given, up, &o->step.held)))
        return false;
    if (!api_rollout_gains_read(q, selected, given, up, o->torques.n, &o->gains) ||
        !api_rollout_feedback_read(q, given, up, o->torques.n, &o->feedback))
        return false;
    if (o->feedback.value && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(API_NODE_TORQUES);
    return api_step_read_residual(q, selected, given, up) && api_step_read_friction(q, selected, given, up);
}

/* Fills the lanes of the torques of all nodes. The velocities of a request without qd are zero. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    rollout_options *o = selected->options;
    if (!api_step_prepare(plan, selected) || !api_rollout_gains_prepare(plan, selected, &o->gains) ||
        !api_rollout_feedback_load(plan->query, &o->feedback))
        return false;
    const api_query     *q  = plan->query;
    const size_t         nv = q->model->nv, steps = o->torques.n, bytes = plan->blocks * plan->lanes * nv;
    const double        *torques = api_points_read(q, &o->torques);
    const api_evaluation e       = api_evaluation_of(plan);
    double              *tau = plan->state[API_TAU] = api_take_lanes(plan, nv);
    if (!torques || !tau) return false;
    if (selected->outputs & API_BIT(API_NODE_TORQUES)) selected->result[API_NODE_TORQUES] = tau;
    memset(tau, 0, bytes * sizeof *tau);
    for (size_t state = 0; state < api_states(q); state++) {
        const double *node = api_points_of(&o->torques, torques, state / steps) + state % steps * nv;
        double       *lane = api_state_lane(&e, tau, nv, state);
        for (size_t v = 0; v < nv; v++)
            lane[v * plan->lanes] = node[v];
    }
    if (plan->state[API_QD]) return true;
    plan->state[API_QD] = api_take_lanes(plan, nv);
    if (plan->state[API_QD]) memset(plan->state[API_QD], 0, bytes * sizeof *tau);
    return plan->state[API_QD] != NULL;
}

/* --- integration ------------------------------------------------------------------------------------------------ */

/* W rows that are integrated side by side, in lanes of their own. */
typedef struct march {
    api_plan                   *plan;
    api_evaluation              e;
    const api_step_options     *options;
    const api_rollout_feedback *feedback;
    const dyn_kernels          *kernels;
    dyn_kernels                 loop_kernels;
    size_t                      W, row[DYN_MAX_LANES]; /* lanes after the last row repeat it */
    api_step_means              by;
    api_rollout_loops           loops; /* closes the loops of the rollouts; for a model with loops */
    double                     *q, *qd, *wrenches, *dx;
    dyn_step                    io;
} march;

/* Reserves the lanes of W rows. A single row is integrated by kernels with one lane. */
static bool open_march(api_plan *plan, const rollout_options *options, march *m)
{
    const api_step_options *o  = &options->step;
    const api_query        *q  = plan->query;
    const size_t            nq = q->model->nq, nv = q->model->nv, nw = 9 * q->scene.n_wrenches;
    *m = (march){.plan = plan, .e = api_evaluation_of(plan), .options = o, .feedback = &options->feedback};
    if (!api_row_scene_open(&m->e)) return false;
    m->kernels = q->rows == 1 ? q->call->api->alone : plan->target;
    m->W       = (size_t)m->kernels->lanes;
    m->by      = (api_step_means){.kernels = m->kernels, .scene = &m->e.query->scene};
    if (q->model->loops) {
        if (!api_rollout_loops_open(plan, m->kernels, &m->loops)) return false;
        m->loop_kernels = dyn_loop_kernels(m->kernels);
        m->by.kernels   = &m->loop_kernels;
        m->by.failures  = &m->loops.failures;
        m->by.workspace = m->loops.closed;
    } else
        m->by.workspace = api_take(q->pool, m->kernels->workspace_size(q->scene.model));
    size_t  work = o->work, room = o->room, entries = 2 * nq + 3 * nv + nw + work + 3 + room + 2 * nv;
    double *next = api_take(q->pool, entries * m->W * sizeof *next);
    if (!m->by.workspace || !next) return false;
    double **const arrays[] = {&m->q,       &m->qd,          &m->wrenches,    &m->io.q_after,       &m->io.qd_after,
                               &m->io.work, &m->io.singular, &m->io.unsolved, &m->io.contradictory, &m->by.room,
                               NULL};
    const size_t   sizes[]  = {nq, nv, nw, nq, nv, work, 1, 1, 1, room};
    for (size_t i = 0; arrays[i]; next += sizes[i++] * m->W)
        *arrays[i] = next;
    m->io.tau = next;
    m->dx     = next + nv * m->W; /* the last of the arrays */
    m->io.q   = m->q;
    m->io.qd  = m->qd;
    if (nw > 0) m->io.wrenches = m->wrenches;
    return true;
}

/* Copies entries of node n of every row from the lanes of all nodes to those of the rows, or back. */
static void copy_node(const march *m, double *nodes, size_t entries, size_t n, double *rows, bool back)
{
    for (size_t lane = 0; nodes && lane < m->W; lane++) {
        double *node = api_state_lane(&m->e, nodes, entries, m->row[lane] * m->plan->query->samples + n);
        for (size_t k = 0; k < entries; k++) {
            double *row = &rows[k * m->W + lane], *there = &node[k * m->plan->lanes];
            if (back)
                *there = *row;
            else
                *row = *there;
        }
    }
}

/* Normalizes the quaternions of the rows as those of requests are normalized: node n + 1 is then bit for bit the state
 * that a request has whose initial state is that of the answer. */
static void normalize(const march *m)
{
    const api_model *model = m->plan->query->model;
    double           norm;
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body *body       = &model->dyn->body[i];
        const int       quaternion = dyn_quaternion_offset(body), place = api_first_position(model, body);
        if (quaternion < 0 || place < 0) continue;
        for (size_t lane = 0; lane < m->W; lane++)
            dyn_quaternion_normalise(&m->q[(size_t)(place + quaternion) * m->W + lane], m->W, &norm);
    }
}

/* Closes the loops of the rows at node n. */
static bool close_node(march *m, size_t n)
{
    const size_t nq = m->plan->query->model->nq, nv = m->plan->query->model->nv;
    if (!m->plan->query->model->loops) return true;
    if (!api_rollout_loops_close(&m->loops, n, m->q, m->qd)) return false;
    copy_node(m, m->plan->state[API_Q], nq, n, m->q, true);
    copy_node(m, m->plan->state[API_QD], nv, n, m->qd, true);
    copy_node(m, m->plan->tree_q, m->plan->query->model->loops->nq, n, m->loops.tree_q, true);
    return true;
}

/* Adds the feedback to the torques of node n. */
static void add_feedback(const march *m, size_t n)
{
    const size_t nv  = m->plan->query->model->nv;
    double      *tau = (double *)m->io.tau;
    if (!m->feedback->value) return;
    for (size_t lane = 0; lane < m->W; lane++) {
        const api_feedback_state x = {.row    = m->row[lane],
                                      .node   = n,
                                      .stride = m->W,
                                      .q      = m->q + lane,
                                      .qd     = m->qd + lane,
                                      .tau    = tau + lane,
                                      .dx     = m->dx};
        api_rollout_feedback_add(m->plan->query, m->feedback, &x);
    }
    copy_node(m, m->plan->state[API_TAU], nv, n, tau, true);
}

/* Integrates the rows from `first` on, and fills the lanes of their nodes. */
static bool march_rows(march *m, size_t first)
{
    const api_query *q  = m->plan->query;
    const size_t     nq = q->model->nq, nv = q->model->nv;
    api_step_clock   clock = {q->input->deadline, q->problem};
    m->io.may_continue     = api_step_may_continue;
    m->io.clock            = &clock;
    if (m->e.own_query && !api_row_scene_set(&m->e, first * q->samples)) return false;
    for (size_t lane = 0; lane < m->W; lane++)
        m->row[lane] = first + lane < q->rows ? first + lane : q->rows - 1;
    copy_node(m, m->plan->state[API_Q], nq, 0, m->q, false);
    copy_node(m, m->plan->state[API_QD], nv, 0, m->qd, false);
    copy_node(m, m->plan->wrenches, 9 * q->scene.n_wrenches, 0, m->wrenches, false);
    if (q->model->loops) {
        copy_node(m, m->plan->guess, q->model->loops->n_passive_q, 0, m->loops.guess, false);
        api_rollout_loops_start(&m->loops, first);
    }
    for (size_t n = 0; n < q->samples; n++) {
        if (!api_deadline_check(q->input->deadline, q->problem) || !close_node(m, n)) return false;
        copy_node(m, m->plan->state[API_TAU], nv, n, (double *)m->io.tau, false);
        add_feedback(m, n);
        if (n + 1 == q->samples) break;
        api_step_take(m->options, api_held_range_of(&m->options->held, n), &m->by, &m->io, NULL);
        memcpy(m->q, m->io.q_after, nq * m->W * sizeof *m->q);
        memcpy(m->qd, m->io.qd_after, nv * m->W * sizeof *m->qd);
        normalize(m);
        copy_node(m, m->plan->state[API_Q], nq, n + 1, m->q, true);
        copy_node(m, m->plan->state[API_QD], nv, n + 1, m->qd, true);
    }
    return !q->model->loops || api_rollout_loops_check(&m->loops);
}

/* Repeats the last node in the lanes after it. */
static void pad(const api_plan *plan, double *nodes, size_t entries)
{
    const api_evaluation e    = api_evaluation_of(plan);
    const size_t         last = api_states(plan->query) - 1;
    for (size_t state = last + 1; state < plan->blocks * plan->lanes; state++)
        for (size_t k = 0; k < entries; k++)
            api_state_lane(&e, nodes, entries, state)[k * plan->lanes] =
                api_state_lane(&e, nodes, entries, last)[k * plan->lanes];
}

static bool begin(api_plan *plan, const api_selection *selected)
{
    const api_query *q  = plan->query;
    const size_t     nv = q->model->nv;
    march            m;
    if (!open_march(plan, selected->options, &m)) return false;
    api_row_time_begin(plan, q->rows);
    bool marched = true;
    for (size_t first = 0; marched && first < q->rows; first += m.W)
        marched = march_rows(&m, first);
    api_row_scene_close(&m.e);
    if (!marched) return false;
    api_row_time_end(plan);
    pad(plan, plan->state[API_Q], q->model->nq);
    pad(plan, plan->state[API_QD], nv);
    pad(plan, plan->state[API_TAU], nv);
    if (plan->tree_q) pad(plan, plan->tree_q, q->model->loops->nq);
    return true;
}

static bool finish(const api_evaluation *e, const api_selection *selected)
{
    return api_rollout_gains_finish(e, selected, &((const rollout_options *)selected->options)->gains);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_rollout_gains_seconds(q, &((const rollout_options *)selected->options)->gains);
}

const api_operation api_rollout = {
    .name       = "rollout",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_STEP) |
             API_BIT(API_INTEGRATOR_FIELD) | API_BIT(API_TORQUES) | API_BIT(API_HELD_FIELD) |
             API_BIT(API_CONTACT_DAMPING) | API_BIT(API_PHASES) | API_BIT(API_FRICTION_AT_REST) | API_BIT(API_GUESS) |
             API_BIT(API_COST) | API_BIT(API_DAMPING) | API_BIT(API_FREE) | API_BIT(API_FEEDBACK),
    .needs_options   = API_BIT(API_STEP) | API_BIT(API_TORQUES),
    .outputs         = {API_STEP_OUTPUTS, API_GAIN_OUTPUTS},
    .decoded_seconds = decoded_seconds,
    .alone           = true,
    .one_by_one      = true,
    .weight          = API_STEP_WEIGHT + 3, /* each node is integrated before it is differentiated */
    .square_weight   = API_STEP_SQUARE_WEIGHT,
    .state_seconds   = api_step_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = api_step_spare,
    .begin           = begin,
    .evaluate        = api_step_evaluate,
    .finish          = finish,
    .unordered       = true,
};
