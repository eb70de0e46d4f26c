/* task_rows.h - finds the errors and Jacobians of tasks of frames and of the centre of mass: one state.
 *
 * A task asks a frame for a position, an orientation or a direction of one of its axes, or the centre of mass for a
 * position. The rows of a task are the position's error (m, world axes) and the rotation vector from the goal to the
 * frame (rad, world axes), times the square root of its weight; a rotation about the pointing axis does not count.
 * Tasks of one priority form a level, and levels are ordered by priority (prioritised_step.h). */
#pragma once
#include "dynamics/loops/mechanism.h"
#include "prioritised_step.h"

enum { DYN_TASK_ROWS = 6, DYN_TASK_GOAL = 7, DYN_MOST_TASKS = 16 };

typedef enum dyn_task_turn { DYN_TURN_FREE, DYN_TURN_ORIENTATION, DYN_TURN_DIRECTION } dyn_task_turn;

typedef struct dyn_frame_task {
    const dyn_frame *frame;      /* NULL: the centre of mass, whose position the task sets */
    bool             positioned; /* true: the task sets the position */
    dyn_task_turn    turn;
    double           axis[3]; /* unit vector in the frame's axes, for DYN_TURN_DIRECTION */
    double           weight;  /* greater than 0 */
    double           reach;   /* m: length of the chain of joints to the point (dyn_point_reach), scale of rounding
                                 errors of rows */
    size_t priority;
} dyn_frame_task;

/* The kinematics of a state, and scratch. */
typedef struct dyn_task_block {
    const dyn_mechanism  *robot; /* the kinematics are those of its tree */
    const dyn_kernels    *kernels;
    void                 *workspace;
    size_t                n;
    const dyn_frame_task *task;                        /* [n] in the order of priorities */
    double               *q, *position, *rotation, *J; /* in lanes: nq and nv of the tree; nq; 3 n; 9 n; 6 n x nv */
    double               *com, *com_J;                 /* in lanes: centre of mass, 3; its Jacobian, 3 x nv */
    double                error[DYN_MOST_TASKS]
                [DYN_TASK_ROWS]; /* result: errors without weights; zero in rows that a task does not have */
} dyn_task_block;

/* dyn_task_block_entries returns the doubles per state in lanes; dyn_task_block_lay_out sets the arrays in them. */
size_t dyn_task_block_entries(size_t nq, size_t nv, size_t n);
void   dyn_task_block_lay_out(dyn_task_block *b, double *lanes);

/* Number of rows of a task. Rows of the position come first. */
size_t dyn_task_rows(const dyn_frame_task *task);

/* Evaluates the kinematics at q, the same in all lanes. */
void dyn_task_evaluate(dyn_task_block *b, const double *q);

/* Finds the errors of the evaluated state. goal: DYN_TASK_GOAL numbers for each task, a position in m, then a unit
 * quaternion x y z w or a unit vector, in world axes. */
void dyn_task_errors(dyn_task_block *b, const double *goal);

/* Writes the weighted Jacobian of the evaluated state, one row after the other, to A (rows x nv). */
void dyn_task_jacobian(const dyn_task_block *b, double *A);

/* Sets rows to zero that consist of rounding errors: those of a point on the axis of every joint that could move it, or
 * of directions across the plane of a planar robot. Else they would count as directions that a task determines. */
void dyn_task_drop_noise(const dyn_task_block *b, double *A);

/* Writes the entries of `value` (DYN_TASK_ROWS for each task) that belong to rows, multiplied by the square root of the
 * task's weight and by `sign`, to `to`. */
void dyn_task_gather(const dyn_task_block *b, const double (*value)[DYN_TASK_ROWS], double sign, double *to);

/* Lists the levels of the tasks; their rows are in A and b. Returns the number of levels; *rows is the number of all
 * rows. */
size_t dyn_task_levels(const dyn_task_block *b, const double *A, const double *right, dyn_step_level *level,
                       size_t *rows);
