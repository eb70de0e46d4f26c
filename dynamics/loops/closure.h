/* closure.h - solves the closure equations of a mechanism: finds coordinates of the tree for which the loops are closed
 * and, if given, a platform frame has a goal pose. W states side by side, in lanes that do not influence each other.
 *
 * Newton's method: let r be the loop error and J_u = dr/dq_u its Jacobian by the unknown coordinates. A step dq_u is
 * the least-squares solution of J_u dq_u = -r, of least norm where J_u is rank-deficient. It is halved until |r|
 * decreases. Once the loops are closed, steps continue while they reduce |r| much, down to rounding. Columns of J_u are
 * scaled to length one, so that the rank does not depend on the units of coordinates. */
#pragma once
#include "dynamics/memory/memory.h"
#include "loops.h"
#include "mechanism.h"

enum { DYN_FRAME_ROWS = 6 };

/* A column of J_u (loop error per rad or m) shorter than this is rounding error, for example that of a joint whose axis
 * passes through the point where the loop closes. */
#define DYN_CLOSURE_NEGLIGIBLE 1e-9

typedef struct dyn_closure_solver {
    dyn_mechanism         mechanism;
    const dyn_loops      *loops;
    const dyn_kernels    *tree;
    void                 *workspace; /* workspace of the tree's kernels */
    size_t                W, nv;     /* lanes; velocities of the tree */
    size_t                live;      /* lanes that are computed; the others repeat lane live - 1 */
    size_t                n_pairs, rows, unknowns;
    const dyn_frame_pair *pair;       /* [n_pairs] frames of each loop; then, for a platform, world and its frame */
    const int            *unknown;    /* [unknowns] indices of tree velocities */
    dyn_deadline          deadline;   /* checked between steps */
    size_t                frame_rows; /* rows of the platform frame: 0, 3 (origin) or 6 (pose) */
    /* The following arrays are in lanes; each comment begins with their numbers per state. */
    double *goal;      /* 12: goal pose of the platform frame, origin (3) and rotation in the world (9, row-major) */
    double *remaining; /* rows: loop error that is left open; zero except along the path of a guess */
    double *q;         /* tree nq: the present position */
    double *pair_position,
        *pair_rotation;        /* n_pairs x 3, n_pairs x 9: pose of frame b of each pair relative to frame a */
    double *pair_jacobian;     /* 6 n_pairs x nv: the Jacobian of these poses */
    double *J;                 /* rows x nv: the Jacobian of the loop error */
    double *pair_work;         /* 6 n_pairs x nv: scratch */
    double *pair_rate_work;    /* 6 n_pairs x nv: work for second rates of universal joints */
    double *accepted_q, *step; /* tree nq: the last accepted position; nv: the step from it */
    double *error_norm;        /* 1: Euclidean norm of the loop error */
    /* Arrays for one state; matrices are column-major as in LAPACK. */
    double *A, *B, *work, *column_norm, *step_limit;
    int    *pivot;
    size_t  rank[DYN_MAX_LANES], worst_pair[DYN_MAX_LANES]; /* rank of J_u; the pair with the largest loop error */
    double  worst_error[DYN_MAX_LANES];                     /* norm of the loop error of the worst pair */
    /* Values at the last accepted point of a continuation. The arrays of one lane follow those of the previous lane,
     * unless a comment says otherwise. */
    double *inverse;                /* unknowns x rows: pseudoinverse of J_u, column-major */
    double *scale;                  /* unknowns: lengths of the columns of J_u */
    double *normal;                 /* 2 unknowns x unknowns: scratch for one lane */
    double *guess_error;            /* rows, in lanes: loop error of the guess from which a path starts */
    double  reached[DYN_MAX_LANES]; /* fraction of the path that was followed: 1, or the place of a singular position */
    bool    stopped[DYN_MAX_LANES]; /* the deadline ended the search in the lane */
} dyn_closure_solver;

/* Takes the arrays from `memory`. The caller sets the fields up to frame_rows. Returns false if memory is refused. */
bool dyn_closure_open(dyn_memory memory, dyn_closure_solver *c);

/* True if the work may go on. The loops of small mechanisms take microseconds, and do not ask. */
static inline bool dyn_closure_may_continue(const dyn_closure_solver *c)
{
    enum { ASKS = 32 /* unknowns */ };
    return c->unknowns < ASKS || dyn_may_continue(c->deadline);
}

/* Copies each of `entries` values from lane live - 1 to the lanes after it. */
void dyn_closure_pad(const dyn_closure_solver *c, size_t entries, double *lanes);

/* Finds the poses of all pairs and the Jacobian J at c->q. */
void dyn_closure_evaluate(dyn_closure_solver *c, const dyn_scene *scene);
/* Writes the loop error of a lane, less c->remaining, to `error` (rows) and notes the worst pair. Returns its Euclidean
 * norm. */
double dyn_closure_error(dyn_closure_solver *c, size_t lane, double *error);

/* Runs Newton's method from c->q, which must be close to a solution, in the live lanes that are not `stopped`. Returns
 * false if loops stay open or the deadline has passed, and then sets c->stopped of the lanes that were not at the end.
 */
bool dyn_closure_iterate(dyn_closure_solver *c, const dyn_scene *scene);
/* Evaluates the loops at c->q and finds their error, without a step. Returns false if loops are open. */
bool dyn_closure_check(dyn_closure_solver *c, const dyn_scene *scene);
bool dyn_closure_is_closed(const dyn_closure_solver *c, size_t lane);

/* A position is singular if the condition number of J_u, with columns of length one, exceeds 1 / DYN_CLOSURE_SINGULAR.
 * Rounding errors of the closed loops do not allow a sharper test. */
#define DYN_CLOSURE_SINGULAR 1e-6

/* Writes J_u, the Jacobian of the loop error by the unknowns, of one lane to c->A (rows x unknowns, column-major) with
 * columns of length one, and their lengths to c->column_norm. Columns shorter than DYN_CLOSURE_NEGLIGIBLE become zero.
 * Returns false if an entry is not finite. */
bool dyn_closure_scale(dyn_closure_solver *c, size_t lane);

/* Solves J_u x = b of one lane by least squares, with J_u the Jacobian of the loop error by the unknowns. b has
 * `columns` columns in c->B, dyn_closure_stride apart, and is replaced by x. Sets the rank: singular values below
 * `singular` times the largest count as zero. Returns false if an entry is not finite, and for a large system after the
 * deadline. */
bool   dyn_closure_solve(dyn_closure_solver *c, size_t lane, size_t columns, double singular);
size_t dyn_closure_stride(const dyn_closure_solver *c);

/* Finds the pseudoinverse (unknowns x rows, entries `stride` apart) of J_u, the Jacobian of the loop error by the
 * unknowns, in one lane. Sets the rank. Returns false if an entry is not finite. */
bool dyn_closure_invert(dyn_closure_solver *c, size_t lane, double singular, size_t stride, double *inverse);

/* dyn_closure_rate finds dJ/dt, the rate of the Jacobian of the loop error, at tree velocities qd.
 * dyn_closure_second_rate finds d2J/dt2 at velocities qd and accelerations qdd. Both write `rows`: rows x nv, in lanes.
 */
void dyn_closure_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, double *rows);
void dyn_closure_second_rate(const dyn_closure_solver *c, const dyn_scene *scene, const double *qd, const double *qdd,
                             double *rows);
