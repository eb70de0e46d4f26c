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
 * Order of calls: build the mechanism (loops_build.h) and find its reference (dynamics/loop_reference/reference.h);
 * open a workspace; for each block of states call dyn_loop_close, then any kernels with `blocks` 1 at that position.
 * Threads share the mechanism and have a workspace each. The model of every scene is the tree, or the tree with
 * payloads.
 *
 * These kernels take a dyn_loop_workspace in place of the workspace of dynamics.h. It stores one block of states. The
 * kernels use the stored position and ignore their q. nq and nv in the sizes of dynamics.h are those of the mechanism,
 * its actuated coordinates; n_rows and n_movers are those of the tree. `singular` must not be NULL where a kernel has
 * it. Lanes do not influence each other, so a state gives the same bits in any batch. */
#pragma once
#include "dynamics/memory/memory.h"
#include "loops.h"
#include "mechanism.h"
#include "dynamics/frame_sensitivity.h"
#include "dynamics/friction_map.h"

typedef enum dyn_loop_status {
    DYN_LOOPS_CLOSED,
    DYN_LOOPS_OPEN,                 /* the search for passive coordinates that close the loops did not converge */
    DYN_LOOPS_PATH_SINGULAR,        /* a singular position lies on the path to the state */
    DYN_LOOPS_PASSIVE_UNDETERMINED, /* the actuated coordinates do not determine the passive ones */
    DYN_LOOPS_ACTUATED_DEPENDENT,   /* the loops do not let the actuated coordinates move independently */
    DYN_LOOPS_STOPPED,              /* the deadline ended the search */
} dyn_loop_status;

/* The path along which a state was reached. */
typedef enum dyn_loop_route {
    DYN_ROUTE_FROM_REFERENCE, /* the straight line in actuated coordinates from the reference */
    DYN_ROUTE_OF_GUESS,       /* the path on which the loop error of a guess shrinks to zero */
    DYN_ROUTE_OF_CURVE,       /* a curve of the caller from a state with closed loops */
    DYN_ROUTE_FROM_STATE,     /* the straight line from a state with closed loops */
    DYN_ROUTE_OF_PLATFORM,    /* the straight line of the platform frame from its reference pose */
} dyn_loop_route;

typedef struct dyn_loop_workspace dyn_loop_workspace;

/* Returns the kernels of models with loops, which call the kernels of the tree. The result keeps no pointer to `tree`,
 * but its workspace does. Members are NULL for operations that models with loops do not have, such as sensitivity_rate
 * and closure, and for workspace_size, from_rows, to_rows and bounded; use from_rows, to_rows and bounded of the tree's
 * table. */
dyn_kernels dyn_loop_kernels(const dyn_kernels *tree);

/* Takes a workspace from `memory` for scenes of at most `n_wrenches` external wrenches; it lasts as long as this
 * memory. `deadline` is checked between steps of Newton's method. Copies *mechanism, whose tree and loops must outlive
 * the workspace. Returns NULL if memory is refused.
 *
 * `extra` is the number of doubles per state for results of the tree's kernels before multiplication by G: the largest
 * need of the kernels that are called, or 0. A kernel needs the sum of these numbers for its outputs that are not NULL,
 * with nvt velocities of the tree:
 *
 *     regressor              10 n_rows nvt; joint_regressor 3 n_movers nvt; regressor_dot 10 n_rows nvt
 *     sensitivity            dtau_dgravity 3 nvt, dtau_dwrench 6 n_wrenches nvt; djoint_wrenches 4 * 6 n_rows nvt
 *     forward_sensitivity    dqdd_dwrench 6 n_wrenches nvt
 *     coriolis               christoffel nvt^3
 *     dyn_loop_step          wrench_matrix as dqdd_dwrench, parameter_matrix as the regressor
 *     dyn_loop_frame_sensitivity   dyn_loop_frame_entries(nvt) */
dyn_loop_workspace *dyn_loop_workspace_open(dyn_memory memory, const dyn_mechanism *mechanism, const dyn_kernels *tree,
                                            dyn_deadline deadline, size_t n_wrenches, size_t extra);

/* The path along which a block of states is reached; arrays are in lanes. With all fields zero the path is the straight
 * line in actuated coordinates from the model's reference. */
