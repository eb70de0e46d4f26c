/* identify.c - find a robot's parameters from measured motion and torques.
 *
 * The results are the base parameters with standard deviations, the parameters without effect on the torques, and on
 * request a full set of physically consistent parameters. */
#include "consistent_parameters.h"
#include "identification.h"
#include "shared_base_parameters.h"
#include "api/lanes/evaluation.h"
#include "api/lanes/failed_rows.h"
#include "api/loops/loop_kernels.h"
#include <math.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *m, const api_selection *selected)
{
    (void)selected;
    return m->nv * (API_PER_BODY * m->n_bodies + 3 * m->n_movers + 1);
}

static bool add_states(const api_evaluation *e, const api_selection *selected, size_t block, api_measured *at)
{
    api_identification *id = selected->options;
    api_estimate       *t  = &id->estimate;
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < e->query->rows; lane++) {
        size_t state       = block * e->lanes + lane;
        at->regressed.lane = lane;
        if (api_failed_rows_has(e->plan->failed_rows, state)) continue;
        if (!api_estimate_takes(t, at)) {
            if (api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "the figures of this state are too large"))
                continue;
            return false;
        }
        if (id->curves)
            api_friction_curves_keep(id->curves, at);
        else if (!api_estimate_add(t, at))
            return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL,
                            "figures of the data are too large to compute with");
    }
    return true;
}

/* Computes the regressor and the torques of the model, and adds the states to the estimate. The estimate is the
 * difference from the parameters of the model, so payload, wrenches and springs count as known. */
static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    const api_identification *id      = selected->options;
    const api_model          *m       = e->model;
    const dyn_kernels        *kernels = e->kernels;
    double                   *Y = e->spare, *joint = Y + m->nv * API_PER_BODY * m->n_bodies * e->lanes,
           *tau     = joint + m->nv * 3 * m->n_movers * e->lanes;
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block),
                 *qdd            = api_state_block(e, API_QDD, block);
    dyn_scene            scene   = e->query->scene;
    dyn_regressor        columns = {.q = q, .qd = qd, .qdd = qdd, .regressor = Y, .joint_regressor = joint};
    dyn_inverse_dynamics known   = {.q = q, .qd = qd, .qdd = qdd, .wrenches = api_wrench_block(e, block), .tau = tau};
    if (id->with & API_BASE_FRICTION) scene.terms &= ~(unsigned)DYN_FRICTION;
    kernels->regressor(&scene, e->workspace, &columns, 1);
    kernels->inverse_dynamics(&scene, e->workspace, &known, 1);
    const double *rates = m->loops ? api_loop_tree_qd(e->workspace) : qd;
    api_measured  at    = {
            .regressed = {.regressor = Y, .joint_regressor = joint, .rates = rates, .lanes = e->lanes, .transmitted = tau},
            .tau       = api_state_block(e, API_TAU, block),
            .model_tau = tau,
            .weights   = api_state_block(e, API_WEIGHTS, block)};
    return add_states(e, selected, block, &at);
}

/* --- the result ------------------------------------------------------------------------------------------------- */

/* Returns advice how to determine the parameters marked in `unseen`, which depends on their kinds. */
static const char *advice(const api_identification *id, const bool *unseen)
{
    size_t joints = 0, bodies = 0, first = API_PER_BODY * id->estimate.model->n_bodies;
    for (size_t k = 0; k < id->base->n; k++)
        if (unseen[k]) *(id->base->parameter[k] < first ? &bodies : &joints) += 1;
    if (bodies > 0)
        return joints == 0 ? "give rows in which their joints move further and faster, each by itself and together"
                           : "give rows in which their joints move further and faster, at several speeds both ways";
    if (!id->chosen) return "move these joints at several speeds both ways, or leave \"friction\" or \"rotor\" out";
    return id->curves ? "move these joints both ways, slowly and fast, under several loads, or list less in \"unknown\""
                      : "move these joints at several speeds both ways, or list less in \"unknown\"";
}

static bool fail_deficient(const api_evaluation *e, const api_selection *selected)
{
    enum { SHOWN = 8 };
    const api_identification *id = selected->options;
    const api_estimate       *t  = &id->estimate;
    char                      name[API_PARAMETER_NAME], list[SHOWN * 70] = "";
    size_t                    unseen = 0, length = 0;
    if (t->used <= t->n)
        return api_fail(e->problem, API_RANK_DEFICIENT, t->weighted ? "/weights" : NULL,
                        "%zu base parameters are looked for, and only %zu rows%s are left%s: give more", t->n, t->used,
                        t->weighted ? " with a weight above zero" : "",
                        e->plan->failed_rows ? " of rows that can be evaluated" : "");
    for (size_t k = 0; k < t->n; k++) {
        if (!t->unknowns.unseen[k] || unseen++ >= SHOWN) continue;
        api_parameter_name(t->model, t->base->parameter[k], name);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.64s", length > 0 ? ", " : "", name);
    }
    return api_fail(e->problem, API_RANK_DEFICIENT, NULL,
                    "the data do not tell %zu of the %zu base parameters apart: %s%s; %s", unseen, t->n, list,
                    unseen > SHOWN ? " ..." : "", advice(id, t->unknowns.unseen));
}

static bool go_on(void *arg)
{
    const api_evaluation *e = arg;
    return api_deadline_check(e->query->input->deadline, e->problem);
}

