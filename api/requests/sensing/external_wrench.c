/* external_wrench.c - estimates the torques of unknown external forces, and their wrench at a frame, from measured
 * torques: at each state by itself, or along samples in time by a momentum observer. */
#include "external_wrench.h"
#include "api/requests/fields/fields.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/wrench_estimation/momentum_observer.h"
#include <math.h>
#include <string.h>

static bool options(api_query *q, api_selection *selected, const api_node *node, const api_place *up)
{
    const api_external_options *o = selected->options = api_external_wrench_read(q, selected, node, up);
    selected->all_in_lanes                            = o && o->gain;
    return o != NULL;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

/* Reserves the lanes of the observer, whose samples depend on each other. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    api_external_options *o     = selected->options;
    const size_t          nv    = plan->query->model->nv;
    api_place             where = api_place_key(NULL, "q");
    if (!api_external_wrench_order(plan->query, o)) return false;
    if (api_has_load(plan->query)) return api_fail_load(plan->query, "external-wrench");
    if (!o->gain) return true;
    if (!plan->query->empty && api_states(plan->query) < 2)
        return api_fail_at(plan->query->problem, &where, API_WRONG_SHAPE,
                           "one state given; the momentum observer takes rows, samples in time");
    o->p        = api_take_lanes(plan, nv);
    o->u        = api_take_lanes(plan, nv);
    o->jacobian = o->frame ? api_take_lanes(plan, 6 * nv) : NULL;
    return o->p && o->u && (!o->frame || o->jacobian);
}

static size_t spare(const api_model *model, const api_selection *selected)
{
    const api_external_options *o  = selected->options;
    const size_t                nv = model->nv, of_frame = 6 * nv + 12;
    const bool                  covar = selected->outputs & API_BIT(API_EXTERNAL_COVARIANCE);
    if (o->gain) return 6 + 2 * nv * nv + nv + dyn_contact_wrench_room(nv, o->fit.n, covar);
    return nv + of_frame + dyn_contact_wrench_room(nv, o->fit.n, covar);
}

static void find_jacobian(const api_evaluation *e, const api_external_options *o, size_t block, double *to)
{
    const dyn_kinematics io = {
        .q = api_state_block(e, API_Q, block), .frame = o->frame, .frame_axes = o->frame_axes, .jacobian = to};
    e->kernels->kinematics(&e->query->scene, e->workspace, &io, 1);
}

/* --- the wrench at a frame ---------------------------------------------------------------------------------------- */

/* Lanes of a block for the estimate of the wrench in one state. */
typedef struct estimate {
    const double *jacobian, *tau;
    double       *wrench, *covariance, *remainder;
    double       *room; /* scratch memory of dyn_contact_wrench for one state */
} estimate;

/* Fits the wrench of one lane. False with e->problem. */
static bool fit(const api_evaluation *e, const api_external_options *o, const estimate *s, const double *variance,
                size_t state)
{
    const size_t                   lane = state % e->lanes;
    dyn_contact_wrench             w    = o->fit;
    const dyn_contact_wrench_state one  = {.jacobian   = s->jacobian + lane,
                                           .tau        = s->tau + lane,
                                           .variance   = variance,
                                           .wrench     = s->wrench + lane,
                                           .covariance = s->covariance ? s->covariance + lane : NULL,
                                           .remainder  = s->remainder ? s->remainder + lane : NULL};
    w.stride                            = e->lanes;
    w.deadline                          = e->query->scene.deadline;
    if (dyn_contact_wrench_find(&w, s->room, &one)) return true;
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    return api_fail_state(e, API_SINGULAR_JACOBIAN, API_Q, state,
                          "the torques do not determine the wrench along these axes at this position: list fewer axes, "
                          "such as x, y, z for a push without torque");
}

/* Returns the lanes of an estimate at block `block`. `next` are scratch lanes: a wrench that is not requested, then the
 * scratch memory of a state. */
static estimate place_estimate(const api_evaluation *e, const api_selection *selected, size_t block,
                               const double *jacobian, double *next)
{
    estimate s = {.jacobian   = jacobian,
                  .tau        = api_result_block(e, selected, API_EXTERNAL_TAU, block),
                  .wrench     = api_result_block(e, selected, API_EXTERNAL_WRENCH, block),
                  .covariance = api_result_block(e, selected, API_EXTERNAL_COVARIANCE, block),
                  .remainder  = api_result_block(e, selected, API_EXTERNAL_REMAINDER, block)};
    if (!s.wrench) s.wrench = next;
    s.room = next + 6 * e->lanes;
    return s;
}

/* --- the static estimate ------------------------------------------------------------------------------------------ */

/* Sets tau_e = inverse dynamics - tau (nv in lanes), where inverse dynamics contains the known wrenches. */
static void find_external_torques(const api_evaluation *e, size_t block, double *to)
{
    const double              *tau = api_state_block(e, API_TAU, block);
    const dyn_inverse_dynamics io  = {.q        = api_state_block(e, API_Q, block),
                                      .qd       = api_state_block(e, API_QD, block),
                                      .qdd      = api_state_block(e, API_QDD, block),
                                      .wrenches = api_wrench_block(e, block),
                                      .tau      = to};
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &io, 1);
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        to[i] -= tau[i];
}

