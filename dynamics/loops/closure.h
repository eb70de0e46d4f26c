/* closure.h - solves the closure equations of a mechanism: finds coordinates of the tree for which the loops are closed
 * and, if given, a platform frame has a goal pose. W states are solved at once, one in each lane, without influence on
 * each other.
 *
 * Newton's method: let r be the loop error and J_u = dr/dq_u its Jacobian with respect to the unknown coordinates. A
 * step dq_u is the least-squares solution of J_u dq_u = -r, of least norm where J_u is rank-deficient. The step is
 * halved until |r| decreases. Once the loops are closed, steps continue while they reduce |r| much, down to rounding.
 * Columns of J_u are scaled to length one, so that the rank does not depend on the units of coordinates.
 *
 * J_u is solved component by component (closure_layout.h), all lanes at once by Householder reflections
 * (dynamics/closure_kernels.h). If the reflections cannot show that a component has full rank in a lane, LAPACK
 * decomposes it there. */
#pragma once
#include "closure_layout.h"
#include "dynamics/memory/memory.h"
#include "loops.h"
#include "mechanism.h"

enum { DYN_FRAME_ROWS = 6 };

typedef struct dyn_closure_solver {
    dyn_closure_equations equations;
    const dyn_loops      *loops;
    const dyn_kernels    *tree;
    void                 *workspace;    /* workspace of the tree's kernels */
    size_t                W, nv;        /* lanes; velocity coordinates of the tree */
    size_t                live;         /* lanes that are computed; the others repeat lane live - 1 */
    size_t                most_columns; /* columns of the widest matrix for dyn_closure_apply and dyn_closure_times */
    dyn_deadline          deadline;     /* checked between steps */
    dyn_closure_layout    layout;
    /* The following arrays are in lanes; each comment begins with their numbers per state. */
    double *goal;      /* 12: goal pose of the platform frame, origin (3) and rotation in the world (9, row-major) */
    double *remaining; /* rows: loop error that is allowed at the present point of a path; zero except along the path
                          of a guess */
    double *q;         /* tree nq: present position of the tree */
    double *pair_position,
        *pair_rotation;        /* n_pairs x 3, n_pairs x 9: pose of frame b of each pair relative to frame a */
    double *pair_jacobian;     /* layout.pair_entries: Jacobians of these poses with respect to the tree's velocities */
    double *J;                 /* layout.entries: the Jacobian of the loop error */
    double *pair_work;         /* layout.pair_entries: scratch */
    double *pair_rate_work;    /* layout.pair_entries: J' of all pairs, for second rates of universal joints */
    double *accepted_q, *step; /* tree nq: the last accepted position; nv: the step from it */
    double *error;             /* rows: the loop error minus `remaining` */
    double *error_norm;        /* 1: Euclidean norm of `error` */
    double *correction;        /* nv: J_u^+ times `error` for all lanes; only some lanes step by it */
    double *gathered, *product; /* scratch: gathered rows of a matrix with at most most_columns columns; their
                                   product with another matrix */
    double *work;               /* scratch of the kernels */
    /* Results of dyn_closure_factor, component after component: pseudoinverses of J_u; lengths of the columns of J_u;
     * and for each component its least pivot and the norm of its pseudoinverse. */
    double *inverse, *scale, *pivot, *norm;
    double *next_inverse, *next_scale;           /* results of dyn_closure_refactorize before wanted lanes are copied
                                                    to `inverse` and `scale` */
    double *reference_inverse, *reference_scale; /* `inverse` and `scale` at reference_q */
    double *reference_q;                         /* tree nq, one state: the position of reference_inverse */
    double *guess_error;                         /* rows: loop error of the guess from which a path starts */
    /* Arrays for one component of one state; matrices are column-major as in LAPACK. */
    double *A, *B, *dense_work, *column_norm;
    int    *pivots;
    double *step_limit;                                    /* [unknowns] greatest change of an unknown in a Newton
                                                              step: rad or m */
    bool evaluated;                                        /* true: poses and J are those of c->q */
    bool has_reference, reference_factored;                /* true: reference_inverse and reference_scale are those at
                                                              reference_q; J_u has full rank there */
    size_t rank[DYN_MAX_LANES], worst_pair[DYN_MAX_LANES]; /* rank of J_u; index of the frame pair with the largest
                                                              loop error */
    bool   finite[DYN_MAX_LANES];                          /* true: all entries of the pseudoinverse are finite */
    double worst_error[DYN_MAX_LANES];                     /* norm of the loop error of the worst pair */
    double reached[DYN_MAX_LANES]; /* fraction of the path that was followed: 1, or where a singular position ended
                                      it */
    bool stopped[DYN_MAX_LANES];   /* the deadline ended the search in the lane */
} dyn_closure_solver;

/* Allocates the arrays from `memory`. The caller sets the fields up to the deadline. Returns false if memory is
 * refused. */
bool dyn_closure_open(dyn_memory memory, dyn_closure_solver *c);

/* True if the deadline has not passed, or is not checked since the mechanism is so small that steps take microseconds.
 */
static inline bool dyn_closure_may_continue(const dyn_closure_solver *c)
{
    enum { ASKS = 32 /* unknowns */ };
    return c->equations.unknowns < ASKS || dyn_may_continue(c->deadline);
}

