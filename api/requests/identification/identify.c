/* identify.c - find a robot's parameters from measured motion and torques: the operation, and its rows.
 *
 * The results are the base parameters with standard deviations, the parameters without effect on the torques, and on
 * request a full set of physically consistent parameters (identify_result.c). */
#include "identification.h"
#include "shared_base_parameters.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/loops/loop_kernels.h"

/* --- the rows --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *m, const api_selection *selected)
{
    (void)selected;
    return m->nv * (DYN_PER_BODY * m->n_bodies + 3 * m->n_movers + 1);
}

static bool add_states(const api_evaluation *e, const api_selection *selected, size_t block, dyn_measured *at)
{
    api_identification *id = selected->options;
    dyn_estimate       *t  = &id->estimate;
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < e->query->rows; lane++) {
        size_t state       = block * e->lanes + lane;
        at->regressed.lane = lane;
        if (api_failed_rows_has(e->plan->failed_rows, state)) continue;
        if (!dyn_estimate_takes(t, at)) {
            if (api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "the figures of this state are too large"))
                continue;
            return false;
        }
        if (id->curves)
            api_friction_curves_keep(id->curves, at);
        else if (!dyn_estimate_add(t, at))
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
    double                   *Y = e->spare, *joint = Y + m->nv * DYN_PER_BODY * m->n_bodies * e->lanes,
           *tau     = joint + m->nv * 3 * m->n_movers * e->lanes;
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block),
                 *qdd            = api_state_block(e, API_QDD, block);
    dyn_scene            scene   = e->query->scene;
    dyn_regressor        columns = {.q = q, .qd = qd, .qdd = qdd, .regressor = Y, .joint_regressor = joint};
    dyn_inverse_dynamics known   = {.q = q, .qd = qd, .qdd = qdd, .wrenches = api_wrench_block(e, block), .tau = tau};
    if (id->with & DYN_BASE_FRICTION) scene.terms &= ~(unsigned)DYN_FRICTION;
    kernels->regressor(&scene, e->workspace, &columns, 1);
    kernels->inverse_dynamics(&scene, e->workspace, &known, 1);
    const double *rates = m->loops ? dyn_loop_tree_qd(e->workspace) : qd;
    dyn_measured  at    = {
            .regressed = {.regressor = Y, .joint_regressor = joint, .rates = rates, .lanes = e->lanes, .transmitted = tau},
            .tau       = api_state_block(e, API_TAU, block),
            .model_tau = tau,
            .weights   = api_state_block(e, API_WEIGHTS, block)};
    return add_states(e, selected, block, &at);
}

/* --- the operation ----------------------------------------------------------------------------------------------- */

/* Returns an upper bound of the seconds to find the base parameters: with all joint parameters the search takes
 * longest. */
static double once(const api_model *m)
{
    return api_base_wait(m, DYN_BASE_ROTORS | DYN_BASE_FRICTION);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const double              entry   = 1e-9; /* s, time to read, weight and factor one entry of a row */
    const int                 rounds  = 20;   /* rounds of Huber's loss, as many as outliers need */
    const api_identification *id      = selected->options;
    double                    columns = (double)id->base->n, seconds = 0;
    if (id->chosen) seconds += api_friction_curves_seconds(q->model, id->chosen, q->rows);
    if (id->estimate.huber > 0) seconds += rounds * entry * (double)(q->rows * q->model->nv) * columns * columns;
    return seconds;
}

const api_operation api_identify = {
    .name  = "identify",
    .needs = API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_TAU),
    .takes = API_BIT(API_WEIGHTS) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) |
             API_BIT(API_CONSISTENT) | API_BIT(API_ROTOR) | API_BIT(API_UNKNOWN) | API_BIT(API_FRAME) |
             API_BIT(API_PRIOR) | API_BIT(API_HUBER),
    .outputs         = {[API_IDENTIFY_BASE]         = {"base_parameters", true, {API_STRUCTURED}},
                        [API_IDENTIFY_PARAMETERS]   = {"parameters", false, {API_STRUCTURED}},
                        [API_IDENTIFY_RESIDUAL]     = {"residual", true, {API_STRUCTURED}},
                        [API_IDENTIFY_NOISE]        = {"noise", true, {API_STRUCTURED}},
                        [API_IDENTIFY_CONDITION]    = {"condition", true, {API_STRUCTURED}},
                        [API_IDENTIFY_UNOBSERVABLE] = {"unobservable", true, {API_STRUCTURED}},
                        [API_IDENTIFY_PAYLOAD]      = {"payload", false, {API_STRUCTURED}},
                        [API_IDENTIFY_MODEL]        = {"model", false, {API_STRUCTURED}},
                        [API_IDENTIFY_FIT]          = {"fit", false, {API_STRUCTURED}},
                        [API_IDENTIFY_SHOWN]        = {"observability", false, {API_STRUCTURED}}},
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
    .finish          = api_identify_finish,
    .emit            = api_identify_emit,
};
