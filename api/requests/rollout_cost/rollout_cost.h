/* rollout_cost.h - reads the scalar of a rollout that is differentiated: multipliers . states, or a quadratic cost. */
#pragma once
#include "api/requests/fields/points.h"

/* One weighted sum of squares, 1/2 sum weight (x - reference)^2 over coordinates and nodes. For joints with a
 * quaternion x - reference is the difference on the tangent space (dynamics/motion/tangent.h). */
typedef struct api_cost_term {
    api_points    weights, reference;
    const double *weight, *target; /* numbers; weight NULL: no such term, target NULL: zeros */
} api_cost_term;

/* The terms of a cost. The states are those after the steps. */
enum { API_COST_Q, API_COST_QD, API_COST_TAU, API_COST_FINAL_Q, API_COST_FINAL_QD, API_COST_TERMS };

/* Matrices of weights: 1/2 dxT Q dx of the differences of q and qd, 2 nv, after every step and after the last, and 1/2
 * duT R du of the differences of tau. A matrix adds to the weights of its quantities, and has their references. */
enum { API_COST_STATE_MATRIX, API_COST_TAU_MATRIX, API_COST_FINAL_MATRIX, API_COST_MATRICES };
#define API_COST_ASYMMETRY 1e-12 /* largest difference from the transpose, of the largest entry */
typedef struct api_cost_matrix {
    api_points    points;
    const double *weight; /* [row][n][n], symmetric, in the order of the model; NULL: absent */
} api_cost_matrix;

typedef struct api_rollout_cost {
    bool            present; /* the request has a cost */
    api_cost_matrix matrix[API_COST_MATRICES];
    api_cost_term   term[API_COST_TERMS];
    api_points
        multipliers[2]; /* multipliers of q and of qd: one point for each step, or one for the state after the last */
    const double           *multiplier[2]; /* numbers of `multipliers`; NULL: absent */
    int                    *position;      /* [nv] entry of q of a joint with one coordinate, else -1 */
    bool                    whole;         /* q_reference has nq numbers in place of nv */
    double                 *home;          /* [nq] zeros and unit quaternions, in place of a reference of nq numbers */
    const struct api_model *model;
    dyn_deadline            deadline; /* deadline that products with a matrix of weights check */
} api_rollout_cost;

/* Reads "cost", "multipliers_q" and "multipliers_qd" of a rollout of `steps` steps. False with a problem. */
bool api_rollout_cost_read(api_query *q, const api_node *request, const api_place *up, size_t steps,
                           api_rollout_cost *cost);

/* Reads the numbers of the cost. Call it after "joints" is read. False with a problem. */
bool api_rollout_cost_load(const api_query *q, api_rollout_cost *cost);

/* Adds the cost of node `node`, from 1 to `steps`, of a row, and its derivatives with respect to q and qd, with the
 * multipliers of the request. x points to entry 0 of q, qd and the derivatives in lanes of width W. Returns the
 * cost. */
typedef struct api_cost_state {
    size_t        row, node, steps, nv, W;
    const double *q, *qd;
    double       *by_q, *by_qd;
    double       *scratch; /* API_COST_SCRATCH nv numbers, with a matrix of weights */
} api_cost_state;
enum { API_COST_SCRATCH = 6 };
double api_rollout_cost_of_state(const api_rollout_cost *cost, const api_cost_state *x);

/* Returns the cost of tau (nv in lanes of width W) of step `step`, from 0, of a row, and adds its derivatives to
 * by_tau. */
double api_rollout_cost_of_torques(const api_rollout_cost *cost, const api_cost_state *x, const double *tau,
                                   double *by_tau);

/* Adds the second derivatives of api_rollout_cost_of_state with respect to changes of q and of qd to a matrix with 2 nv
 * rows, `width` apart; those of differences of rotations are left out (Gauss-Newton). */
void api_rollout_cost_add_curvature(const api_rollout_cost *cost, const api_cost_state *x, double *matrix,
                                    size_t width);
/* Returns the second derivative of api_rollout_cost_of_torques by the torques a and b of a row. */
double api_rollout_cost_torque_curvature(const api_rollout_cost *cost, size_t row, size_t a, size_t b);

/* Add the rates of the derivatives that api_rollout_cost_of_state and api_rollout_cost_of_torques write, along a
 * direction of q, qd and tau with nv entries each, in lanes of width W: to by_q and by_qd of x, and to by_tau. A
 * derivative by q of a joint with a quaternion is along its axes, which turn with the direction. */
void api_rollout_cost_add_rates(const api_rollout_cost *cost, const api_cost_state *x, const double *along_q,
                                const double *along_qd);
void api_rollout_cost_add_torque_rates(const api_rollout_cost *cost, const api_cost_state *x, const double *along,
                                       double *by_tau);
