/* loop_workspace.h - private to closed*.c: a block of states whose loops are closed, in lanes. Matrices are row-major.
 */
#pragma once
#include "loop_kernels.h"
#include "closure.h"
#include "continuation.h"
#include "lane_matrix.h"

enum { API_LOOP_SQUARE_MATRICES = 3, API_LOOP_WIDE_MATRICES = 8, API_LOOP_VECTORS = 8 };

struct api_loop_workspace {
    api_closure        closure; /* that finds the passive coordinates */
    const api_model   *model;
    const api_loops   *loops;
    const dyn_kernels *tree;
    void              *workspace;          /* the tree's */
    size_t             W, nv, nvt, np, nr; /* lanes; coordinates of the model, of the tree, passive ones; rows */
    double            *q, *y, *R, *motion, *J, *raw;     /* the closure's */
    double            *from, *to;                        /* tree nq: ends of the line in actuated coordinates */
    double            *curve;                            /* nq, of one state: a point of a curve */
    api_approach       approach;                         /* of the block that is being closed */
    double            *K, *G;                            /* np x nr, nvt x nv */
    double            *Jd, *Gd, *Jdd;                    /* at the rates asked for last */
    double            *qd, *qdd, *qddd;                  /* nvt: these rates */
    double            *tau, *tau_dot;                    /* nvt */
    double            *lambda, *lambda_dot;              /* nr */
    double            *rows[2], *passive;                /* nr; np: for whoever needs one */
    double            *seen;                             /* 6 n */
    double            *square[API_LOOP_SQUARE_MATRICES]; /* nvt x nvt, */
    double            *wide[API_LOOP_WIDE_MATRICES];     /* nvt x nv, */
    double            *across;                           /* nr x nv, */
    double            *vector[API_LOOP_VECTORS];         /* nvt */
    double            *Jk;                               /* nr x nvt */
    double            *frame[2];                         /* 6 x (nvt + n): for whoever needs one */
    double            *extra;
    dyn_wrench_site   *sites; /* the request's, and two a loop */
    double            *wrenches, *wrench_rates;
    double            *dense;    /* of one state: nv x nv, and nv behind it */
    double            *solution; /* nv */
    api_loop_status    status[DYN_MAX_LANES];
    /* Of a platform, whose closure has more rows. */
    bool        reaching;      /* the status is its */
    bool        reach_guessed; /* from a guess, not from the reference */
    api_closure reach;
    double     *places;    /* 12: the frame's position and rotation where its line begins; 12: where it ends; 3: the
                              rotation vector from one to the other */
    double *reach_rows[2]; /* lanes: rows, rows x nvt */
    double *wanted;        /* rows, of one state */
};

/* --- loop_path.c ----------------------------------------------------------------------------------------------- */

/* The path to actuated coordinates q; c->q becomes its beginning. */
api_continuation_path api_loop_path(api_loop_workspace *c, const dyn_scene *scene, const double *q,
                                    const api_approach *from);
/* The model's reference in all lanes of the tree's coordinates. */
void api_loop_set_reference(const api_loop_workspace *c, double *tree);

/* --- loop_rates.c ---------------------------------------------------------------------------------------------- */

/* x_p -= K b, x of nvt x columns, b of nr x columns */
void api_loop_subtract_passive(const api_loop_workspace *c, size_t columns, const double *b, double *x);

/* Rates of the tree that go with those of the model, any of which may be NULL: qd; these, Jd, Gd, and qdd; these, Jdd
 * and qddd. */
void api_loop_find_velocities(api_loop_workspace *c, const double *qd);
void api_loop_find_accelerations(api_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd);
void api_loop_find_jerks(api_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *qdd,
                         const double *qddd);
/* to = G^T x, of nvt x columns */
void api_loop_project(const api_loop_workspace *c, size_t columns, const double *x, double *to);

/* lambda from tau; lambda_dot from `left` = tau' - J'^T lambda (nvt) and J' (NULL: 0). */
void api_loop_find_forces(api_loop_workspace *c);
void api_loop_find_force_rates(api_loop_workspace *c, const double *left, const double *Jd);

/* --- loop_workspace.c
 * ---------------------------------------------------------------------------------------------------- */

/* True while the client is connected and the deadline has not passed. Otherwise long computations stop early, and the
 * caller reports the problem (evaluate/loop_evaluation.c). */
bool api_loop_may_continue(const api_loop_workspace *c);

/* --- loop_wrenches.c ------------------------------------------------------------------------------------------- */

/* 6 a loop, as the answer has them, from its rows. */
void api_loop_wrenches(const api_loop_workspace *c, const double *lambda, double *wrenches);
/* The scene with what the loops push and pull, whose values are c->wrenches behind those of the request. */
dyn_scene api_loop_add_wrenches(api_loop_workspace *c, const dyn_scene *scene, const double *wrenches);
/* Their rates into c->wrench_rates when lambda changes by lambda_dot and the tree moves with qd (NULL: it does not);
 * `rates` are of the `given` wrenches of the request, NULL: zero. */
void api_loop_add_wrench_rates(api_loop_workspace *c, size_t given, const double *rates, const double *qd);

/* --- loop_kernels.c -------------------------------------------------------------------------------------------- */

/* The lower triangle of one lane of M becomes its Cholesky factor in c->dense. False: singular, at `where` a body. */
bool api_loop_factor_mass(api_loop_workspace *c, const double *M, size_t lane, double *where);
/* The half below the diagonal of n x n becomes that above it. */
void api_loop_mirror(size_t W, size_t n, double *M);

/* That factor's inverse into one lane of `inverse`. */
void api_loop_put_inverse(api_loop_workspace *c, size_t lane, double *inverse);
/* tau of the tree along the rates found last. */
void api_loop_tree_torques(api_loop_workspace *c, const dyn_scene *scene, const double *wrenches);

void api_loop_mass_matrix(const dyn_scene *scene, void *ws, const dyn_mass_matrix *io, size_t blocks);
void api_loop_bias(const dyn_scene *scene, void *ws, const dyn_bias *io, size_t blocks);
void api_loop_kinematics(const dyn_scene *scene, void *ws, const dyn_kinematics *io, size_t blocks);
void api_loop_energy(const dyn_scene *scene, void *ws, const dyn_energy *io, size_t blocks);
void api_loop_torque_derivative(const dyn_scene *scene, void *ws, const dyn_torque_derivative *io, size_t blocks);
void api_loop_regressor(const dyn_scene *scene, void *ws, const dyn_regressor *io, size_t blocks);
void api_loop_inverse_dynamics(const dyn_scene *scene, void *ws, const dyn_inverse_dynamics *io, size_t blocks);
void api_loop_forward_dynamics(const dyn_scene *scene, void *ws, const dyn_forward_dynamics *io, size_t blocks);
/* Derivatives of joint wrenches, when wide[1..3] are dqd/dq, dqdd/dq, dqdd/dqd, and wide[5..7] what tau changes by with
 * q, qd, qdd, but for lambda. */
void api_loop_joint_wrenches(api_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io);

void api_loop_sensitivity(const dyn_scene *scene, void *ws, const dyn_sensitivity *io, size_t blocks);
void api_loop_forward_sensitivity(const dyn_scene *scene, void *ws, const dyn_forward_sensitivity *io, size_t blocks);
void api_loop_coriolis(const dyn_scene *scene, void *ws, const dyn_coriolis *io, size_t blocks);
