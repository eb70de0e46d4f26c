/* rollout_products.h - reads "directions" of the operation rollout-gradient, and computes its Hessian-vector products:
 * rates of the gradients of a cost of a rollout along several directions of the torques and the initial state. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "directions.h"
#include "dynamics/hessian_product.h"
#include "api/requests/rollout_cost/rollout_cost.h"

/* The outputs, from the first one on. The rates are those of the states after the steps. */
enum {
    API_BY_TORQUES_PRODUCTS,
    API_BY_Q_PRODUCTS,
    API_BY_QD_PRODUCTS,
    API_NODE_RATES_Q,
    API_NODE_RATES_QD,
    API_ROLLOUT_PRODUCT_OUTPUTS
};

/* The rows of the outputs, from output `first` on. */
#define API_ROLLOUT_PRODUCT_OUTPUT_ROWS(first)                                                                         \
    [(first) + API_BY_TORQUES_PRODUCTS]       = {"hessian_products_torques",                                           \
                                                 false,                                                                \
                                                 {API_GIVEN_DIRECTIONS, API_ROLLOUT_STEPS, API_NV}},                   \
               [(first) + API_BY_Q_PRODUCTS]  = {"hessian_products_q", false, {API_GIVEN_DIRECTIONS, API_NV}},         \
               [(first) + API_BY_QD_PRODUCTS] = {"hessian_products_qd", false, {API_GIVEN_DIRECTIONS, API_NV}},        \
               [(first) + API_NODE_RATES_Q]   = {"rates_q", false, {API_GIVEN_DIRECTIONS, API_ROLLOUT_STEPS, API_NV}}, \
               [(first) + API_NODE_RATES_QD]  = {"rates_qd", false, {API_GIVEN_DIRECTIONS, API_ROLLOUT_STEPS, API_NV}}

/* The options of the products, a part of the operation's options. */
typedef struct api_rollout_products {
    size_t          first;   /* index of the operation's first output of the products */
    bool            present; /* the request has directions */
    size_t          n, steps;
    api_points      q, qd;                              /* directions of the initial state */
    const api_node *torques;                            /* torques of the directions; NULL: zero */
    bool            batch;                              /* `torques` has one array for each row */
    const double   *along_q, *along_qd, *along_torques; /* numbers; NULL: zero. Torques: [row][n][steps][nv] */
} api_rollout_products;

/* Reads the shapes. With directions and without "outputs" the products are selected. Refuses these outputs without
 * directions, directions that no output reads, and implicit Euler. False with a problem. */
bool api_rollout_products_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                               dyn_step_method method, api_rollout_products *products);

/* Reads the numbers of the directions. Call it after "joints" is read. False with a problem. */
bool api_rollout_products_load(const api_query *q, api_rollout_products *products);

/* Estimates the seconds of the products; a step without them takes `step` seconds. */
double api_rollout_products_seconds(const api_query *q, const api_rollout_products *products, double step);

/* Returns the scratch numbers of a state. */
size_t api_rollout_products_spare(const api_model *model, const api_selection *selected,
                                  const api_rollout_products *products, dyn_step_method method);

/* The lanes of one block of rows. Each array has n rows for the directions. */
typedef struct api_rollout_product_lanes {
    const api_evaluation       *e;
    const api_rollout_products *p;
    size_t                      block;
    double                     *q, *qd;             /* [steps] n x nv each: directions of the states before each step */
    double                     *q_after, *qd_after; /* n x nv each: directions of the state after the last step */
    double                     *tau;                /* n x nv: directions of the torques of one step */
    double *rate_q, *rate_qd;     /* n x nv each: rates of the gradients with respect to the state after a step */
    double *before_q, *before_qd; /* n x nv each: rates of the gradients with respect to the state before it */
    double *by_torques, *by_tau;  /* [n][steps] products, and those of one step */
    double *work;
} api_rollout_product_lanes;

/* Places the arrays at *next, moves *next past them, and copies the directions of the initial state. */
api_rollout_product_lanes api_rollout_products_lanes(const api_evaluation *e, const api_selection *selected,
                                                     const api_rollout_products *products, size_t block,
                                                     dyn_step_method method, double **next);

/* Propagates the directions of the state before step n to the state after it. The work of `step` has space for
 * dyn_step_gradient_work and dyn_step_tangent_work numbers. */
void api_rollout_products_advance(const api_rollout_product_lanes *x, size_t n, const dyn_step *step);

/* Sets the rates of the gradients to zero, before the cost of the last state is added. */
void api_rollout_products_begin(const api_rollout_product_lanes *x);

/* Adds the rates of the gradients of the cost of node `state->node`, from 1 on. `state` is that of a lane, as
 * api_rollout_cost_of_state takes it. */
void api_rollout_products_add_cost(const api_rollout_product_lanes *x, const api_rollout_cost *cost,
                                   const api_cost_state *state, size_t lane);

/* Propagates the rates of the gradients with respect to the state after step n to those with respect to the state
 * before it; evaluates the gradients of `step` as well. */
void api_rollout_products_step_back(const api_rollout_product_lanes *x, size_t n, const dyn_step_gradient *step);

/* Adds the cost of the torques of step n of a lane, and stores the products with respect to these torques. */
void api_rollout_products_put_torques(const api_rollout_product_lanes *x, const api_rollout_cost *cost,
                                      const api_cost_state *state, size_t lane);

/* Copies the products with respect to the initial state, and the rates of all states, to their outputs. */
void api_rollout_products_put(const api_rollout_product_lanes *x, const api_selection *selected);
