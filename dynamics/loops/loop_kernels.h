/* loop_kernels.h - computes the dynamics of a model with loops in its actuated coordinates, by a table of kernels like
 * those of dynamics.h. The kernels of the spanning tree do the work.
 *
 * The passive coordinates q_p of a state follow from the actuated coordinates q_a. They are found by continuation along
 * a path of q_a from a position with closed loops (continuation.h), so that the mechanism keeps its assembly mode. Let
 * J = [J_a J_p] be the Jacobian of the loop constraints (dynamics/loops/loops.h) and K the pseudoinverse of J_p. A
 * prime is a time derivative:
 *
 *     J qd = 0:                       qd_tree   = G qd,               G  = [1; -K J_a]
 *     J qdd + J' qd = 0:              qdd_tree  = G qdd + gamma,      gamma_p = -K J' qd_tree
 *     J qddd + 2 J' qdd + J'' qd = 0: qddd_tree = G qddd + ...,       G' = [0; -K J' G]
 *
 * (Khalil 2010, 4; Featherstone 2008, ch. 8). Rows of J may depend on each other, as they do in every planar mechanism.
 * Columns of J_p must be independent. The kernels compute
 *
 *     tau = G^T tau_tree,   M = G^T M_tree G,   qdd from M qdd = tau - G^T tau_tree(qdd = 0)
 *
 * The constraint forces lambda are the solution of J_p^T lambda = tau_tree (passive rows) of least norm.
 *
 * These kernels take an api_loop_workspace in place of the workspace of dynamics.h. It stores one block of states. Call
 * api_loop_close first, then any kernels with `blocks` 1; the kernels use the stored position and ignore their q. Lanes
 * do not influence each other, so a state gives the same bits in any batch. */
#pragma once
#include "api/base/memory/pool.h"
#include "loops.h"
#include "api/robots/model/model.h"
#include "api/base/work/deadline.h"
#include "dynamics/frame_sensitivity.h"
#include "dynamics/friction_map.h"

typedef enum api_loop_status {
    API_LOOPS_CLOSED,
    API_LOOPS_OPEN,                 /* the search for passive coordinates that close the loops did not converge */
    API_LOOPS_PATH_SINGULAR,        /* the path to the state meets a singular position */
    API_LOOPS_PASSIVE_UNDETERMINED, /* the actuated coordinates do not determine the passive ones */
    API_LOOPS_ACTUATED_DEPENDENT,   /* the loops do not let the actuated coordinates move independently */
} api_loop_status;

typedef struct api_loop_workspace api_loop_workspace;

/* Returns the kernels of models with loops on top of the kernels of the tree. The result keeps no pointer to `tree`;
 * its workspace does. */
dyn_kernels api_loop_kernels(const dyn_kernels *tree);

/* Takes a workspace from `pool` for scenes of at most `n_wrenches` external wrenches. `extra` is the number of doubles
 * per state for results of the tree's kernels that are larger than a few matrices of nv x nv (regressors, derivatives
 * of joint wrenches). `deadline` (may be NULL) is checked between steps of Newton's method. Returns NULL with the
 * pool's problem. */
api_loop_workspace *api_loop_workspace_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                            const api_deadline *deadline, size_t n_wrenches, size_t extra);

/* The path along which a block of states is reached; arrays are in lanes. With all fields zero it is the straight line
 * in actuated coordinates from the model's reference. */
typedef struct api_approach {
    const double *guess; /* [n_passive_q] first guess of the passive coordinates: the path shrinks its loop error to
                            zero; NULL: none */
    const double *q, *passive; /* [nq], [n_passive_q] a state with closed loops at which a straight line starts; NULL:
                                  the reference */
    /* Writes the actuated coordinates of one lane at the fraction s < 1 of a curve from the state (q, passive) to the
     * new state. `length` bounds the length of each lane's curve (continuation.h). NULL: a straight line. */
    void (*curve)(const void *arg, size_t lane, double s, double *q);
    const void *arg;
    double      length[DYN_MAX_LANES];
} api_approach;

/* Closes the loops of a block of states with actuated coordinates q ([nq] in lanes) along the path `from` (NULL: from
 * the reference). Only the first `live` lanes are computed; the other lanes must repeat lane live - 1. Returns false if
 * a lane's status is not API_LOOPS_CLOSED. */
bool api_loop_close(api_loop_workspace *c, const dyn_scene *scene, const double *q, const api_approach *from,
                    size_t live);

/* Restores a block that api_loop_close has closed, from the coordinates of its tree (tree nq, in lanes): the kernels
 * compute the same bits again. Returns false if a lane's status is not API_LOOPS_CLOSED. */
bool api_loop_restore(api_loop_workspace *c, const dyn_scene *scene, const double *tree_q, size_t live);

/* Follows the straight line from the reference towards q in all lanes, as far as steps of 0.003 (rad, or the model's
 * length) succeed, which stops clear of singular positions. Replaces q by the actuated coordinates that were reached.
 * Returns false if a lane's status is not API_LOOPS_CLOSED. */
bool api_loop_close_towards(api_loop_workspace *c, const dyn_scene *scene, double *q);

/* The kernel of friction_map.h, for the actuated joints of a model with loops->loaded. T is the effort that the drive
 * of a joint exerts on the mechanism, passive joints' friction included. */
