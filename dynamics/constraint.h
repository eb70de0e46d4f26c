/* constraint.h - declares the kernels that solve for the wrenches on held frames: the rows J of the constraint J qd =
 * 0, a factorization, solutions for right sides, and the wrenches that balance a given motion.
 * dynamics/contact/contact.h has the equations.
 *
 * Arrays and lanes follow the rules of dynamics.h, but the kernels compute one block: `blocks` is 1. With the mass
 * matrix M = L^T D L (recursion/mass_factor.h) and damping delta, X (n x k, n = nv, or nv + k with damping) is
 *
 *     X = [D^-1/2 L^-T J^T; sqrt(delta)],  G = J M^-1 J^T + delta = X^T X,
 *
 * and X = Q U by modified Gram-Schmidt (Golub & Van Loan 2013, 5.2.8): the columns of Q are orthogonal, U (k x k) is
 * unit upper triangular, P has the squared lengths of the columns of Q, and G = U^T P U. A direction that depends on
 * those before it (held_directions.h) has P = 0 and a zero row in U. With the rows N of U that remain,
 *
 *     G^+ = N^+ P^-1 (N^T)^+,  N = T^T B, B B^T = 1 (a complete orthogonal decomposition, Golub & Van Loan 2013, 5.4),
 *
 * so that l = -G^+ c has the least norm. B is the unit matrix in the lanes in which no direction depends on others.
 *
 * A step, which needs derivatives and no wrenches, solves the same equations in algorithms/held_frames.h.
 * ARCHITECTURE.md ("Held frames") compares all solvers. */
#pragma once
#include "dynamics.h"
#include "step.h"

/* Computes the rows of held frames at (q, qd), in the order of the frames and of their axes. */
typedef struct dyn_constraint_rows {
    const double         *q, *qd; /* qd NULL: zeros */
    size_t                n_held;
    const dyn_held_frame *held;        /* [n_held] */
    double                unsettled;   /* factor of V, the velocity term of held_directions.h */
    double               *J;           /* k x nv; rows that count as zero are set to zero */
    double               *drift;       /* k: J' qd */
    double               *sizes;       /* k: A + V of held_directions.h, m/s^2 or rad/s^2 */
    double               *levers;      /* n_held x 3, m, world axes: from origins of rolling frames to contact points */
    double               *mass_matrix; /* nv x nv; NULL: not computed */
} dyn_constraint_rows;

/* Computes the accelerations along the held directions in a given motion, and the efforts x of least norm along them
 * that balance the coordinates without actuator. held/held_wrenches.h has the equations and explains E, R, e and x. */
typedef struct dyn_held_balance {
    size_t        nv, k, n_passive;
    const size_t *passive;     /* [n_passive] coordinates without actuator */
    const double *root;        /* [k] 1 / sqrt(w) with the weight w of each direction, the same in all lanes */
    const double *scale;       /* [n_passive] scales of efforts, N or N m, the same in all lanes */
    const double *J;           /* k x nv */
    const double *qdd;         /* nv; NULL: zeros */
    const double *tau;         /* nv: efforts of the motion without contacts */
    double       *moves;       /* k: on entry J' qd, on return J qdd + J' qd */
    double       *moves_scale; /* k: on entry A + V of held_directions.h, on return plus the sum of |J_av qdd_v| */
    double       *E, *R, *e;   /* n_passive x k; n_passive x n_passive; n_passive */
    double       *remains, *remains_scale; /* n_passive: efforts that no wrench balances; their scales, N or N m */
    double       *x;                       /* k: efforts along the held directions, scaled (held/held_wrenches.h) */
} dyn_held_balance;

/* Factors a constraint. Arrays must not be NULL, unless a comment explains NULL. */
typedef struct dyn_constraint_factor {
    size_t        nv, k;
    bool          dense;   /* true: mass_matrix is not scene->model's: it may have no zeros, and nv may differ */
    double        damping; /* delta */
    const double *J, *mass_matrix;
    const double *driven;   /* nv: nonzero for coordinates whose acceleration is given; NULL: none */
    double       *delassus; /* k x k: G; NULL: not wanted */
    /* The factors, which dyn_constraint_solution reads. */
    double *L, *reciprocal, *root; /* nv x nv; nv: 1 / D; nv: D^-1/2 */
    double *Q;                     /* n x k */
    double *U, *weight;            /* k x k; k: 1 / P, 0 for a dependent direction */
    double *B, *T;                 /* k x k; set only in a block in which some direction depends on others */
    double *sizes;                 /* k: scratch */
    double *rank;                  /* 1: number of directions that do not depend on those before them */
    double *trace;                 /* 1: trace of G */
    double *solved;                /* 1: 0 if M is not positive definite or a number is not finite, else 1 */
    double *singular;              /* 1: first body whose pivot is zero up to rounding, or -1 */
} dyn_constraint_factor;

/* Returns the number of doubles per state of the factors of *f and, unless `lanes` is NULL, sets the pointers of *f to
 * arrays of W lanes from `lanes` on. */
size_t dyn_constraint_lay_out(dyn_constraint_factor *f, size_t W, double *lanes);

/* Solves for the right side c = scale (drift + J x): the efforts along the held directions are l = -G^+ c, and x
 * changes by M^-1 J^T l. */
typedef struct dyn_constraint_solution {
    const dyn_constraint_factor *factor;
    const double                *drift, *x; /* k; nv; NULL: zeros */
    double                       scale;
    const double                *sizes;         /* k: A + V; NULL unless `contradictory` is wanted */
    double                      *along;         /* k: c, values along the held directions; must not be NULL */
    double                      *efforts;       /* k: l; must not be NULL */
    double                      *change;        /* nv: M^-1 J^T l; must not be NULL */
    double                      *contradictory; /* 1: 0, or 1 + the first row that contradicts those before it; NULL */
    double                      *energy;        /* 1: c^T G^+ c; NULL: not wanted */
} dyn_constraint_solution;

/* Computes Lambda = G^-1 and Jbar = M^-1 J^T Lambda, if no direction depends on others. Overwrites B of the factors. */
typedef struct dyn_constraint_inertia {
    const dyn_constraint_factor *factor;
    double                      *inertia; /* k x k: Lambda */
    double                      *inverse; /* nv x k: Jbar; NULL: not wanted */
    double                      *bound;   /* 1: a bound on the condition number of G, infinite if directions depend */
} dyn_constraint_inertia;
