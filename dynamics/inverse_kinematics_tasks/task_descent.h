/* task_descent.h - descends to a minimum of one level of prioritised tasks that keeps the levels before it: one state.
 *
 * The levels are those of task_rows.h, after a level of the limits of passive joints if there are some (task_loops.h).
 * A step solves the levels up to the one whose minimum is sought (prioritised_step.h): with Gauss-Newton rows of the
 * errors and damping, within the limits of the coordinates, and at most 1 rad or m for each coordinate. Near a minimum
 * the last level has Newton's model (task_curvature.h) instead. A level before the last one that has ended with an
 * error has Newton's model, too: its rows keep the minimum.
 *
 * A step is accepted if the merit shrinks: the norms of the earlier levels times penalty factors (`price`), plus half
 * the squared norm of the last level (Nocedal & Wright 2006, ch. 18.3). Otherwise the damping grows. The norm of a
 * level is that of its errors, or of c of Newton's model. */
#pragma once
#include "task_curvature.h"
#include "task_search.h"

enum { DYN_DESCENT_LEVELS = DYN_MOST_TASKS + 1 };

/* A position, with the errors of the tasks there and their Jacobian. */
typedef struct dyn_task_point {
    double *q;         /* [tree nq] position */
    double *A, *error; /* rows x n: Jacobian; rows: errors */
    double *right;     /* rows: right sides -error */
    double *limits;    /* rows of the limits of passive joints, x n */
} dyn_task_point;

typedef struct dyn_task_descent {
    const dyn_task_problem *p;
    dyn_task_block          block;
    dyn_task_loops          loops;
    dyn_prioritised_step    step;
    dyn_task_curvature      curvature;
    bool                    may_curve; /* false: all levels have Gauss-Newton rows */
    const double           *goal;
    size_t                  n, rows;                   /* velocities of the tree; rows of all tasks */
    size_t                  first, last, n_levels;     /* first level of tasks; level to minimise; number of levels */
    size_t                  start[DYN_DESCENT_LEVELS]; /* first row of each level of tasks among those of all tasks */
    size_t                  count[DYN_DESCENT_LEVELS]; /* number of rows of each level */
    dyn_step_level          level[DYN_DESCENT_LEVELS]; /* rows of the step */
    bool                    is_model[DYN_DESCENT_LEVELS];
    bool                    keeps_error[DYN_DESCENT_LEVELS]; /* levels before the last that have ended with an error */
    dyn_task_point          here, trial;                     /* the accepted position, and the one that is tried */
    size_t                  n_limits;                        /* passive joints with limits */
    double                 *lower, *upper;                   /* [n] bounds of a step */
    double                 *zeros;                           /* n */
    double                 *R, *c;                           /* models: level k has n x n at k n n, and n at k n */
    double                  mu;
    double                  norm[DYN_DESCENT_LEVELS]; /* norm of each level at the accepted position */
    double                  model[DYN_DESCENT_LEVELS];
    double                  price[DYN_DESCENT_LEVELS]; /* penalty factors of the norms of all levels but the last */
    size_t                  iterations;
    bool                    met;    /* true: the tasks of priority 0 are met at the accepted position */
    bool                    curved; /* true: the last level of the step has Newton's model */
    double                  length; /* length of the step that was accepted last */
    double                  task_error[DYN_MOST_TASKS][DYN_TASK_ROWS]; /* at the accepted position */
} dyn_task_descent;

/* Doubles of the workspace of a descent with kernels of W lanes; lays the workspace out. The caller sets p, block, goal
 * and loops.closed and loops.guess. */
size_t dyn_task_descent_entries(const dyn_task_problem *p, size_t W);
void   dyn_task_descent_lay_out(dyn_task_descent *d, double *room);

/* Begins at the position d->trial.q, at which the loops are closed. Returns false if its errors are not finite. */
bool dyn_task_descent_begin(dyn_task_descent *d);

/* Descends from d->here to a minimum of level `last`, or until the tasks of priority 0 are met if that is the first
 * level. Returns DYN_TASKS_MET at the end, else DYN_TASKS_UNSETTLED or DYN_TASKS_LATE. */
dyn_task_status dyn_task_descent_seek(dyn_task_descent *d, size_t last);

/* If the tasks of priority 0 are met approximately, takes undamped steps for these tasks alone until they are met. */
void dyn_task_descent_restore(dyn_task_descent *d);

/* Closes the loops at d->here.q as for a request with these coordinates. Returns true if the same errors result, with
 * the loops closed to rounding errors. */
bool dyn_task_descent_confirm(dyn_task_descent *d);
