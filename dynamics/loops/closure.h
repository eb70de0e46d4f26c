/* closure.h - solves the closure equations of a mechanism: finds coordinates of the tree for which the loops are closed
 * and, if given, a platform frame has a goal pose. W states side by side, in lanes that do not influence each other.
 *
 * Newton's method: let r be the loop error and J_u = dr/dq_u its Jacobian with respect to the unknown coordinates. A
 * step dq_u is the least-squares solution of J_u dq_u = -r, of least norm where J_u is rank-deficient. It is halved
 * until |r| decreases. Once the loops are closed, steps continue while they reduce |r| much, down to rounding. Columns
 * of J_u are scaled to length one, so that the rank does not depend on the units of coordinates.
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
    double *remaining; /* rows: loop error that stays open at the present point of a path; zero except along the path of
                          a guess */
    double *q;         /* tree nq: present position of the tree */
    double *pair_position,
        *pair_rotation;        /* n_pairs x 3, n_pairs x 9: pose of frame b of each pair relative to frame a */
    double *pair_jacobian;     /* layout.pair_entries: Jacobians of these poses with respect to the tree's velocities */
    double *J;                 /* layout.entries: the Jacobian of the loop error */
    double *pair_work;         /* layout.pair_entries: scratch */
    double *pair_rate_work;    /* layout.pair_entries: J' of all pairs, for second rates of universal joints */
    double *accepted_q, *step; /* tree nq: the last accepted position; nv: the step from it */
    double *error;             /* rows: the loop error, less `remaining` */
    double *error_norm;        /* 1: Euclidean norm of the loop error */
    double *correction;        /* nv: Newton steps of all lanes; only lanes that need a step take theirs */
    double *gathered, *product; /* scratch: rows of a matrix with most_columns columns, and a product with it */
    double *work;               /* scratch of the kernels */
    /* Results of dyn_closure_factor, component after component: pseudoinverses of J_u, lengths of its columns, and for
     * each component the least pivot and the norm. */
    double *inverse, *scale, *pivot, *norm;
    double *next_inverse, *next_scale;           /* new `inverse` and `scale`, until lanes take them over */
    double *reference_inverse, *reference_scale; /* `inverse` and `scale` at reference_q */
    double *reference_q;                         /* tree nq, one state: the position of reference_inverse */
    double *guess_error;                         /* rows: loop error of the guess from which a path starts */
    /* Arrays for one component of one state; matrices are column-major as in LAPACK. */
    double *A, *B, *dense_work, *column_norm;
    int    *pivots;
    double *step_limit;                                    /* [unknowns] greatest entry of a Newton step: rad, or m */
    bool    evaluated;                                     /* true: poses and J are those of c->q */
    bool    has_reference, reference_factored;             /* true: reference_inverse and reference_scale are those at
                                                              reference_q; J_u has full rank there */
    size_t rank[DYN_MAX_LANES], worst_pair[DYN_MAX_LANES]; /* rank of J_u; the pair with the largest loop error */
    bool   finite[DYN_MAX_LANES];                          /* the pseudoinverse is finite */
    double worst_error[DYN_MAX_LANES];                     /* norm of the loop error of the worst pair */
    double reached[DYN_MAX_LANES]; /* fraction of the path that was followed: 1, or where it met a singular position */
    bool   stopped[DYN_MAX_LANES]; /* the deadline ended the search in the lane */
} dyn_closure_solver;

/* Allocates the arrays from `memory`. The caller sets the fields up to the deadline. Returns false if memory is
 * refused. */
bool dyn_closure_open(dyn_memory memory, dyn_closure_solver *c);

/* True if the work may go on. Loops of small mechanisms take microseconds, so the deadline is not asked for them. */
static inline bool dyn_closure_may_continue(const dyn_closure_solver *c)
{
    enum { ASKS = 32 /* unknowns */ };
    return c->equations.unknowns < ASKS || dyn_may_continue(c->deadline);
}

/* Copies each of `entries` values from lane live - 1 to the lanes after it. */
void dyn_closure_pad(const dyn_closure_solver *c, size_t entries, double *lanes);

