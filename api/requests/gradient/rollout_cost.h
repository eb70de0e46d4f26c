/* rollout_cost.h - reads the scalar of a rollout that is differentiated: multipliers . states, or a quadratic cost. */
#pragma once
#include "api/requests/fields/points.h"

/* One weighted sum of squares, 1/2 sum weight (x - reference)^2 over coordinates and nodes. For joints with a
 * quaternion x - reference is the difference on the tangent space (dynamics/motion/tangent.h). */
typedef struct api_cost_term {
    api_points    weights, reference;
    const double *weight, *target; /* numbers of both; weight NULL: the term is absent, target NULL: zeros */
} api_cost_term;

/* The terms of a cost. The states are those after the steps. */
enum { API_COST_Q, API_COST_QD, API_COST_TAU, API_COST_FINAL_Q, API_COST_FINAL_QD, API_COST_TERMS };

typedef struct api_rollout_cost {
    bool                    present; /* the request has a cost */
    api_cost_term           term[API_COST_TERMS];
    api_points              multipliers[2]; /* after every step or after the last, of q and of qd */
    const double           *multiplier[2];  /* numbers of `multipliers`; NULL: absent */
    int                    *position;       /* [nv] entry of q of a joint with one coordinate, else -1 */
    bool                    whole;          /* q_reference has nq numbers in place of nv */
    double                 *home;           /* [nq] zeros and unit quaternions, in place of a reference of nq numbers */
    const struct api_model *model;
} api_rollout_cost;

/* Reads "cost", "multipliers_q" and "multipliers_qd" of a rollout of `steps` steps. False with a problem. */
bool api_rollout_cost_read(api_query *q, const api_node *request, const api_place *up, size_t steps,
                           api_rollout_cost *cost);

/* Reads the numbers, when "joints" is read. False with a problem. */
bool api_rollout_cost_load(const api_query *q, api_rollout_cost *cost);

/* Adds the cost of node `node`, from 1 to `steps`, of a row, and its derivatives with respect to q and qd, with the
 * multipliers of the request. x points to entry 0 of q, qd and the derivatives in lanes of width W. Returns the
 * cost. */
typedef struct api_cost_state {
    size_t        row, node, steps, nv, W;
    const double *q, *qd;
    double       *by_q, *by_qd;
} api_cost_state;
double api_rollout_cost_of_state(const api_rollout_cost *cost, const api_cost_state *x);

/* Returns the cost of tau (nv in lanes of width W) of step `step`, from 0, of a row, and adds its derivatives to
 * by_tau. */
double api_rollout_cost_of_torques(const api_rollout_cost *cost, const api_cost_state *x, const double *tau,
                                   double *by_tau);

/* Adds the second derivatives of api_rollout_cost_of_state with respect to changes of q and of qd to a matrix with 2 nv
 * rows, `width` apart; those of differences of rotations are left out (Gauss-Newton). */
void api_rollout_cost_add_curvature(const api_rollout_cost *cost, const api_cost_state *x, double *matrix,
                                    size_t width);
/* Adds the second derivatives of api_rollout_cost_of_torques, a diagonal of nv entries. */
void api_rollout_cost_add_torque_curvature(const api_rollout_cost *cost, size_t row, double *diagonal);
