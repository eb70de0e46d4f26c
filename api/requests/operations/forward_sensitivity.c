/* forward_sensitivity.c - computes the derivatives of forward dynamics, also of a robot whose frames are held. */
#include "operation_list.h"
#include "api/requests/cost/peek.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/loops/lane_matrix.h"
#include "api/requests/fields/fields.h"
#include "dynamics/friction_map.h"
#include "api/requests/step/held_ranges.h"
#include <string.h>

enum { DQDD_DQ, DQDD_DQD, DQDD_DTAU, QDD, DQDD_DWRENCH, DQDD_DPARAMETERS };

/* --- held frames ------------------------------------------------------------------------------------------------ */

/* The operation's options. */
typedef struct held_options {
    api_held_ranges held; /* the held frames: one range */
    size_t          work; /* entries of dyn_held_sensitivity.work */
} held_options;

/* Returns the held frames; NULL: there are none. */
static const api_held_range *held_of(const api_selection *selected)
{
    const api_held_range *range = ((const held_options *)selected->options)->held.range;
    return range->contact ? range : NULL;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    held_options *o = selected->options = api_take(q->pool, sizeof *o);
    api_place     at                    = api_place_key(up, "held");
    return o && api_held_read(q, given, up, &o->held) && api_held_check_loops(q, &o->held, &at, "derivatives");
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    held_options         *o    = selected->options;
    const api_query      *q    = plan->query;
    const api_held_range *held = held_of(selected);
    if (!held) return true;
    o->work = dyn_held_sensitivity_work(&q->scene, selected->outputs & API_BIT(DQDD_DWRENCH), held->contact->n,
                                        held->contact->k);
    return api_held_prepare(q, &o->held);
}

/* Fails the states in which no accelerations hold the frames. The result is that of api_fail_state. */
static bool check_contradictory(const api_evaluation *e, const held_options *o, const double *contradictory,
                                size_t block)
{
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < api_states(e->query); lane++) {
        api_problem found;
        if (contradictory[lane] == 0) continue;
        if (!api_deadline_check(e->query->input->deadline, e->problem))
            return false; /* the deadline may have ended the kernel early */
        api_problem_clear(&found);
        api_contact_describe(o->held.range->contact, (size_t)contradictory[lane], o->held.damping, &found);
        if (!api_fail_found(e, API_QD, block * e->lanes + lane, &found)) return false;
    }
    return true;
}

/* --- inertial parameters ---------------------------------------------------------------------------------------- */

/* Returns how many numbers a state needs for the matrix Y of dtau = Y dparameters. */
static size_t regressor_entries(const api_model *model, const api_selection *selected)
{
    return selected->outputs & API_BIT(DQDD_DPARAMETERS) ? api_output_entries(model, selected, DQDD_DPARAMETERS) : 0;
}

/* Multiplies the rows of Y, the derivatives of efforts without friction, by dtau/dT. `factor` is scratch memory, nv in
 * lanes. */
static void multiply_load(const api_evaluation *e, size_t block, size_t columns, double *factor, double *Y)
{
    const size_t     W  = e->lanes;
    dyn_friction_map io = {.qd     = api_state_block(e, API_QD, block),
                           .tau    = api_state_block(e, API_TAU, block),
                           .result = factor,
                           .factor = factor};
    e->kernels->friction_map(&e->query->scene, e->workspace, &io, 1);
    for (size_t v = 0; v < e->model->nv; v++)
        for (size_t i = 0; i < columns * W; i++)
            Y[v * columns * W + i] *= factor[v * W + i % W];
}

/* Sets Y to the regressor at qdd. With held frames the kernel does not know the wrenches on them, so the load of the
 * joints is computed from tau. `factor` is scratch memory, nv in lanes. */
static void find_regressor(const api_evaluation *e, const api_selection *selected, size_t block,
                           const dyn_regressor *io, double *factor)
{
    const bool loaded = held_of(selected) && api_has_load(e->query);
    dyn_scene  scene  = e->query->scene;
    if (loaded) scene.terms &= ~(unsigned)DYN_FRICTION;
    e->kernels->regressor(&scene, e->workspace, io, 1);
    if (loaded) multiply_load(e, block, api_extent(e->model, selected, API_BODY_PARAMETERS), factor, io->regressor);
}

/* Sets dqdd_dparameters = -dqdd_dtau Y, with held frames too; `Y` has space for the matrix and then nv numbers. Checks
 * the deadline at each row. */
