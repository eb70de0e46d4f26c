/* pose_solver.h - finds coordinates of a tree at which a frame has a given position, direction or pose.
 *
 * Levenberg-Marquardt steps with a damping that shrinks with the error (Sugihara 2011) converge quadratically to
 * regular poses and stay short near singular ones. With the error e of the frame (position in units of `length`,
 * rotation vector) and its Jacobian J,
 *
 *     dq = -J^T (J J^T + lambda 1)^-1 e,   lambda = mu |e|^2 / 2.
 *
 * A step is accepted if |e| shrinks; otherwise mu grows. Coordinates stay within their bounds: those at a bound that
 * the step would leave are fixed for the step. A search that stops at a minimum of |e| starts again at another
 * position, which depends on the number of the start alone, so a state has the same result in every batch.
 *
 * The motor of an elastic joint is placed where the spring is unwound, theta = q - rest, and moves with the joint. */
#pragma once
#include "dynamics/loops/mechanism.h"
#include "dynamics/memory/memory.h"

typedef enum dyn_goal_kind { DYN_GOAL_POSITION, DYN_GOAL_DIRECTION, DYN_GOAL_POSE } dyn_goal_kind;

enum { DYN_GOAL_ROWS = 6 };

/* The inputs that all states share. Arrays belong to the caller. */
typedef struct dyn_pose_problem {
    dyn_mechanism    robot; /* the robot, which has no loops */
    const dyn_frame *frame;
    dyn_goal_kind    kind;
    double           axis[3];       /* of the kind DIRECTION: unit vector in the frame's axes */
    double           length;        /* m, of the order of the robot's reach */
    const double    *lower, *upper; /* [nq] bounds; infinite where there are none */
    double           tolerance;     /* m and rad */
    size_t           most_starts;   /* number of starting positions, at least 1 */
    dyn_deadline     deadline;      /* checked after every iteration; all zero: the search runs to its end */
    double           damping;       /* damping of dyn_pose_rates, in the unit of the Jacobian's singular values; 0:
                                       none */
} dyn_pose_problem;

/* Goals and starting positions of a block of states, in lanes. */
typedef struct dyn_pose_goals {
    const double *position;    /* 3, m, world axes */
    const double *orientation; /* 4, unit quaternion x y z w: kind POSE */
    const double *direction;   /* 3, unit vector in world axes: kind DIRECTION */
    const double *start;       /* nq, the first starting position */
} dyn_pose_goals;

/* The results of a block, in lanes. NULL: not requested. */
typedef struct dyn_pose_found {
    double *q;                /* nq; must not be NULL. Of a state without solution, the position with the least error */
    double *distance, *angle; /* 1: the error of the frame's position in m, of its direction or orientation in rad */
    double *iterations, *starts;
    double *in_the_way; /* nq: of a state without solution, 1 or -1 for a coordinate at its upper or lower bound beyond
                           which the error would shrink; else 0 */
    unsigned *stopped;  /* bit i: the deadline ended the search of state i; must not be NULL */
} dyn_pose_found;

/* Most iterations of the search from one starting position. */
enum { DYN_POSE_MOST_ITERATIONS = 80 };

/* Doubles of the workspace for blocks of W states. */
size_t dyn_pose_entries(size_t nq, size_t nv, size_t W);

/* Solves for the first `live` states of a block; the other lanes repeat the last of them. `room` has dyn_pose_entries
 * doubles and is aligned as lanes are; `workspace` is that of the kernels. Sets bit i of the result if state i is
 * solved. If the deadline ends the search, sets bit i of *stopped for each state whose search had not ended; the
 * results of the other states are those of a search without a deadline. */
unsigned dyn_pose_solve(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                        const dyn_pose_goals *goals, size_t live, const dyn_pose_found *found);

/* Finds qd of least norm with J qd = velocity and, unless `acceleration` is NULL, qdd with J qdd + J' qd =
 * acceleration, at the positions q (nq in lanes). Velocity and acceleration have 3 rows for the kind POSITION, 6 for
 * POSE, [linear; angular] in world axes; NULL means zero. Sets bit i of the result if the rates of state i exist; with
 * damping they always do. */
unsigned dyn_pose_rates(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                        const double *q, const double *velocity, const double *acceleration, size_t live, double *qd,
                        double *qdd);
