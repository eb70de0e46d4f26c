/* rollout_gains.h - evaluates the quadratic cost of a rollout, and runs the backward pass of iLQR over its nodes: gains
 * and the expansion of the value (dynamics/adjoint/riccati.c). */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/step/step.h"
#include "api/requests/rollout_cost/rollout_cost.h"

/* Outputs of the cost and of the backward pass; the outputs of the steps have the numbers before them. */
enum {
    API_GAINS = API_STEP_OUTPUT_COUNT,
    API_FEED_FORWARD_TORQUES,
    API_VALUE_GRADIENT,
    API_VALUE_HESSIAN,
    API_EXPECTED_CHANGES,
    API_USED_DAMPING,
    API_NODE_COSTS,
    API_NODE_TORQUES /* torques with the feedback added */
};

#define API_GAIN_OUTPUTS                                                                                               \
    [API_GAINS]                = {"gains", false, {API_NV, API_TANGENT}},                                              \
    [API_FEED_FORWARD_TORQUES] = {"feed_forward", false, {API_NV}},                                                    \
    [API_VALUE_GRADIENT]       = {"value_gradient", false, {API_TANGENT}},                                             \
    [API_VALUE_HESSIAN]        = {"value_hessian", false, {API_TANGENT, API_TANGENT}},                                 \
    [API_EXPECTED_CHANGES] = {"expected_changes", false, {2}}, [API_USED_DAMPING] = {"damping", false, {0}},           \
    [API_NODE_COSTS] = {"costs", false, {0}}, [API_NODE_TORQUES] = {"tau", false, {API_NV}}

typedef struct api_rollout_gains {
    bool             backward; /* an output of the backward pass is selected */
    api_rollout_cost cost;
    double           damping;  /* damping of the request */
    size_t           n_driven; /* number of coordinates whose torques are optimised */
    int             *driven;   /* [n_driven] these coordinates */
} api_rollout_gains;

/* Reads "cost", "damping" and "free", and selects the default outputs of a request with a cost. False with a problem.
 */
bool api_rollout_gains_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                            size_t steps, api_rollout_gains *gains);

/* Reads the numbers of the cost, and takes lanes for the outputs of the steps that the cost and the backward pass need.
 * False with a problem. */
bool api_rollout_gains_prepare(api_plan *plan, api_selection *selected, api_rollout_gains *gains);

/* Evaluates the outputs of all rows that have not failed. For the field `finish` of api_operation. */
bool api_rollout_gains_finish(const api_evaluation *e, const api_selection *selected, const api_rollout_gains *gains);

/* Estimates the seconds of the backward pass over all nodes. */
double api_rollout_gains_seconds(const api_query *q, const api_rollout_gains *gains);