void api_loop_friction_map(const dyn_scene *scene, void *ws, const dyn_friction_map *io, size_t blocks);

/* Computes io->friction at io->qd, of all joints, under the efforts tau (nv in lanes). */
void api_loop_friction(const dyn_scene *scene, void *ws, const dyn_bias *io, const double *tau);

/* The kernel of frame_sensitivity.h. It needs api_loop_frame_entries(tree's nv) entries per state of the `extra` of
 * api_loop_workspace_open. */
void api_loop_frame_sensitivity(const dyn_scene *scene, void *ws, const dyn_frame_sensitivity *io, size_t blocks);
static inline size_t api_loop_frame_entries(size_t nv)
{
    return 6 * nv * (4 + nv);
}

/* Pose and motion of the platform frame in world axes, in lanes of a block: m, unit quaternion x y z w, 6-vectors
 * [linear; angular]. `orientation` NULL: the orientation is free. `velocity` or `acceleration` NULL: zero. */
typedef struct api_platform_motion {
    const double *position, *orientation, *velocity, *acceleration;
} api_platform_motion;
/* Coordinates that give the platform frame its motion, in lanes: q, qd and qdd of the model, and the passive
 * coordinates. NULL: not wanted. */
typedef struct api_platform_solution {
    double *q, *qd, *qdd, *passive;
} api_platform_solution;

/* Solves the inverse kinematics of a block: finds the coordinates for which the platform frame has the pose and motion
 * `to`. The path is the straight line from the frame's pose in the model's reference. With a guess of the passive
 * coordinates (NULL: none) the path shrinks the guess's loop error to zero. Call api_loop_close from the found state
 * next. Returns false if a live lane has no solution. */
bool api_loop_solve_platform(api_loop_workspace *c, const dyn_scene *scene, const api_platform_motion *to,
                             const double *guess, const api_platform_solution *found, size_t live);
/* Takes the memory for api_loop_solve_platform from `pool`, for a frame whose origin (rows = 3) or pose (rows = 6) is
 * given. Returns false with the pool's problem. */
bool api_loop_platform_open(api_pool *pool, api_loop_workspace *c, const dyn_frame *frame, size_t rows);

api_loop_status api_loop_status_of(const api_loop_workspace *c, size_t lane);
/* Reports the status of a lane as a problem at `pointer`, for the state `row` of a batch (-1: no batch). Returns true,
 * without a problem, if the loops are closed. */
bool api_loop_fail(const api_loop_workspace *c, size_t lane, const char *pointer, long long row, api_problem *problem);

/* Return the coordinates of the tree in lanes: the position with closed loops, and the velocities of the last kernel
 * call. */
const double *api_loop_tree_q(const api_loop_workspace *c);
const double *api_loop_tree_qd(const api_loop_workspace *c);
/* Returns the kernels of the tree. */
const dyn_kernels *api_loop_tree_kernels(const api_loop_workspace *c);

/* Finds and returns the velocities of the tree at qd of the model (NULL: zero), and their matrix dqd_tree/dqd, [tree
 * nv] x nv. api_loop_velocities_by_q writes dqd_tree/dq, a matrix of the same size. In lanes, of a block with closed
 * loops. */
const double *api_loop_tree_velocities(api_loop_workspace *c, const double *qd);
const double *api_loop_velocity_matrix(const api_loop_workspace *c);
void          api_loop_velocities_by_q(api_loop_workspace *c, const dyn_scene *scene, const double *qd, double *by_q);

/* Finds the motion of the tree at the motion q to qddd of the model, and the loops' wrenches. Sets the inputs of
 * `tree`; qddd and wrench_rates only with `rates`. Returns the scene whose external wrenches are those of `scene` and
 * of the loops. */
dyn_scene api_loop_tree_motion(api_loop_workspace *c, const dyn_scene *scene, const dyn_torque_derivative *motion,
                               bool rates, dyn_torque_derivative *tree);
/* Results of the tree's inverse dynamics, on which the wrenches of the loops act, and their derivatives by q, qd and
 * qdd of the model. All arrays are lanes of one block. */
typedef struct api_loop_results {
    size_t rows; /* numbers of a state */
    /* Writes the derivatives of the results by q, qd and qdd of the tree, rows x tree nv each. */
    void (*differentiate)(void *arg, const dyn_scene *scene, const dyn_torque_derivative *motion, double *const D[3]);
    /* Writes the results of the tree at rest under wrenches. */
    void (*find)(void *arg, const dyn_scene *scene, const dyn_torque_derivative *rest, double *results);
    void   *arg;
    double *room[4]; /* scratch: three times rows x tree nv, then rows */
    double *to[3];   /* rows x nv; NULL: not wanted */
} api_loop_results;

/* Computes the derivatives of tau, io->dtau_dq to io->dtau_dqdd, and those of the results. */
void api_loop_results_sensitivity(api_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io,
                                  const api_loop_results *results);
/* Returns G, [tree nv] x nv in lanes, at the position with closed loops. */
const double *api_loop_G(const api_loop_workspace *c);
/* Sets six pointers to lanes: the tree's q, qd and qdd, G ([tree nv] x nv), the loop wrenches ([n][6]) and the norm of
 * the loop error. Velocities, accelerations and wrenches are those of the last call of inverse dynamics. */
void api_loop_tree_state(api_loop_workspace *c, const double *parts[6]);
