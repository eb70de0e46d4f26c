/* gradient_outputs.h - outputs that the operations gradient, forward-gradient and rollout-gradient share: gradients
 * with respect to inertial parameters, wrenches and gravity, sums over the batch, and gradients with respect to the
 * entries of q and to the parameters of friction. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/friction_gradient.h"

/* The shared outputs follow the outputs of each operation. Sums are over all states that have not failed, in the order
 * of the states. */
enum {
    API_BY_PARAMETERS,
    API_BY_WRENCHES,
    API_BY_GRAVITY,
    API_SUM_PARAMETERS,
    API_SUM_GRAVITY,
    API_BY_Q_ENTRIES,
    API_GRADIENT_OUTPUTS
};

/* The rows of the shared outputs, from output `first` on. */
#define API_GRADIENT_OUTPUT_ROWS(first)                                                                                \
    [(first) + API_BY_PARAMETERS]             = {"gradient_parameters", false, {API_BODY_PARAMETERS}},                 \
               [(first) + API_BY_WRENCHES]    = {"gradient_wrenches", false, {API_REQUEST_WRENCHES, 6}},               \
               [(first) + API_BY_GRAVITY]     = {"gradient_gravity", false, {3}},                                      \
               [(first) + API_SUM_PARAMETERS] = {"sum_parameters", false, {API_STRUCTURED}},                           \
               [(first) + API_SUM_GRAVITY]    = {"sum_gravity", false, {API_STRUCTURED}},                              \
               [(first) + API_BY_Q_ENTRIES]   = {"gradient_q_entries", false, {API_NQ}}

/* The shared part of an operation's options, which is their first member: selected->options points to it. */
typedef struct api_gradient_sums {
    size_t  first;      /* the operation's first shared output */
    double *parameters; /* [10 bodies] sum of the gradients with respect to parameters; NULL: not selected */
    double *gravity;    /* [3] sum of the gradients with respect to gravity; NULL: not selected */
} api_gradient_sums;

/* Refuses models with loops. Records whether sum_parameters and sum_gravity, sums over the batch, are requested.
 * `first`: the operation's first shared output. False with a problem. */
bool api_gradient_read(api_query *q, api_selection *selected, size_t first);

/* Reserves lanes for the gradients that are summed. False with a problem. */
bool api_gradient_prepare(api_plan *plan, api_selection *selected);

/* Adds the gradients of all states that have not failed. For the field `finish` of api_operation. False with the
 * query's problem: a sum is not finite.
 */
bool api_gradient_finish(const api_evaluation *e, const api_selection *selected);

/* Writes the gradient with respect to the nq entries of q, if it is selected, of one block. `by_q` is the gradient with
 * respect to q along the tangents, nv entries in lanes. A quaternion r has that of the function of r / |r|, at the unit
 * quaternion: 2 r (g, 0), with the gradient g along R <- R exp(e). A position p of a floating joint has R g along p +=
 * R e. */
void api_gradient_put_entries(const api_evaluation *e, const api_selection *selected, const double *by_q, size_t block);

/* Writes sum_parameters or sum_gravity to the answer. For the field `emit` of api_operation. */
void api_gradient_emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);

/* --- friction ----------------------------------------------------------------------------------------------------- */

/* The row of gradient_friction, an output of gradient and forward-gradient. */
#define API_FRICTION_OUTPUT_ROW(output) [output] = {"gradient_friction", false, {API_MOVERS, DYN_FRICTION_PARAMETERS}}

/* The lanes of one block that the gradient with respect to friction needs. */
typedef struct api_friction_state {
    const double *q, *qd, *qdd, *wrenches;
    const double *multipliers; /* a multiplier for each torque of inverse dynamics */
    double        sign;        /* the gradient is that of sign times multipliers . tau */
} api_friction_state;

/* Returns how many scratch numbers api_friction_put needs for one state. */
size_t api_friction_spare(const api_model *model, const api_selection *selected, size_t output);

/* Writes gradient_friction of a block, if it is selected; `spare` has api_friction_spare numbers for each state. */
void api_friction_put(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                      const api_friction_state *state, double *spare);
