/* loop_workspace.h - declares the workspace of the loop kernels, private to dynamics/loops: a block of states with
 * closed loops. All arrays are in lanes unless a comment says otherwise; matrices are row-major. Notation as in
 * loop_kernels.h; n is the number of loops. Sizes such as nvt x nv are per state: nv, nvt, np and nr are fields
 * below. */
#pragma once
#include "dynamics/centroidal.h"
#include "dynamics/energy_regressor.h"
#include "loop_kernels.h"
#include "closure.h"
#include "continuation.h"
#include "lane_matrix.h"
#include "dynamics/constraint.h"

enum { DYN_LOOP_SQUARE_MATRICES = 3, DYN_LOOP_WIDE_MATRICES = 8, DYN_LOOP_VECTORS = 8 };

/* Friction of actuated joints that depends on their load (loop_load.c): arrays of nv, matrices of nv x nv entries per
 * state. */
typedef struct dyn_loop_load {
    double *own;               /* friction of each actuated joint without load */
    double *T, *effort;        /* T: efforts without the joints' own friction; tau: efforts with it */
    double *factor, *slope[2]; /* dtau/dT; dtau/dqd at constant T, and at T = 0 */
} dyn_loop_load;

struct dyn_loop_workspace {
    dyn_closure_solver closure; /* finds the passive coordinates */
    dyn_mechanism      mechanism;
    const dyn_loops   *loops;
    const dyn_kernels *tree;
    void              *workspace; /* workspace of the tree's kernels */
    dyn_lanes          lanes;
    size_t       W, nv, nvt, np, nr; /* lanes; velocities of the model, of the tree; passive velocities; rows of J */
    double      *q, *pair_position, *pair_rotation, *J; /* aliases of arrays of `closure` */
    double      *line_start, *line_end;                 /* tree nq: start and end of the line in actuated coordinates */
    double      *curve_q;                               /* model nq, one state: a point of the curve */
    dyn_approach approach;                              /* the path of the present block */
    double      *G;                                     /* nvt x nv: qd_tree = G qd */
    double      *Jd, *Gd, *Jdd;                         /* J', G' and J'' at the rates of the last kernel call; G' is
                                                           found where dyn_loop_find_G_rate is called */
    double          *qd, *qdd, *qddd;                   /* nvt: rates of the tree at the last kernel call */
    double          *tau, *tau_dot;                     /* nvt: efforts of the tree, and their rates */
    double          *lambda, *lambda_dot;               /* nr: constraint forces, and their rates */
    double          *rows[2];                           /* scratch: nr */
    double          *loop_wrenches;                     /* 6 n: wrench on frame b of each loop, in axes of frame a */
    double          *square[DYN_LOOP_SQUARE_MATRICES];  /* nvt x nvt: scratch */
    double          *wide[DYN_LOOP_WIDE_MATRICES];      /* nvt x nv: scratch */
    double          *row_matrix;                        /* nr x nv: scratch */
    double          *known, *change, *unknown; /* scratch of one component: J_a, m x n_a; K J_a, n x n_a; J_p, m x n */
    double          *vector[DYN_LOOP_VECTORS]; /* nvt each: scratch */
    double          *Jk;                       /* scratch, size of J: dJ/dt at chosen velocities */
    double          *jacobian_work[2];         /* 6 x (nvt + n): scratch */
    double          *extra;
    dyn_loop_load    load;
    dyn_wrench_site *sites; /* sites of the caller's external wrenches, then two for each loop */
    double          *wrenches, *wrench_rates;
    double          *dense;    /* one state: Cholesky factor of M (nv x nv), then the diagonal of M (nv) */
    double          *solution; /* nv, one state: right side, then solution, of a system with the factor in `dense` */
    dyn_loop_status  status[DYN_MAX_LANES];
    /* Fields of the platform's inverse kinematics (loop_platform.c). `platform` solves the rows of the loops and of the
     * frame. */
    bool               solving_platform; /* true: `status` is the result of the platform's inverse kinematics */
    bool               platform_guessed; /* true: the path starts at a guess, not at the reference */
    dyn_closure_solver platform;
    /* 27 entries: position and rotation of the frame at the start of its line (12) and at the end (12), and the
     * rotation vector between them (3). */
    double *platform_line;
    double *platform_rows[3]; /* scratch: rows entries; entries of the rows' Jacobian; rows entries */
    double *platform_goal;    /* rows: the right side of a linear system */
};

/* --- loop_path.c ----------------------------------------------------------------------------------------------- */

/* Returns the path to actuated coordinates q ([nq] in lanes) and sets c->q to its start. */
dyn_continuation_path dyn_loop_path(dyn_loop_workspace *c, const dyn_scene *scene, const double *q,
                                    const dyn_approach *from);