/* Copies `entries` values per state from lane live - 1 to the unused lanes after it. */
void dyn_closure_pad(const dyn_closure_solver *c, size_t entries, double *lanes);

/* Find the poses of all frame pairs at c->q; dyn_closure_evaluate also finds the Jacobian c->J of the loop error. */
void dyn_closure_evaluate(dyn_closure_solver *c, const dyn_scene *scene);
void dyn_closure_find_poses(const dyn_closure_solver *c, const dyn_scene *scene);
/* Writes the loop error of a lane, less c->remaining, to c->error, and the pair with the largest error to
 * c->worst_pair. Returns the Euclidean norm of the error. */
double dyn_closure_find_error(dyn_closure_solver *c, size_t lane);

/* Runs Newton's method from c->q, which must be close to a solution, in the live lanes that are not `stopped`. Returns
 * false if loops stay open or the deadline has passed. c->stopped marks the lanes in which the deadline ended the
 * search. */
bool dyn_closure_iterate(dyn_closure_solver *c, const dyn_scene *scene);
/* Sets c->error_norm to the norm of the loop error at c->q, without a Newton step. Returns false if loops are open. */
bool dyn_closure_check(dyn_closure_solver *c, const dyn_scene *scene);
bool dyn_closure_is_closed(const dyn_closure_solver *c, size_t lane);

/* The largest norm of the loop error, in rad and parts of the model's length, at which loops count as closed. */
#define DYN_CLOSURE_CLOSED 1e-9

/* A position is singular if the condition number of J_u, with columns of length one, exceeds 1 / DYN_CLOSURE_SINGULAR.
 * Rounding errors of the closed loops do not allow a sharper test. */
#define DYN_CLOSURE_SINGULAR 1e-6

/* Returns the number of doubles of c->dense_work for components of at most m rows and n unknowns. */
size_t dyn_closure_dense_work(size_t m, size_t n);

/* --- closure_solution.c ------------------------------------------------------------------------------------------ */

/* Writes the pseudoinverse of J_u, in all lanes, to the arrays `inverse` and `scale`, laid out as c->inverse and
 * c->scale. The results are undefined in lanes in which dyn_closure_is_factored is false: a component has a pivot below
 * `least`, or more unknowns than rows. */
void dyn_closure_factorize(dyn_closure_solver *c, double *inverse, double *scale);
bool dyn_closure_is_factored(const dyn_closure_solver *c, size_t lane, double least);

/* Sets c->inverse, the pseudoinverse of J_u, and c->rank and c->finite in the live lanes that are `wanted`; other lanes
 * stay unchanged. Singular values of a component below DYN_CLOSURE_SINGULAR times its largest one count as zero. */
void dyn_closure_invert(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES]);

/* Sets c->inverse and c->scale to the pseudoinverse of J_u, like dyn_closure_factorize, in the live lanes that are
 * `wanted`; other lanes stay unchanged. */
void dyn_closure_refactorize(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES]);

/* The relative change M = K J_u - 1 of the Jacobian in each lane (continuation.h), with K = c->inverse of an earlier
 * position: `first` is its Frobenius norm |M|; `fourth` is |M^4|^(1/4), which is not greater, and is found only on
 * request. */
typedef struct dyn_closure_changes {
    double first[DYN_MAX_LANES], fourth[DYN_MAX_LANES];
} dyn_closure_changes;
void dyn_closure_find_change(dyn_closure_solver *c, bool fourth, dyn_closure_changes *to);

/* dyn_closure_apply computes x_u = K b, with K = c->inverse, b rows x columns and x_u the rows of x (nv x columns) that
 * belong to unknowns; add > 0: x_u += K b, add < 0: x_u -= K b. dyn_closure_apply_transposed computes to = K^T x_u
 * (rows) for one column x; add > 0: to += K^T x_u. */
void dyn_closure_apply(const dyn_closure_solver *c, size_t columns, const double *b, int add, double *x);
void dyn_closure_apply_transposed(const dyn_closure_solver *c, const double *x, int add, double *to);

/* dyn_closure_times computes to = J x for a Jacobian J of the loop error, or a rate of it, in the layout c->layout; x
 * is nv x columns. add > 0: to += J x, add < 0: to -= J x. dyn_closure_times_transposed adds J^T x to `to` (nv) for one
 * column x, or subtracts it if add < 0. dyn_closure_pair_motions writes the linear and angular velocities of frame b
 * relative to frame a (6 per frame pair) at tree velocities qd. */
void dyn_closure_times(const dyn_closure_solver *c, const double *J, size_t columns, const double *x, int add,
                       double *to);
void dyn_closure_times_transposed(const dyn_closure_solver *c, const double *J, const double *x, int add, double *to);
void dyn_closure_pair_motions(const dyn_closure_solver *c, const double *qd, double *to);

/* --- rates ------------------------------------------------------------------------------------------------------- */

/* dyn_closure_rate finds dJ/dt, the rate of the Jacobian of the loop error, at tree velocities qd.
 * dyn_closure_second_rate finds d2J/dt2 at velocities qd and accelerations qdd. The two functions write `rows`,
 * layout.entries in lanes. */
void dyn_closure_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, double *rows);
void dyn_closure_second_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, const double *qdd,
                             double *rows);
