/* task_loops.h - keeps loops closed while a search moves the coordinates of a tree: one state.
 *
 * A search moves the actuated coordinates. After each step the passive ones follow from them: the loops are closed by
 * continuation from the last accepted position, so that no step leaves them open (loop_kernels.h). With the matrix G
 * of qd_tree = G qd a row r of a Jacobian of the tree becomes r_a + r_p G_p, with zeros in the passive columns.
 *
 * Limits of passive joints bound their velocities x_p, which the rows x_p - G_p x_a = 0 tie to the actuated ones. These
 * rows are the first level of a step (prioritised_step.h). */
#pragma once
#include "dynamics/loops/loop_kernels.h"

typedef struct dyn_task_loops {
    const dyn_mechanism *robot;
    const double        *lower, *upper; /* [tree nq] limits */
    size_t               W, lane;       /* number of lanes of the kernels; lane of the state, 0 if all lanes hold one
                                           state */
    dyn_loop_workspace *closed;         /* NULL: the robot is a tree, which has no rows, and is always closed */
    const double       *guess;          /* [n_passive_q] guess of the request; NULL: none */
    double             *q, *from;       /* in lanes: nq */
    double             *passive;        /* in lanes: n_passive_q */
    double             *tree;           /* in lanes: tree nq */
} dyn_task_loops;

/* Numbers per state of the lanes; lays the lanes out in memory. */
size_t dyn_task_loops_entries(const dyn_mechanism *robot);
void   dyn_task_loops_lay_out(dyn_task_loops *t, double *lanes);

/* Closes the loops at the actuated coordinates in tree_q (tree nq), and replaces its passive coordinates. The
 * path of the continuation begins at `from` (tree nq), a position with closed loops. With `from` NULL the path is the
 * one on which a request is evaluated: that of t->guess (loop_kernels.h), or without a guess that from the reference
 * configuration. Returns false if the loops cannot be closed or the deadline has passed. */
bool dyn_task_loops_close(dyn_task_loops *t, const double *from, double *tree_q);

/* Sets the position of the loops to tree_q, at which they are closed. Returns false if they are not. */
bool dyn_task_loops_restore(dyn_task_loops *t, const double *tree_q);

/* True if the loops of the present position are closed up to rounding errors: to 1e-12 rad, or parts of the
 * mechanism's length. */
bool dyn_task_loops_are_exact(const dyn_task_loops *t);

/* Number of passive joints with limits. */
size_t dyn_task_loop_rows(const dyn_mechanism *robot, const double *lower, const double *upper);

/* Writes the rows of the passive joints with limits, rows x tree nv. */
void dyn_task_loops_write_rows(const dyn_task_loops *t, double *A);

/* Euclidean norm of the distances by which passive coordinates exceed their limits, after the step x (tree nv; NULL:
 * none) from tree_q. */
double dyn_task_loops_excess(const dyn_task_loops *t, const double *tree_q, const double *x);

/* Replaces rows of a Jacobian of the tree, rows x tree nv, by those of the actuated coordinates. */
void dyn_task_loops_fold(const dyn_task_loops *t, size_t rows, double *A);