typedef struct dyn_approach {
    const double *guess; /* [n_passive_q] first guess of the passive coordinates: the path shrinks its loop error to
                            zero; NULL: none */
    const double *q, *passive; /* [nq], [n_passive_q] state with closed loops where a straight line starts; NULL: the
                                  reference */
    /* Writes the actuated coordinates of one lane at the fraction s < 1 of a curve from the state (q, passive) to the
     * new state. `length` bounds the length of each lane's curve (continuation.h). NULL: a straight line. */
    void (*curve)(const void *arg, size_t lane, double s, double *q);
    const void *arg;
    double      length[DYN_MAX_LANES];
    size_t most_evaluations; /* most evaluations of the loops along the path (dyn_continuation_path); 0: any number */
} dyn_approach;

/* Closes the loops of a block of states with actuated coordinates q ([nq] in lanes) along the path `from` (NULL: the
 * straight line from the reference). q and `from` are copied. Only the first `live` lanes, 1 to W, are computed; the
 * other lanes must repeat lane live - 1. Returns false if the status of a lane is not DYN_LOOPS_CLOSED: see
 * dyn_loop_status_of and dyn_loop_failure_of for each lane. Results of kernels are valid in closed lanes only. */
bool dyn_loop_close(dyn_loop_workspace *c, const dyn_scene *scene, const double *q, const dyn_approach *from,
                    size_t live);

/* Restores a block that dyn_loop_close has closed, from the coordinates of its tree (tree nq, in lanes): the kernels
 * compute the same bits again. Returns false if a lane's status is not DYN_LOOPS_CLOSED. */
bool dyn_loop_restore(dyn_loop_workspace *c, const dyn_scene *scene, const double *tree_q, size_t live);

/* Follows the straight line from the reference towards q in all lanes, as long as steps of 0.003 (rad, or parts of the
 * model's length) succeed, so that the line ends before a singular position. Replaces q by the actuated coordinates
 * that were reached. Returns false if the status of a lane is not DYN_LOOPS_CLOSED. */
bool dyn_loop_close_towards(dyn_loop_workspace *c, const dyn_scene *scene, double *q);

/* The kernel of friction_map.h for the actuated joints of a model with loops->loaded. T is the effort that the drive of
 * a joint exerts on the mechanism; it includes the friction of passive joints. */
void dyn_loop_friction_map(const dyn_scene *scene, void *ws, const dyn_friction_map *io, size_t blocks);

/* Computes io->friction, the friction of all joints at the velocities io->qd and the efforts tau (nv in lanes). */
void dyn_loop_friction(const dyn_scene *scene, void *ws, const dyn_bias *io, const double *tau);

/* The kernel of frame_sensitivity.h. Among the doubles `extra` of dyn_loop_workspace_open, it needs
 * dyn_loop_frame_entries(nv of the tree) per state. */
void dyn_loop_frame_sensitivity(const dyn_scene *scene, void *ws, const dyn_frame_sensitivity *io, size_t blocks);
static inline size_t dyn_loop_frame_entries(size_t nv)
{
    return 6 * nv * (4 + nv);
}

/* Pose and motion of the platform frame in world axes, in lanes: position in m, orientation as a unit quaternion x y z
 * w, velocity and acceleration as 6-vectors [linear; angular]. `orientation` NULL: the orientation is free. `velocity`
 * or `acceleration` NULL: zero. */
typedef struct dyn_platform_motion {
    const double *position, *orientation, *velocity, *acceleration;
} dyn_platform_motion;
/* The solution of the platform's inverse kinematics, in lanes: q, qd and qdd of the model, and the passive coordinates.
 * NULL: not wanted. */
typedef struct dyn_platform_solution {
    double *q, *qd, *qdd, *passive;
} dyn_platform_solution;

/* Solves the inverse kinematics of a block: finds the coordinates for which the platform frame has the pose and
 * motion `to`. The search follows a path (continuation.h): without `guess`, the straight line from the frame's pose
 * at the model's reference to `to`; with a guess of the passive coordinates, a path along which the loop error of
 * the guess shrinks to zero. Afterwards call dyn_loop_close with the found state. Returns false if a live lane has
 * no solution. */
bool dyn_loop_solve_platform(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_platform_motion *to,
                             const double *guess, const dyn_platform_solution *found, size_t live);
/* Allocates the arrays of dyn_loop_solve_platform from `memory`, for a frame of which the origin alone (rows = 3) or
 * the pose (rows = 6) is prescribed. Returns false if memory is refused. */
bool dyn_loop_platform_open(dyn_memory memory, dyn_loop_workspace *c, const dyn_frame *frame, size_t rows);