/* Writes the model's reference into all lanes of `tree` (tree nq). */
void dyn_loop_set_reference(const dyn_loop_workspace *c, double *tree);

/* --- loop_rates.c ---------------------------------------------------------------------------------------------- */

/* Subtracts K b from the passive rows of x, with K the pseudoinverse of the passive constraint Jacobian. x is nvt x
 * columns, b is nr x columns. */
void dyn_loop_subtract_passive(const dyn_loop_workspace *c, size_t columns, const double *b, double *x);

/* Find the rates of the tree from those of the model (nv in lanes, NULL: zero). dyn_loop_find_velocities sets c->qd;
 * dyn_loop_find_accelerations also c->Jd and c->qdd; dyn_loop_find_jerks also c->Jdd and c->qddd. dyn_loop_find_G_rate
 * then finds c->Gd. */
void dyn_loop_find_velocities(dyn_loop_workspace *c, const double *qd);
void dyn_loop_find_accelerations(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd);
void dyn_loop_find_jerks(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd,
                         const double *qddd);
void dyn_loop_find_G_rate(dyn_loop_workspace *c);
/* Sets to = G^T x, with qd_tree = G qd; x is nvt x columns, `to` is nv x columns. */
void dyn_loop_project(const dyn_loop_workspace *c, size_t columns, const double *x, double *to);

/* dyn_loop_find_forces finds the constraint forces c->lambda from c->tau. dyn_loop_find_force_rates finds c->lambda_dot
 * from `left` = tau' - J'^T lambda (nvt) and J' (nr x nvt; NULL: zero). */
void dyn_loop_find_forces(dyn_loop_workspace *c);
void dyn_loop_find_force_rates(dyn_loop_workspace *c, const double *left, const double *Jd);

/* --- loop_workspace.c ------------------------------------------------------------------------------------------ */

/* Returns true until the deadline has passed. Then long computations stop early, and the caller reports the reason. */
bool dyn_loop_may_continue(const dyn_loop_workspace *c);

/* --- loop_wrenches.c ------------------------------------------------------------------------------------------- */

/* Finds the loops' wrenches ([n][6], on frame b in axes of frame a) from the constraint forces. */
void dyn_loop_wrenches(const dyn_loop_workspace *c, const double *lambda, double *wrenches);
/* Returns the scene with the wrenches of the loops added on both links of each loop. Writes the values of all wrenches
 * to c->wrenches, those of the caller first. */
dyn_scene dyn_loop_add_wrenches(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches);
/* Writes the rates of all wrenches to c->wrench_rates. The rates of the loops' wrenches follow from c->lambda_dot and
 * the tree velocities qd (NULL: zero); `rates` are those of the caller's `given` wrenches (NULL: zero). */
void dyn_loop_add_wrench_rates(dyn_loop_workspace *c, size_t given, const double *rates, const double *qd);

/* --- loop_load.c ----------------------------------------------------------------------------------------------- */

/* Allocates c->load if friction depends on the load. Returns false if memory is refused. */
bool dyn_loop_load_open(dyn_memory memory, dyn_loop_workspace *c);

/* In the functions below, R are efforts (nv) with the friction of all joints, except the part that depends on the load.
 * The functions do nothing if friction does not depend on the load. qd NULL: zero. */

/* Replaces the efforts R, in `efforts`, by tau at qd. */
void dyn_loop_add_load(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, double *efforts);
/* Returns R from tau at qd (NULL: zero); tau itself if friction does not depend on the load. */
const double *dyn_loop_remove_load(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *tau);
/* Replaces io->tau_dot, the time derivative of R, by that of tau. */
void dyn_loop_add_load_rate(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_torque_derivative *io,
                            const double *R);
/* Replaces the derivatives of R by those of tau, at the efforts of the tree c->tau. */
void dyn_loop_load_sensitivity(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io);
/* Multiplies derivatives of R with respect to constants (nv x columns) by dtau/dT, row by row, at the tree's efforts
 * c->tau. */
void dyn_loop_load_rows(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, size_t columns, double *rows);
/* Subtracts dR/dqd at constant tau from a derivative of R with respect to qd. */
void dyn_loop_load_slopes(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *tau,
                          double *dR_dqd);
/* Replaces derivatives with respect to R (nv x nv) by those with respect to tau, after dyn_loop_load_slopes. */
void dyn_loop_load_columns(dyn_loop_workspace *c, const dyn_scene *scene, double *by_R);

/* --- loop_kernels.c -------------------------------------------------------------------------------------------- */