static bool find_consistent(const api_evaluation *e, const api_selection *selected, const double *beta)
{
    const api_identification *id = selected->options;
    const api_consistent      c  = {.model      = e->model,
                                    .base       = id->base,
                                    .with       = id->with,
                                    .R          = id->estimate.R,
                                    .s          = api_estimate_row_deviation(&id->estimate),
                                    .beta       = beta,
                                    .parameters = id->parameters,
                                    .go_on      = go_on,
                                    .arg        = (void *)(uintptr_t)e};
    return api_consistent_find(&c, id->scratch) || api_fail(e->problem, API_RESULT_NOT_FINITE, NULL,
                                                            "figures are too large to find consistent parameters with");
}

/* Finds all parameters of the robot: consistent ones, or those of the model with the chosen ones in their place. */
static bool find_parameters(const api_evaluation *e, const api_selection *selected, const double *beta)
{
    api_identification *id = selected->options;
    if (!id->parameters) return true;
    id->found = true;
    if (!id->chosen) return find_consistent(e, selected, beta);
    memset(id->parameters, 0, api_identify_parameter_count(e->model) * sizeof *id->parameters);
    api_parameters_compute(e->model, id->parameters);
    for (size_t k = 0; k < id->base->n; k++)
        id->parameters[id->base->parameter[k]] = beta[k];
    return true;
}

/* Copies the payload's parameters, before those of the model are added. A payload without mass has no centre. */
static bool keep_payload(const api_evaluation *e, api_identification *id, const double *beta)
{
    if (!id->chosen || !id->chosen->payload) return true;
    memcpy(id->payload, beta, sizeof id->payload);
    return id->payload[0] != 0 ||
           api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "the estimated mass of the payload is zero");
}

/* Adds the rows of friction curves, and the velocities about which they are linearised to the model's parameters. */
static bool add_curves(const api_evaluation *e, api_identification *id)
{
    id->estimate.problem = e->problem;
    if (!api_friction_curves_add(id->curves, &id->estimate)) return false;
    for (size_t j = 0; j < e->model->n_movers; j++)
        id->own[api_curve_parameter(e->model, j, API_STRIBECK_VELOCITY)] = api_friction_curves_velocity(id->curves, j);
    return true;
}

/* Solves for the base parameters, adds those of the model, puts the noise in the request's order of joints, and finds
 * the consistent parameters if requested. */
static bool finish(const api_evaluation *e, const api_selection *selected)
{
    api_identification *id   = selected->options;
    api_estimate       *t    = &id->estimate;
    double             *beta = t->unknowns.x, sum = 0;
    if (api_failed_rows_all(e->plan->failed_rows)) return true; /* no state is left: the outputs are null */
    if (id->curves && !add_curves(e, id)) return false;
    switch (api_estimate_solve(t)) {
    case API_SOLVED: break;
    case API_DEFICIENT: return fail_deficient(e, selected);
    case API_UNSOLVED:
        return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "figures of the data are too large to compute with");
    }
    if (!keep_payload(e, id, beta)) return false;
    for (size_t k = 0; k < t->n; k++) {
        beta[k] += api_base_value(id->base, k, id->own);
        sum += fabs(beta[k]) + t->deviation[k];
    }
    for (size_t v = 0; v < e->model->nv; v++)
        sum += t->scratch[v] = t->noise[v];
    for (size_t v = 0; v < e->model->nv && e->query->order; v++)
        t->noise[v] = t->scratch[e->query->order[v]];
    if (!isfinite(sum + t->residual + t->unknowns.condition))
        return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "figures of the data are too large to compute with");
    return find_parameters(e, selected, beta) && api_deadline_check(e->query->input->deadline, e->problem);
}

/* --- the operation ----------------------------------------------------------------------------------------------- */

/* Returns an upper bound of the seconds to find the base parameters: with all joint parameters the search takes
 * longest. */
static double once(const api_model *m)
{
    return api_base_wait(m, API_BASE_ROTORS | API_BASE_FRICTION);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_identification *id = selected->options;
    return id->chosen ? api_friction_curves_seconds(q->model, id->chosen, q->rows) : 0;
}

const api_operation api_identify = {
    .name  = "identify",
    .needs = API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_TAU),
    .takes = API_BIT(API_WEIGHTS) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) |
             API_BIT(API_CONSISTENT) | API_BIT(API_ROTOR) | API_BIT(API_UNKNOWN) | API_BIT(API_FRAME),
    .outputs         = {[API_IDENTIFY_BASE]         = {"base_parameters", true, {API_STRUCTURED}},
                        [API_IDENTIFY_PARAMETERS]   = {"parameters", false, {API_STRUCTURED}},
                        [API_IDENTIFY_RESIDUAL]     = {"residual", true, {API_STRUCTURED}},
                        [API_IDENTIFY_NOISE]        = {"noise", true, {API_STRUCTURED}},
                        [API_IDENTIFY_CONDITION]    = {"condition", true, {API_STRUCTURED}},
                        [API_IDENTIFY_UNOBSERVABLE] = {"unobservable", true, {API_STRUCTURED}},
                        [API_IDENTIFY_PAYLOAD]      = {"payload", false, {API_STRUCTURED}},
                        [API_IDENTIFY_MODEL]        = {"model", false, {API_STRUCTURED}}},
    .alone           = true,
    .one_by_one      = true,
    .regresses       = true,
    .weight          = 5,
    .square_weight   = 40, /* cost of factoring the rows */
    .once            = once,
    .decoded_seconds = decoded_seconds,
    .options         = api_identify_options,
    .prepare         = api_identify_prepare,
    .spare           = spare,
    .evaluate        = evaluate,
    .finish          = finish,
    .emit            = api_identify_emit,
};
