/* rollout_loops.h - closes the loops of rollouts from node to node, so that each mechanism keeps its assembly mode: the
 * passive coordinates of a node are the guess of the next one. A node then has the bits of a state that a client sends
 * on from the answer, with this guess. */
#pragma once
#include "api/requests/lanes/plan.h"
#include "api/requests/lanes/row_time.h"
#include "dynamics/loops/loop_step.h"

/* W rollouts side by side, in lanes. */
typedef struct api_rollout_loops {
    api_plan              *plan;
    size_t                 W, first, live; /* the first row, and the number of rows; the other lanes repeat the last */
    dyn_loop_workspace    *closed;
    api_row_share          share;    /* time share of the rows side by side (row_time.h) */
    double                *guess;    /* passive coordinates of the node before, or of the request, in lanes */
    double                *tree_q;   /* coordinates of the tree at the present node, in lanes */
    dyn_loop_step_failures failures; /* loops that could not be closed in the last step */
    api_problem            problem[DYN_MAX_LANES]; /* problem of each row that has no further nodes */
    size_t                 node[DYN_MAX_LANES];    /* node at which this problem occurred */
    bool                   lost[DYN_MAX_LANES];    /* true: the row has no further nodes */
} api_rollout_loops;

/* Allocates the memory of the rollout, and plan->tree_q. False with a problem. */
bool api_rollout_loops_open(api_plan *plan, const dyn_kernels *kernels, api_rollout_loops *loops);

/* Begins with the rows from `first` on. If the request has a guess, loops->guess is set. */
void api_rollout_loops_start(api_rollout_loops *loops, size_t first);

/* Closes the loops at node n, with coordinates q and rates qd in lanes. A row that is lost stays at the model's
 * reference, at rest. False with a problem after the deadline. */
bool api_rollout_loops_close(api_rollout_loops *loops, size_t n, double *q, double *qd);

/* Fails the rows whose loops could not be closed at a node. The result is that of api_fail_state. */
bool api_rollout_loops_check(const api_rollout_loops *loops);