static bool differentiate_by_parameters(const api_evaluation *e, const api_selection *selected, size_t block,
                                        const double *qdd, const double *dqdd_dtau, double *Y)
{
    const size_t    W = e->lanes, nv = e->model->nv, columns = api_extent(e->model, selected, API_BODY_PARAMETERS);
    double         *to    = api_result_block(e, selected, DQDD_DPARAMETERS, block);
    const dyn_lanes lanes = {e->kernels, e->query->scene.deadline};
    dyn_regressor   io    = {
             .q         = api_state_block(e, API_Q, block),
             .qd        = api_state_block(e, API_QD, block),
             .qdd       = qdd,
             .wrenches  = api_wrench_block(e, block),
             .regressor = Y,
    };
    if (!to) return true;
    find_regressor(e, selected, block, &io, Y + nv * columns * W);
    for (size_t v = 0; v < nv; v++) {
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        memset(to + v * columns * W, 0, columns * W * sizeof *to);
        for (size_t k = 0; k < nv; k++) /* row by row of Y, in the order of memory */
            dyn_matrix_mul(&lanes, 1, 1, columns, dqdd_dtau + (v * nv + k) * W, Y + k * columns * W, -1,
                           to + v * columns * W);
    }
    return true;
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static bool evaluate_held(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const held_options   *o        = selected->options;
    const api_held_range *held     = held_of(selected);
    double               *singular = e->spare, *contradictory = singular + e->lanes, *work = contradictory + e->lanes;
    double               *next = api_behind(e, work, o->work, 1);
    dyn_held_sensitivity  io   = {
           .q             = api_state_block(e, API_Q, block),
           .qd            = api_state_block(e, API_QD, block),
           .tau           = api_state_block(e, API_TAU, block),
           .wrenches      = api_wrench_block(e, block),
           .n_held        = held->contact->n,
           .held          = held->contact->frame,
           .sites         = held->sites,
           .damping       = o->held.damping,
           .qdd           = api_result_or_spare(e, selected, QDD, block, &next),
           .dqdd_dq       = api_result_or_spare(e, selected, DQDD_DQ, block, &next),
           .dqdd_dqd      = api_result_or_spare(e, selected, DQDD_DQD, block, &next),
           .dqdd_dtau     = api_result_or_spare(e, selected, DQDD_DTAU, block, &next),
           .dqdd_dwrench  = api_result_block(e, selected, DQDD_DWRENCH, block),
           .work          = work,
           .singular      = singular,
           .contradictory = contradictory,
    };
    e->kernels->held_sensitivity(&e->query->scene, e->workspace, &io, 1);
    return api_check_singular(e, singular, block, 1) && check_contradictory(e, o, contradictory, block) &&
           differentiate_by_parameters(e, selected, block, io.qdd, io.dqdd_dtau, next);
}

/* Counts the scratch lanes: the singular mask, and those of dqdd_dq, dqdd_dqd, dqdd_dtau and qdd that are not requested
 * but needed; with held frames, also a mask and work arrays; then a regressor. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const held_options *o         = selected->options;
    const size_t        regressor = regressor_entries(model, selected);
    size_t              sum       = 1 + api_missing_entries(model, selected, DQDD_DQ, DQDD_DQD) + regressor +
                 api_missing_entries(model, selected, QDD, QDD);
    if (held_of(selected)) sum += 1 + o->work + (regressor > 0 ? model->nv : 0);
    if (held_of(selected) || regressor > 0) sum += api_missing_entries(model, selected, DQDD_DTAU, DQDD_DTAU);
    return sum;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    if (held_of(selected)) return evaluate_held(e, selected, block);
    double                 *singular = e->spare, *next = singular + e->lanes;
    dyn_forward_sensitivity io = {
        .q             = api_state_block(e, API_Q, block),
        .qd            = api_state_block(e, API_QD, block),
        .tau           = api_state_block(e, API_TAU, block),
        .wrenches      = api_wrench_block(e, block),
        .zeros_are_set = e->zeros_written && selected->result[DQDD_DQ] && selected->result[DQDD_DQD],
        .qdd           = api_result_or_spare(e, selected, QDD, block, &next),
        .dqdd_dq       = api_result_or_spare(e, selected, DQDD_DQ, block, &next),
        .dqdd_dqd      = api_result_or_spare(e, selected, DQDD_DQD, block, &next),
        .dqdd_dtau     = regressor_entries(e->model, selected) > 0
                             ? api_result_or_spare(e, selected, DQDD_DTAU, block, &next)
                             : api_result_block(e, selected, DQDD_DTAU, block),
        .dqdd_dwrench  = api_result_block(e, selected, DQDD_DWRENCH, block),
        .singular      = singular,
    };
    e->kernels->forward_sensitivity(&e->query->scene, e->workspace, &io, 1);
    return api_check_singular(e, singular, block, 1) &&
           differentiate_by_parameters(e, selected, block, io.qdd, io.dqdd_dtau, next);
}

/* Estimates the seconds of dqdd_dparameters: a product of nv x nv and nv x 10 n matrices. */
static double state_seconds(const api_call *call, const api_input *input)
{
    const double entry_weight = 0.05; /* cost of an entry of the product, where inverse dynamics costs 1 per body */
    const double nv = (double)call->model->nv, columns = 10 * (double)call->model->n_bodies;
    if (!api_body_mentions(input, api_forward_sensitivity.outputs[DQDD_DPARAMETERS].name)) return 0;
    return entry_weight * nv * nv * columns * call->api->calibration.body;
}

const api_operation api_forward_sensitivity = {
    .name       = "forward-sensitivity",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_HELD_FIELD) | API_BIT(API_CONTACT_DAMPING),
    .outputs       = {[DQDD_DQ]          = {"dqdd_dq", true, {API_NV, API_NV}},
                      [DQDD_DQD]         = {"dqdd_dqd", true, {API_NV, API_NV}},
                      [DQDD_DTAU]        = {"dqdd_dtau", true, {API_NV, API_NV}},
                      [QDD]              = {"qdd", false, {API_NV}},
                      [DQDD_DWRENCH]     = {"dqdd_dwrench", false, {API_REQUEST_WRENCHES, API_NV, 6}},
                      [DQDD_DPARAMETERS] = {"dqdd_dparameters", false, {API_NV, API_BODY_PARAMETERS}}},
    .one_by_one    = true,
    .weight        = 7,
    .square_weight = 1,
    .state_seconds = state_seconds,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .evaluate      = evaluate,
};
