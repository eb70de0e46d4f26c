/* loop_workspace.h - private to closed*.c: a block of states whose loops are closed, in lanes. Matrices are row-major.
 */
#pragma once
#include "loop_kernels.h"
#include "closure.h"
#include "continuation.h"
#include "lane_matrix.h"

enum { API_CLOSED_SQUARES = 3, API_CLOSED_WIDES = 8, API_CLOSED_VECTORS = 8 };

struct api_closed {
    api_closure        closure; /* that finds the passive coordinates */
    const api_model   *model;
    const api_loops   *loops;
    const dyn_kernels *tree;
    void              *workspace;          /* the tree's */
    size_t             W, nv, nvt, np, nr; /* lanes; coordinates of the model, of the tree, passive ones; rows */
    double            *q, *y, *R, *motion, *J, *raw; /* the closure's */
    double            *from, *to;                    /* tree nq: ends of the line in actuated coordinates */
    double            *curve;                        /* nq, of one state: a point of a curve */
    api_approach       approach;                     /* of the block that is being closed */
    double            *K, *G;                        /* np x nr, nvt x nv */
    double            *Jd, *Gd, *Jdd;                /* at the rates asked for last */
    double            *qd, *qdd, *qddd;              /* nvt: these rates */
    double            *tau, *tau_dot;                /* nvt */
    double            *lambda, *lambda_dot;          /* nr */
    double            *rows[2], *passive;            /* nr; np: for whoever needs one */
    double            *seen;                         /* 6 n */
    double            *square[API_CLOSED_SQUARES];   /* nvt x nvt, */
    double            *wide[API_CLOSED_WIDES];       /* nvt x nv, */
    double            *across;                       /* nr x nv, */
    double            *vector[API_CLOSED_VECTORS];   /* nvt */
    double            *Jk;                           /* nr x nvt */
    double            *frame[2];                     /* 6 x (nvt + n): for whoever needs one */
    double            *extra;
    dyn_wrench_site   *sites; /* the request's, and two a loop */
    double            *wrenches, *wrench_rates;
    double            *dense;    /* of one state: nv x nv, and nv behind it */
    double            *solution; /* nv */
    api_closed_status  status[DYN_MAX_LANES];
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
api_path api_closed_path(api_closed *c, const dyn_scene *scene, const double *q, const api_approach *from);
/* The model's reference in all lanes of the tree's coordinates. */
void api_closed_to_reference(const api_closed *c, double *tree);

/* --- loop_rates.c ---------------------------------------------------------------------------------------------- */

/* x_p -= K b, x of nvt x columns, b of nr x columns */
void api_closed_follow(const api_closed *c, size_t columns, const double *b, double *x);

/* Rates of the tree that go with those of the model, any of which may be NULL: qd; these, Jd, Gd, and qdd; these, Jdd
 * and qddd. */
void api_closed_velocities(api_closed *c, const double *qd);
void api_closed_accelerations(api_closed *c, const dyn_scene *scene, const double *qd, const double *qdd);
void api_closed_jerks(api_closed *c, const dyn_scene *scene, const double *qd, const double *qdd, const double *qddd);
/* to = G^T x, of nvt x columns */
void api_closed_project(const api_closed *c, size_t columns, const double *x, double *to);

/* lambda from tau; lambda_dot from `left` = tau' - J'^T lambda (nvt) and J' (NULL: 0). */
void api_closed_forces(api_closed *c);
void api_closed_force_rates(api_closed *c, const double *left, const double *Jd);

/* --- loop_workspace.c
 * ---------------------------------------------------------------------------------------------------- */

/* True while the client is connected and the deadline has not passed. Otherwise long computations stop early, and the
 * caller reports the problem (evaluate/loop_evaluation.c). */
bool api_closed_awaited(const api_closed *c);

/* --- loop_wrenches.c ------------------------------------------------------------------------------------------- */

/* 6 a loop, as the answer has them, from its rows. */
void api_closed_loop_wrenches(const api_closed *c, const double *lambda, double *wrenches);
/* The scene with what the loops push and pull, whose values are c->wrenches behind those of the request. */
dyn_scene api_closed_pushed(api_closed *c, const dyn_scene *scene, const double *wrenches);
/* Their rates into c->wrench_rates when lambda changes by lambda_dot and the tree moves with qd (NULL: it does not);
 * `rates` are of the `given` wrenches of the request, NULL: zero. */
void api_closed_pushed_rates(api_closed *c, size_t given, const double *rates, const double *qd);

/* --- loop_kernels.c -------------------------------------------------------------------------------------------- */

/* The lower triangle of one lane of M becomes its Cholesky factor in c->dense. False: singular, at `where` a body. */
bool api_closed_factor(api_closed *c, const double *M, size_t lane, double *where);
/* The half below the diagonal of n x n becomes that above it. */
void api_closed_mirror(size_t W, size_t n, double *M);

/* That factor's inverse into one lane of `inverse`. */
void api_closed_put_inverse(api_closed *c, size_t lane, double *inverse);
/* tau of the tree along the rates found last. */
void api_closed_tree_torques(api_closed *c, const dyn_scene *scene, const double *wrenches);

void api_closed_inertia(const dyn_scene *scene, void *ws, const dyn_mass_matrix *io, size_t blocks);
void api_closed_bias(const dyn_scene *scene, void *ws, const dyn_bias *io, size_t blocks);
void api_closed_kinematics(const dyn_scene *scene, void *ws, const dyn_kinematics *io, size_t blocks);
void api_closed_energy(const dyn_scene *scene, void *ws, const dyn_energy *io, size_t blocks);
void api_closed_torque_derivative(const dyn_scene *scene, void *ws, const dyn_torque_derivative *io, size_t blocks);
void api_closed_regressor(const dyn_scene *scene, void *ws, const dyn_regressor *io, size_t blocks);
void api_closed_inverse_dynamics(const dyn_scene *scene, void *ws, const dyn_inverse_dynamics *io, size_t blocks);
void api_closed_forward_dynamics(const dyn_scene *scene, void *ws, const dyn_forward_dynamics *io, size_t blocks);
/* Derivatives of joint wrenches, when wide[1..3] are dqd/dq, dqdd/dq, dqdd/dqd, and wide[5..7] what tau changes by with
 * q, qd, qdd, but for lambda. */
void api_closed_joint_wrenches(api_closed *c, const dyn_scene *scene, const dyn_sensitivity *io);

void api_closed_sensitivity(const dyn_scene *scene, void *ws, const dyn_sensitivity *io, size_t blocks);
void api_closed_forward_sensitivity(const dyn_scene *scene, void *ws, const dyn_forward_sensitivity *io, size_t blocks);
void api_closed_coriolis(const dyn_scene *scene, void *ws, const dyn_coriolis *io, size_t blocks);