static bool estimate_block(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_external_options *o = selected->options;
    const size_t                W = e->lanes, nv = e->model->nv;
    double *torques = api_result_block(e, selected, API_EXTERNAL_TAU, block), *jacobian = e->spare + nv * W;
    if (!torques) torques = e->spare;
    find_external_torques(e, block, torques);
    if (!(selected->outputs & API_EXTERNAL_OF_FRAME)) return true;
    find_jacobian(e, o, block, jacobian);
    estimate s = place_estimate(e, selected, block, jacobian, jacobian + 6 * nv * W);
    s.tau      = torques;
    for (size_t state = block * W; state < (block + 1) * W && state < api_states(e->query); state++)
        if (!fit(e, o, &s, NULL, state)) return false;
    return true;
}

/* --- the momentum observer ---------------------------------------------------------------------------------------- */

/* Sets u = tau + (C + C^T) qd - b, the known part of the momentum's rate, and p = M qd (nv in lanes each). */
static void find_momentum(const api_evaluation *e, size_t block, double *p, double *u)
{
    const size_t  W = e->lanes, nv = e->model->nv;
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block),
                 *tau              = api_state_block(e, API_TAU, block);
    double               *singular = e->spare, *M = singular + W, *C = M + nv * nv * W, *b = C + nv * nv * W;
    const dyn_mass_matrix inertia  = {.q = q, .mass_matrix = M, .singular = singular};
    const dyn_coriolis    coriolis = {.q = q, .qd = qd, .coriolis_matrix = C};
    const dyn_bias        bias     = {.q = q, .qd = qd, .wrenches = api_wrench_block(e, block), .bias = b};
    e->kernels->mass_matrix(&e->query->scene, e->workspace, &inertia, 1);
    e->kernels->coriolis(&e->query->scene, e->workspace, &coriolis, 1);
    e->kernels->bias(&e->query->scene, e->workspace, &bias, 1);
    for (size_t i = 0; i < nv && dyn_may_continue(e->query->scene.deadline); i++)
        for (size_t lane = 0; lane < W; lane++) {
            double momentum = 0, rate = tau[i * W + lane] - b[i * W + lane];
            for (size_t k = 0; k < nv; k++) {
                momentum += M[(i * nv + k) * W + lane] * qd[k * W + lane];
                rate += (C[(i * nv + k) * W + lane] + C[(k * nv + i) * W + lane]) * qd[k * W + lane];
            }
            p[i * W + lane] = momentum;
            u[i * W + lane] = rate;
        }
}

/* Finds what the observer needs of the states of a block. The residuals are written by `finish`; until then the
 * results are zeros. */
static bool observe_block(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const api_external_options *o  = selected->options;
    const size_t                nv = e->model->nv;
    find_momentum(e, block, api_block(e, o->p, nv, block), api_block(e, o->u, nv, block));
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    if (o->jacobian) find_jacobian(e, o, block, api_block(e, o->jacobian, 6 * nv, block));
    for (size_t i = 0; api_has_output(selected->operation, i); i++) {
        double *result = api_result_block(e, selected, i, block);
        if (result) memset(result, 0, api_output_entries(e->model, selected, i) * e->lanes * sizeof *result);
    }
    return true;
}

/* The observer at a sample. */
typedef struct observer {
    dyn_momentum_residual *residual; /* [nv] momentum observer of each coordinate */
    double *tau, *variance; /* [nv] lanes of the block for tau_external if it is not requested; [nv] variances of the
                               residuals */
    size_t failed;          /* the first sample that failed; SIZE_MAX: none */
} observer;

static dyn_momentum_sample momentum_sample_of(const api_evaluation *e, const api_external_options *o, size_t state,
                                              size_t v)
{
    const size_t nv = e->model->nv;
    return (dyn_momentum_sample){api_state_lane(e, o->p, nv, state)[v * e->lanes],
                                 api_state_lane(e, o->u, nv, state)[v * e->lanes]};
}

