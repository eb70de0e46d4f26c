/* step.h - evaluates one step of integration for every state: shared by the operations step and rollout, whose states
 * are the rows of a request, or the nodes of its rollouts. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "integrate_step.h"
#include "step_friction.h"

enum {
    API_STEP_Q_AFTER,
    API_STEP_QD_AFTER,
    API_STEP_STATE_MATRIX,
    API_STEP_INPUT_MATRIX,
    API_STEP_WRENCH_MATRIX,
    API_STEP_PARAMETER_MATRIX,
    API_STEP_CONTACT_RESIDUAL,
    API_STEP_STICKING,
    API_STEP_FULL,
    API_STEP_OUTPUT_COUNT
};

/* The outputs that both operations have. */
#define API_STEP_OUTPUTS                                                                                               \
    [API_STEP_Q_AFTER] = {"q_after", true, {API_NQ}}, [API_STEP_QD_AFTER] = {"qd_after", true, {API_NV}},              \
    [API_STEP_STATE_MATRIX]     = {"state_matrix", true, {API_TANGENT, API_TANGENT}},                                  \
    [API_STEP_INPUT_MATRIX]     = {"input_matrix", true, {API_TANGENT, API_NV}},                                       \
    [API_STEP_WRENCH_MATRIX]    = {"wrench_matrix", false, {API_REQUEST_WRENCHES, API_TANGENT, 6}},                    \
    [API_STEP_PARAMETER_MATRIX] = {"parameter_matrix", false, {API_TANGENT, API_BODY_PARAMETERS}},                     \
    [API_STEP_CONTACT_RESIDUAL] = {"contact_residual", false, {API_HELD_FRAMES, 6}},                                   \
    [API_STEP_STICKING] = {"sticking", false, {API_NV}}, [API_STEP_FULL] = {"full", false, {API_LOOP_STATE}}

/* The options of a step. */
typedef struct api_step_options {
    api_held_ranges            held;
    const api_static_friction *friction; /* joints that may stick; NULL: none */
    const dyn_model           *joints; /* model of the actuated joints of a model with loops (loop_step.h); else NULL */
    size_t                     work;   /* entries of dyn_step.work */
    size_t                     room;   /* doubles per state of api_step_means.room */
    bool                       differentiates; /* A and B are computed, whether the request selects them or not */
    double                     h;              /* s, duration of a step */
    dyn_step_method            method;
} api_step_options;

/* Reads "step" and "integrator". False with a problem. */
bool api_step_read(api_query *q, const api_node *given, const api_place *up, api_step_options *options);

/* Counts the held frames of the output contact_residual, after "held" and "phases". False with a problem. */
bool api_step_read_residual(api_query *q, api_selection *selected, const api_node *given, const api_place *up);

/* Reads "friction_at_rest", after "held" and "phases". False with a problem. */
bool api_step_read_friction(api_query *q, api_selection *selected, const api_node *given, const api_place *up);

/* Lists the sites of all wrenches and counts the entries of work arrays: `prepare` of api_operation. */
bool api_step_prepare(api_plan *plan, api_selection *selected);

/* Takes the steps of one block, which hold the frames of `range`. The arrays of `io` are set, joints and contact of
 * `by` are not. `sticking` is as in api_step_friction_apply. */
void api_step_take(const api_step_options *options, const api_held_range *range, const api_step_means *by,
                   const dyn_step *io, double *sticking);

/* Returns true if the step of one lane has a result; else writes the reason to *problem. */
bool api_step_check(const api_evaluation *e, const api_step_means *means, double damping, const dyn_step *io,
                    size_t lane, api_problem *found);

/* Callback for dyn_step.may_continue; `clock` is an api_step_clock. */
bool api_step_may_continue(void *clock);

/* Returns the scratch lanes of a state. For the field `spare` of api_operation; selected->options begins with an
 * api_step_options. */
size_t api_step_spare(const api_model *model, const api_selection *selected);

/* Evaluates one block. For the field `evaluate` of api_operation. */
bool api_step_evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks);

/* Estimates the seconds of a state that the weights do not cover, from the integrator that the body mentions. */
double api_step_seconds(const api_call *call, const api_input *input);

/* The work of semi-implicit Euler, as weights of api_operation. */
#define API_STEP_WEIGHT        8
#define API_STEP_SQUARE_WEIGHT 3
