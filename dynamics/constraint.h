/* constraint.h - declares the kernels that solve for the wrenches on held frames: the rows of their constraint, a
 * factorization of it, solutions for right sides, and the wrenches that a given motion needs.
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
 * so that l = -G^+ c has the least norm. B is 1 in the lanes in which no direction depends on others.
 *
 * A step, which needs derivatives and no wrenches, solves the same equations in algorithms/held_frames.h.
 * ARCHITECTURE.md
 * ("Held frames") compares all solvers. */
#pragma once
#include "dynamics.h"
#include "step.h"

/* Finds the rows of held frames at (q, qd), in the order of the frames and of their axes. */
typedef struct dyn_constraint_rows {
    const double         *q, *qd; /* qd NULL: zeros */
    size_t                n_held;
    const dyn_held_frame *held;      /* [n_held] */
    double                unsettled; /* V of held_directions.h is multiplied by it */
    double               *J;         /* k x nv; rows that count as zero are zeros */
    double               *drift;     /* k: J' qd */
    double               *sizes;     /* k: A + V of held_directions.h */
    double               *levers; /* n_held x 3, m, world axes: contact points of rolling frames from their origins */
    double               *mass_matrix; /* nv x nv; NULL: not computed */
} dyn_constraint_rows;

/* Finds the accelerations along the held directions under a given motion, and the efforts x of least norm along them
 * that balance the coordinates without actuator. held/held_wrenches.h has the equations and explains E, R, e and x. */
typedef struct dyn_held_balance {
    size_t        nv, k, n_passive;
    const size_t *passive;     /* [n_passive] coordinates without actuator */
    const double *root;        /* [k] 1 / sqrt(w) of the directions, the same in all lanes */
    const double *scale;       /* [n_passive] scales of efforts, N or N m, the same in all lanes */
    const double *J;           /* k x nv */
    const double *qdd;         /* nv; NULL: zeros */
    const double *tau;         /* nv: efforts of the motion without contacts */
    double       *moves;       /* k: J' qd on entry, J qdd + J' qd on return */
    double       *moves_scale; /* k: A + V of held_directions.h on entry; on return plus the sum of |J_av qdd_v| */
    double       *E, *R, *e;   /* n_passive x k; n_passive x n_passive; n_passive */
    double       *remains, *remains_scale; /* n_passive: efforts that no wrench balances; their scales */
    double       *x;                       /* k */
} dyn_held_balance;

/* Factors a constraint. The arrays must not be NULL, unless NULL is explained. */
typedef struct dyn_constraint_factor {
    size_t        nv, k;
    bool          dense;   /* M may have no zeros, and is not that of scene->model: nv may be another number */
    double        damping; /* delta */
    const double *J, *mass_matrix;
    const double *driven;   /* nv: not 0 for coordinates whose acceleration is given; NULL: none */
    double       *delassus; /* k x k: G; NULL: not wanted */
    /* The factors, which dyn_constraint_solution reads. */
    double *L, *reciprocal, *root; /* nv x nv; nv: 1 / D; nv: D^-1/2 */
    double *Q;                     /* n x k */
    double *U, *weight;            /* k x k; k: 1 / P, 0 for a dependent direction */
    double *B, *T;                 /* k x k, only in a block in which some direction depends on others */
    double *sizes;                 /* k: scratch */
    double *rank;                  /* 1: number of directions that do not depend on those before them */
    double *trace;                 /* 1: trace of G */
    double *solved;                /* 1: 0 if M is not positive definite or a number is not finite, else 1 */
    double *singular;              /* 1: first body whose pivot is zero up to rounding, or -1 */
} dyn_constraint_factor;

/* Returns the entries per state of the factors of dyn_constraint_factor, and sets its pointers from `lanes` on, with W
 * lanes, unless `lanes` is NULL. */
size_t dyn_constraint_lay_out(dyn_constraint_factor *f, size_t W, double *lanes);

/* Solves for the right side c = scale (drift + J x): the efforts are l = -G^+ c, and the change of x is M^-1 J^T l. */
typedef struct dyn_constraint_solution {
    const dyn_constraint_factor *factor;
    const double                *drift, *x; /* k; nv; NULL: zeros */
    double                       scale;
    const double                *sizes;         /* k: A + V; NULL unless `contradictory` is wanted */
    double                      *along;         /* k: c; must not be NULL */
    double                      *efforts;       /* k: l; must not be NULL */
    double                      *change;        /* nv; must not be NULL */
    double                      *contradictory; /* 1: 0, or 1 + the first row that contradicts those before it; NULL */
    double                      *energy;        /* 1: c^T G^+ c; NULL: not wanted */
} dyn_constraint_solution;

/* Finds Lambda = G^-1 and Jbar = M^-1 J^T Lambda where no direction depends on others. Replaces B of the factors. */
typedef struct dyn_constraint_inertia {
    const dyn_constraint_factor *factor;
    double                      *inertia; /* k x k: Lambda */
    double                      *inverse; /* nv x k: Jbar; NULL: not wanted */
    double                      *bound;   /* 1: a bound on the condition number of G, infinite if directions depend */
} dyn_constraint_inertia;