/* Advances the observer to a sample, and writes the residuals. False: a number is not finite. */
static bool observe_sample(const api_evaluation *e, const api_selection *selected, observer *s, size_t state)
{
    const api_external_options *o = selected->options;
    double *node = api_result_block(e, selected, API_EXTERNAL_TAU, state / e->lanes), *to = node ? node : s->tau;
    bool    finite = true;
    for (size_t v = 0; v < e->model->nv; v++) {
        const dyn_momentum_sample now = momentum_sample_of(e, o, state, v);
        if (state > 0)
            dyn_momentum_observe(o->gain[v], o->step, momentum_sample_of(e, o, state - 1, v), now, &s->residual[v]);
        to[v * e->lanes + state % e->lanes] = s->residual[v].r;
        s->variance[v]                      = s->residual[v].variance;
        finite &= isfinite(now.p) && isfinite(now.u) && isfinite(s->residual[v].r);
    }
    return finite;
}

/* Fails a sample: the first one by its own numbers, a later one because its residuals depend on the failed sample. */
static bool fail_observed(const api_evaluation *e, observer *s, size_t state)
{
    if (s->failed == SIZE_MAX) {
        s->failed = state;
        return api_failed_rows_has(e->plan->failed_rows, state) ||
               api_fail_state(e, API_RESULT_NOT_FINITE, API_Q, state, "the numbers of this state are too large");
    }
    return api_fail_state(e, API_RESULT_NOT_FINITE, API_Q, state,
                          "sample %zu failed, on which the residuals of all later samples depend", s->failed);
}

static bool finish_sample(const api_evaluation *e, const api_selection *selected, observer *s, size_t state)
{
    const api_external_options *o  = selected->options;
    const size_t                nv = e->model->nv, block = state / e->lanes;
    if (s->failed != SIZE_MAX || (e->plan->failed_rows && api_failed_rows_has(e->plan->failed_rows, state)) ||
        !observe_sample(e, selected, s, state))
        return fail_observed(e, s, state);
    if (!(selected->outputs & API_EXTERNAL_OF_FRAME)) return true;
    estimate lanes = place_estimate(e, selected, block, api_block(e, o->jacobian, 6 * nv, block), e->spare);
    if (!lanes.tau) lanes.tau = s->tau;
    return fit(e, o, &lanes, s->variance, state);
}

static bool finish(const api_evaluation *e, const api_selection *selected)
{
    const api_external_options *o    = selected->options;
    const size_t                nv   = e->model->nv;
    api_evaluation              last = *e;
    last.problem                     = e->query->problem;
    last.spare = e->spares[0]; /* the request has this operation only, so its scratch lanes are the first */
    if (!o->gain) return true;
    observer s = {.residual = api_take(e->query->pool, nv * sizeof *s.residual),
                  .tau      = api_take(e->query->pool, nv * e->lanes * sizeof *s.tau),
                  .variance = api_take(e->query->pool, nv * sizeof *s.variance),
                  .failed   = SIZE_MAX};
    if (!s.residual || !s.tau || !s.variance) return false;
    memset(s.residual, 0, nv * sizeof *s.residual);
    for (size_t state = 0; state < api_states(e->query); state++)
        if (!api_deadline_check(e->query->input->deadline, last.problem) || !finish_sample(&last, selected, &s, state))
            return false;
    return true;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const api_external_options *o = selected->options;
    return o->gain ? observe_block(e, selected, block) : estimate_block(e, selected, block);
}

const api_operation api_external_wrench = {
    .name  = "external-wrench",
    .needs = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_FRAME) | API_BIT(API_AXES) |
             API_BIT(API_REFERENCE) | API_BIT(API_GAIN) | API_BIT(API_STEP) | API_BIT(API_NOISE) | API_BIT(API_OUTPUTS),
    .outputs       = {[API_EXTERNAL_TAU]        = {"tau_external", true, {API_NV}},
                      [API_EXTERNAL_WRENCH]     = {"wrench", false, {6}},
                      [API_EXTERNAL_COVARIANCE] = {"covariance", false, {API_SELECTED_AXES, API_SELECTED_AXES}},
                      [API_EXTERNAL_REMAINDER]  = {"remainder", false, {API_NV}}},
    .alone         = true,
    .one_by_one    = true,
    .unordered     = true,
    .weight        = 8,
    .square_weight = 1,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .evaluate      = evaluate,
    .finish        = finish,
};
