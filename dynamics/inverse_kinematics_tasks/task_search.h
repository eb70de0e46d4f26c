/* task_search.h - find coordinates of a tree at which frames and the centre of mass meet tasks in order of priority:
 * one state.
 *
 * Gauss-Newton steps with damping: the step of prioritised_step.h with the errors of the tasks, within the bounds that
 * remain and at most 1 rad or m for each coordinate. A step is accepted if the merit shrinks, prices times the norms of
 * the errors of the earlier levels plus half the square of the last one (Nocedal & Wright 2006, ch. 18.3); otherwise
 * the damping grows. Tasks of priority 0 must be met within the tolerance, else the search begins again at another
 * position (search_start.h). Tasks of other priorities are met as well as those before allow: the search ends where a
 * step changes nothing, at a local minimum.
 *
 * The search can end at a position with a singular Jacobian that is no minimum; the errors that remain are part of the
 * result. */
#pragma once
#include "task_rows.h"

enum { DYN_TASK_MOST_ITERATIONS = 1500 };

typedef struct dyn_task_problem {
    dyn_mechanism         robot; /* without loops */
    size_t                n;
    const dyn_frame_task *task;          /* [n] in the order of priorities */
    const double         *lower, *upper; /* [nq] bounds; infinite where there are none */
    double                tolerance;     /* m and rad */
    double                length;        /* m, of the order of the robot's reach: spread of starts without bounds */
    size_t                most_starts;   /* at least 1 */
    dyn_deadline          deadline;
} dyn_task_problem;

typedef enum dyn_task_status {
    DYN_TASKS_MET,
    DYN_TASKS_OUT_OF_REACH, /* q is the position with the least errors */
    DYN_TASKS_UNSETTLED,    /* the iterations have run out before the later priorities settled */
    DYN_TASKS_LATE,
} dyn_task_status;

/* The result of one state. */
typedef struct dyn_task_found {
    double *q;                        /* [nq] on entry the first start, on return the result */
    double  error[DYN_MOST_TASKS][2]; /* remaining distance in m and angle in rad; 0 where the task has none */
    size_t  iterations, starts;
} dyn_task_found;

/* Returns the doubles of the workspace of a search with kernels of W lanes. */
size_t dyn_task_search_entries(size_t nq, size_t nv, size_t n, size_t W);

/* Searches. `goal` is that of dyn_task_errors; `room` is aligned as lanes are; `workspace` is that of the kernels. */
dyn_task_status dyn_task_search(const dyn_task_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                                const double *goal, dyn_task_found *found);