/* Writes the Cholesky factor (lower triangle) of the matrix M in one lane to c->dense. Returns false if M is singular.
 * *where becomes the index of the body whose pivot vanished, or -1. */
bool dyn_loop_factor_mass(dyn_loop_workspace *c, const double *M, size_t lane, double *where);
/* Copies the upper triangle of an n x n matrix to its lower triangle. */
void dyn_loop_mirror(size_t W, size_t n, double *M);

/* Writes the inverse of the matrix factored in c->dense to one lane of `inverse`. */
void dyn_loop_put_inverse(dyn_loop_workspace *c, size_t lane, double *inverse);
/* Sets c->tau to the tree's efforts at the motion that dyn_loop_find_accelerations or dyn_loop_find_jerks found
 * last. */
void dyn_loop_tree_torques(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches);

void dyn_loop_mass_matrix(const dyn_scene *scene, void *ws, const dyn_mass_matrix *io, size_t blocks);
void dyn_loop_bias(const dyn_scene *scene, void *ws, const dyn_bias *io, size_t blocks);
void dyn_loop_kinematics(const dyn_scene *scene, void *ws, const dyn_kinematics *io, size_t blocks);
void dyn_loop_energy(const dyn_scene *scene, void *ws, const dyn_energy *io, size_t blocks);
void dyn_loop_centroidal(const dyn_scene *scene, void *ws, const dyn_centroidal *io, size_t blocks);
void dyn_loop_energy_regressor(const dyn_scene *scene, void *ws, const dyn_energy_regressor *io, size_t blocks);
void dyn_loop_constraint_factor(const dyn_scene *scene, void *ws, const dyn_constraint_factor *io, size_t blocks);
void dyn_loop_constraint_solution(const dyn_scene *scene, void *ws, const dyn_constraint_solution *io, size_t blocks);
void dyn_loop_constraint_inertia(const dyn_scene *scene, void *ws, const dyn_constraint_inertia *io, size_t blocks);
void dyn_loop_torque_derivative(const dyn_scene *scene, void *ws, const dyn_torque_derivative *io, size_t blocks);
void dyn_model_loops_dynamics(const dyn_scene *scene, void *ws, const dyn_reference_dynamics *io, size_t blocks);
void dyn_loop_regressor(const dyn_scene *scene, void *ws, const dyn_regressor *io, size_t blocks);
void dyn_loop_inverse_dynamics(const dyn_scene *scene, void *ws, const dyn_inverse_dynamics *io, size_t blocks);
void dyn_loop_forward_dynamics(const dyn_scene *scene, void *ws, const dyn_forward_dynamics *io, size_t blocks);
/* Find the derivatives of results, or of joint wrenches, with respect to q, qd and qdd of the model. On entry
 * c->wide[1..3] hold dqd/dq, dqdd/dq and dqdd/dqd of the tree; c->wide[5..7] hold the derivatives of tau_tree - J^T
 * lambda (nvt x nv), at constant lambda, with respect to q, qd and qdd of the model. */
void dyn_loop_differentiate_results(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches,
                                    const dyn_loop_results *results);
void dyn_loop_joint_wrenches(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io);

/* dyn_loop_get_column copies column k of X, a row-major matrix of n columns, to `column`; dyn_loop_put_column copies
 * `column` to column k of X. */
void dyn_loop_get_column(const dyn_loop_workspace *c, size_t rows, size_t n, const double *X, size_t k, double *column);
void dyn_loop_put_column(const dyn_loop_workspace *c, size_t rows, size_t n, const double *column, size_t k, double *X);

/* Sets c->wide[1..4], one column per actuated coordinate: dqd/dq, dqdd/dq and dqdd/dqd of the tree, and dJ^T lambda.
 * The motion is that of the last call of dyn_loop_find_accelerations, and lambda is c->lambda. */
void dyn_loop_find_directions(dyn_loop_workspace *c, const dyn_scene *scene);
/* Finds the derivative dG (nvt x nv) of G along G_k, column k of G. The passive rows of dG are -K J_k G, with J_k the
 * derivative of the constraint Jacobian along G_k; its actuated rows are zero. */
void dyn_loop_differentiate_G(dyn_loop_workspace *c, const dyn_scene *scene, const double *G_k, double *dG);

void dyn_loop_sensitivity(const dyn_scene *scene, void *ws, const dyn_sensitivity *io, size_t blocks);
void dyn_loop_forward_sensitivity(const dyn_scene *scene, void *ws, const dyn_forward_sensitivity *io, size_t blocks);
void dyn_loop_coriolis(const dyn_scene *scene, void *ws, const dyn_coriolis *io, size_t blocks);
