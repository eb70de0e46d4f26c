/* loop_kernels.h - a model with loops as its actuated coordinates see it: a table of kernels like those of dynamics.h,
 * over the kernels of the tree.
 *
 * The passive coordinates q_p of a state follow from the actuated ones, q_a: from a position in which the loops are
 * closed on, along a path of q_a (continuation.h), in the same assembly. With J = [J_a J_p] the Jacobian of the loops'
 * rows (loops.h), K the pseudoinverse of J_p, and ' for rates
 *
 *     J qd = 0:                       qd_tree   = G qd,               G  = [1; -K J_a]
 *     J qdd + J' qd = 0:              qdd_tree  = G qdd + gamma,      gamma_p = -K J' qd_tree
 *     J qddd + 2 J' qdd + J'' qd = 0: qddd_tree = G qddd + ...,       G' = [0; -K J' G]
 *
 * (Khalil 2010, 4; Featherstone 2008, ch. 8). Rows may depend on each other, as those of every planar mechanism do;
 * columns of J_p may not. The kernels then are
 *
 *     tau = G^T tau_tree,   M = G^T M_tree G,   qdd from M qdd = tau - G^T tau_tree(qdd = 0) ...
 *
 * What joins loops pushes with lambda, J_p^T lambda = tau_tree of the passive joints, of least norm.
 *
 * Such a table has a workspace of its own kind, which holds one block of states at a time: api_loop_close first, then
 * kernels with q, whose value they do not look at again, and one block. Every state is solved by itself: the same bits
 * in any company. */
#pragma once
#include "api/memory/pool.h"
#include "api/model/loops.h"
#include "api/model/model.h"
#include "api/work/deadline.h"

typedef enum api_loop_status {
    API_LOOPS_CLOSED,
    API_LOOPS_OPEN,                 /* no passive coordinates close them */
    API_LOOPS_PATH_SINGULAR,        /* the path to the state meets a singular position */
    API_LOOPS_PASSIVE_UNDETERMINED, /* passive coordinates are not determined by the actuated ones */
    API_LOOPS_ACTUATED_DEPENDENT,   /* actuated coordinates cannot move independently */
} api_loop_status;

typedef struct api_loop_workspace api_loop_workspace;

/* The table over another of the tree. */
dyn_kernels api_loop_kernels(const dyn_kernels *tree);

/* A workspace, for scenes of so many wrenches; `extra`: entries a state that results of the tree take, more than
 * matrices of its coordinates. `deadline` (may be NULL) is looked at between steps of Newton's method. NULL with the
 * pool's problem.
 */
api_loop_workspace *api_loop_workspace_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                            const api_deadline *deadline, size_t n_wrenches, size_t extra);

/* Where the path to a state begins, and how it runs; in lanes of a block. Without any of these it is the straight line
 * in actuated coordinates from the model's reference. */
typedef struct api_approach {
    const double *guess;       /* passive coordinates: the loop error that they leave shrinks to zero */
    const double *q, *passive; /* a state whose loops are closed: a straight line from there */
    /* Its actuated coordinates along a curve from that state to the new one, of one lane at a fraction s < 1, and
     * bounds of the curves' lengths (continuation.h). NULL: a straight line. */
    void (*curve)(const void *arg, size_t lane, double s, double *q);
    const void *arg;
    double      length[DYN_MAX_LANES];
} api_approach;

/* Closes a block of states, q in lanes, along the path of `from` (NULL: from the reference). Only `live` lanes are
 * looked at, all others must repeat the last of them. False when one is not API_LOOPS_CLOSED. */
bool api_loop_close(api_loop_workspace *c, const dyn_scene *scene, const double *q, const api_approach *from,
                    size_t live);

/* As far towards q (all lanes) along the straight line from the reference as steps of 0.003 rad, or parts of the
 * model's length, can be made, which keeps clear of singular positions; q becomes where the loops are closed. False as
 * above. */
bool api_loop_close_towards(api_loop_workspace *c, const dyn_scene *scene, double *q);

/* Where a frame is to be and how it moves (world axes), in lanes of a block; NULL: orientation no matter, rates zero.
 */
typedef struct api_platform_motion {
    const double *position, *orientation, *velocity, *acceleration;
} api_platform_motion;
/* What it takes, in lanes; NULL: not asked for. */
typedef struct api_platform_solution {
    double *q, *qd, *qdd, *passive;
} api_platform_solution;

/* Coordinates of a block from those of a frame, the request's platform, along the straight line from the pose that it
 * has in the model's reference; with a guess (NULL: none) of the passive coordinates along the loop error's way to
 * zero. api_loop_close comes then, from the state that was found. False when a state has none. */
bool api_loop_solve_platform(api_loop_workspace *c, const dyn_scene *scene, const api_platform_motion *to,
                             const double *guess, const api_platform_solution *found, size_t live);
/* Memory for that, of a frame whose origin (rows = 3) or pose (6) is given. False with the pool's problem. */
bool api_loop_platform_open(api_pool *pool, api_loop_workspace *c, const dyn_frame *frame, size_t rows);

api_loop_status api_loop_status_of(const api_loop_workspace *c, size_t lane);
/* What is wrong with a state, which stands at `row` of a batch; -1: of none. */
bool api_loop_fail(const api_loop_workspace *c, size_t lane, const char *pointer, long long row, api_problem *problem);

/* Lanes of the tree's coordinates. */
const double *api_loop_tree_q(const api_loop_workspace *c);
const double *api_loop_tree_qd(const api_loop_workspace *c); /* when a kernel was asked last */
/* Lanes of the tree's q, qd and qdd, of G, of the loops' wrenches and of what is open, of the rates and forces that
 * inverse dynamics was asked for last. */
void api_loop_tree_state(api_loop_workspace *c, const double *parts[6]);
