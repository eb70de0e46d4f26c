/* task_search.h - finds coordinates at which frames and the centre of mass meet tasks in order of priority: one state.
 *
 * The minima of the levels are found one after the other (task_descent.h). Tasks of priority 0 must be met within the
 * tolerance, else the search begins again at another position (search_start.h). Tasks of other priorities are met as
 * well as those before allow: the search of a level ends where a step changes nothing, at a local minimum, which the
 * levels after it keep. A mechanism with loops keeps them closed (task_loops.h), and its result is confirmed: the loops
 * are closed once more along the path of a request with the coordinates that were found, and the same errors must
 * result.
 *
 * The search can end at a position with a singular Jacobian that is no minimum; the errors that remain are part of the
 * result. */
#pragma once
#include "dynamics/loops/loop_kernels.h"
#include "task_rows.h"

enum { DYN_TASK_MOST_ITERATIONS = 1500 };

typedef struct dyn_task_problem {
    dyn_mechanism         robot;
    dyn_loop_workspace   *closed; /* with loops: their workspace; NULL: a tree */
    const double         *guess;  /* [n_passive_q] guess of the request with loops; NULL: none */
    size_t                n;
    const dyn_frame_task *task;          /* [n] in the order of priorities */
    const double         *lower, *upper; /* [tree nq] bounds; infinite where there are none */
    double                tolerance;     /* m and rad */
    double                length;        /* m, of the order of the robot's reach: spread of starts without bounds */
    size_t                most_starts;   /* at least 1 */
    dyn_deadline          deadline;
} dyn_task_problem;

typedef enum dyn_task_status {
    DYN_TASKS_MET,
    DYN_TASKS_OUT_OF_REACH, /* q is the position with the least errors */
    DYN_TASKS_UNSETTLED,    /* the iterations have run out before the later priorities settled */
    DYN_TASKS_APART,        /* the tasks are met, but a request with these coordinates reaches another assembly of
                               the loops */
    DYN_TASKS_LATE,
} dyn_task_status;

/* The result of one state. */
typedef struct dyn_task_found {
    double *q; /* [tree nq] on entry the first start, at which loops are closed; on return the result */
    double  error[DYN_MOST_TASKS][2]; /* remaining distance in m and angle in rad; 0 where the task has none */
    size_t  iterations, starts;
} dyn_task_found;

/* Returns the doubles of the workspace of a search with kernels of W lanes. The fields of the problem from `closed` on
 * need not be set, but for n, task, lower and upper. */
size_t dyn_task_search_entries(const dyn_task_problem *p, size_t W);

/* Searches for positions that fulfil the tasks. `goal` is that of dyn_task_errors; `room` is aligned as lanes are;
 * `kernels` and `workspace` are those of the tree. */
dyn_task_status dyn_task_search(const dyn_task_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                                const double *goal, dyn_task_found *found);