dyn_loop_status dyn_loop_status_of(const dyn_loop_workspace *c, size_t lane);
/* The reason why the loops of a lane are not closed, or why the platform's inverse kinematics failed. */
typedef struct dyn_loop_failure {
    dyn_loop_status  status; /* DYN_LOOPS_CLOSED: no failure, and the other members are not valid */
    const dyn_loops *loops;
    bool             platform; /* true: the platform's inverse kinematics failed */
    dyn_loop_route   route;    /* the path that was followed */
    double           error;    /* Euclidean norm of the loop error, in rad and parts of loops->length; infinite or
                                  NaN: overflow */
    size_t worst; /* index of the loop with the largest error, loops->n: the platform. With ACTUATED_DEPENDENT: a
                     loop that the motion of an actuated coordinate violates */
    double worst_error;
    double fraction;        /* fraction of the path, 0 to 1, at which a singular position ends it */
    size_t found, unknowns; /* rank of J_u: coordinates that follow from the known ones; number of coordinates that
                               should */
} dyn_loop_failure;
dyn_loop_failure dyn_loop_failure_of(const dyn_loop_workspace *c, size_t lane);

/* Return coordinates of the tree in lanes: its position with closed loops, and its velocities at the last kernel
 * call. */
const double *dyn_loop_tree_q(const dyn_loop_workspace *c);
const double *dyn_loop_tree_qd(const dyn_loop_workspace *c);
/* Return the kernels of the tree and their workspace, which keeps no data between calls of kernels. */
const dyn_kernels *dyn_loop_tree_kernels(const dyn_loop_workspace *c);
void              *dyn_loop_tree_workspace(const dyn_loop_workspace *c);
/* Returns the norm of the loop error in each lane, in rad and parts of the model's length. */
const double *dyn_loop_error(const dyn_loop_workspace *c);

/* All arrays of these three functions are in lanes of a block with closed loops. dyn_loop_tree_velocities finds and
 * returns the velocities of the tree at qd of the model (NULL: zero). dyn_loop_velocity_matrix returns their derivative
 * dqd_tree/dqd, nvt x nv with nvt velocities of the tree. dyn_loop_velocities_by_q writes dqd_tree/dq, nvt x nv. */
const double *dyn_loop_tree_velocities(dyn_loop_workspace *c, const double *qd);
const double *dyn_loop_velocity_matrix(const dyn_loop_workspace *c);
void          dyn_loop_velocities_by_q(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, double *by_q);

/* Finds the motion of the tree and the loops' wrenches for the motion q, qd, qdd (and qddd if `rates`) of the model.
 * Sets the inputs of `tree`; qddd and wrench_rates only if `rates`. Returns a scene whose external wrenches are those
 * of `scene` and of the loops. */
dyn_scene dyn_loop_tree_motion(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_torque_derivative *motion,
                               bool rates, dyn_torque_derivative *tree);
/* Describes results of the tree's inverse dynamics that depend on the wrenches of the loops, and their derivatives with
 * respect to q, qd and qdd of the model. All arrays are in lanes, one block. */
typedef struct dyn_loop_results {
    size_t rows; /* number of results of one state */
    /* Writes the derivatives of the results with respect to q, qd and qdd of the tree, rows x tree nv each. */
    void (*differentiate)(void *arg, const dyn_scene *scene, const dyn_torque_derivative *motion, double *const D[3]);
    /* Evaluates the results at zero velocity and acceleration under the external wrenches of `rest`, in the scene
     * `scene`. */
    void (*find)(void *arg, const dyn_scene *scene, const dyn_torque_derivative *rest, double *results);
    void   *arg;
    double *room[4]; /* scratch in lanes: three arrays of rows x tree nv, then one of rows */
    double *to[3];   /* rows x nv each: derivatives of the results with respect to q, qd and qdd; NULL: not wanted */
} dyn_loop_results;

/* Computes io->dtau_dq, io->dtau_dqd and io->dtau_dqdd, and the derivatives of `results`. */
void dyn_loop_results_sensitivity(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io,
                                  const dyn_loop_results *results);
/* Returns G of qd_tree = G qd, nvt x nv in lanes, at the position with closed loops. */
const double *dyn_loop_G(const dyn_loop_workspace *c);
/* Sets six pointers to arrays in lanes: the tree's q, qd and qdd, G (nvt x nv), the loop wrenches ([n][6]) and the norm
 * of the loop error. qd, qdd and wrenches are those of the last call of inverse dynamics. */
void dyn_loop_tree_state(dyn_loop_workspace *c, const double *parts[6]);
