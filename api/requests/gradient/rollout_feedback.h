/* rollout_feedback.h - reads "feedback" of a rollout, and adds the torques K (x - x_reference) of each node. */
#pragma once
#include "api/requests/fields/points.h"

typedef struct api_rollout_feedback {
    const api_node *value;                             /* NULL: the request has no feedback */
    api_points      q, qd;                             /* states of all nodes before their steps */
    bool            batch;                             /* true: each row has gains of its own */
    const double   *q_reference, *qd_reference, *gain; /* numbers in the model's order; gain [row][node][nv][2 nv] */
    size_t          steps;
} api_rollout_feedback;

/* Reads the shapes. False with a problem. */
bool api_rollout_feedback_read(api_query *q, const api_node *request, const api_place *up, size_t steps,
                               api_rollout_feedback *feedback);

/* Reads the numbers of the gains and references. Call it after "joints" is read. False with a problem. */
bool api_rollout_feedback_load(const api_query *q, api_rollout_feedback *feedback);

/* Adds the torques of node `node` of a row to tau. q, qd and tau have entries `stride` apart. `dx` has space for 2 nv
 * numbers. */
typedef struct api_feedback_state {
    size_t        row, node, stride;
    const double *q, *qd;
    double       *tau, *dx;
} api_feedback_state;
void api_rollout_feedback_add(const api_query *q, const api_rollout_feedback *feedback, const api_feedback_state *x);