/* Find the poses of all pairs at c->q; dyn_closure_evaluate also the Jacobian J. */
void dyn_closure_evaluate(dyn_closure_solver *c, const dyn_scene *scene);
void dyn_closure_find_poses(const dyn_closure_solver *c, const dyn_scene *scene);
/* Finds the loop error of a lane, less c->remaining, and notes the worst pair. Returns its Euclidean norm. */
double dyn_closure_find_error(dyn_closure_solver *c, size_t lane);

/* Runs Newton's method from c->q, which must be close to a solution, in the live lanes that are not `stopped`. Returns
 * false if loops stay open or the deadline has passed, and then sets c->stopped of the lanes that were not at the end.
 */
bool dyn_closure_iterate(dyn_closure_solver *c, const dyn_scene *scene);
/* Evaluates the loops at c->q and finds their error, without a step. Returns false if loops are open. */
bool dyn_closure_check(dyn_closure_solver *c, const dyn_scene *scene);
bool dyn_closure_is_closed(const dyn_closure_solver *c, size_t lane);

/* The largest error norm of closed loops, in units of the model's length and rad. */
#define DYN_CLOSURE_CLOSED 1e-9

/* A position is singular if the condition number of J_u, with columns of length one, exceeds 1 / DYN_CLOSURE_SINGULAR.
 * Rounding errors of the closed loops do not allow a sharper test. */
#define DYN_CLOSURE_SINGULAR 1e-6

/* Returns the number of doubles of c->dense_work for components of at most m rows and n unknowns. */
size_t dyn_closure_dense_work(size_t m, size_t n);

/* --- closure_solution.c ------------------------------------------------------------------------------------------ */

/* Finds the pseudoinverse of J_u in all lanes: `inverse` and `scale` become those of c->inverse and c->scale. The
 * results are undefined in lanes in which dyn_closure_is_factored is false: a component has a pivot below `least`, or
 * more unknowns than rows. */
void dyn_closure_factorize(dyn_closure_solver *c, double *inverse, double *scale);
bool dyn_closure_is_factored(const dyn_closure_solver *c, size_t lane, double least);

/* Finds c->inverse, the pseudoinverse of J_u, in the live lanes that are `wanted`, and sets c->rank and c->finite
 * there. Other lanes keep theirs. Singular values of a component below DYN_CLOSURE_SINGULAR times its largest count as
 * zero. */
void dyn_closure_invert(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES]);

/* Finds the pseudoinverse of J_u like dyn_closure_factorize, for c->inverse and c->scale of the live lanes that are
 * `wanted`. Other lanes keep theirs. */
void dyn_closure_refactorize(dyn_closure_solver *c, const bool wanted[DYN_MAX_LANES]);

/* The relative change M = K J_u - 1 of the Jacobian in each lane (continuation.h), with K = c->inverse of an earlier
 * position: its norm |M|, and |M^4|^(1/4), which is not greater and only found if `fourth`. */
typedef struct dyn_closure_changes {
    double first[DYN_MAX_LANES], fourth[DYN_MAX_LANES];
} dyn_closure_changes;
void dyn_closure_find_change(dyn_closure_solver *c, bool fourth, dyn_closure_changes *to);

/* dyn_closure_apply computes x_u = K b, with K = c->inverse, b rows x columns and x_u the unknown rows of x (nv x
 * columns); add > 0: x_u += K b, add < 0: x_u -= K b. dyn_closure_apply_transposed computes to = K^T x_u (rows) for one
 * column; add > 0: to += K^T x_u. */
void dyn_closure_apply(const dyn_closure_solver *c, size_t columns, const double *b, int add, double *x);
void dyn_closure_apply_transposed(const dyn_closure_solver *c, const double *x, int add, double *to);

/* dyn_closure_times computes to = J x for a Jacobian J of c->layout, or a rate of it; x is nv x columns. add > 0: to +=
 * J x, add < 0: to -= J x. dyn_closure_times_transposed adds J^T x to `to` (nv) for one column x, or subtracts it if
 * add < 0. dyn_closure_pair_motions writes the rates of all poses (6 n_pairs) at tree velocities qd. */
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
