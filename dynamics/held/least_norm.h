/* least_norm.h - finds the vector of least norm that satisfies linear equations, inequalities and cones: one state, no
 * lanes.
 *
 *     min |x|^2 / 2,  E x = e,  c_i x >= least_i,  |T_j x| <= n_j x
 *
 * The method is the dual active-set method of Goldfarb & Idnani (1983) with the identity matrix. A cone is the
 * intersection of the half spaces (n - T^T u) x >= 0 with |u| = 1, and the half space that x violates most is added to
 * the active set (Kelley 1960). Close to the solution, Newton's method on the conditions of optimality replaces these
 * half spaces by the cones themselves (cone_newton.h). Each limit acts on neighbouring entries of x, a cone on at most
 * six.
 *
 * Debian has no library for such small problems with cones: OSQP, qpOASES, ECOS and SCS are not packaged for C. */
#pragma once
#include "dynamics/memory/memory.h"

enum { DYN_LIMIT_ENTRIES = 6 /* entries of x in a cone, at most */ };

/* The half space sum_i c[i] x[first + i] >= least, i < n. */
typedef struct dyn_limit_row {
    size_t        first, n;
    const double *c; /* [n] coefficients */
    double        least;
} dyn_limit_row;

/* The cone |T x| <= n x of entries first to first + n - 1. */
typedef struct dyn_limit_cone {
    size_t first, n;
    double normal[DYN_LIMIT_ENTRIES], tangent[2][DYN_LIMIT_ENTRIES];
} dyn_limit_cone;

/* A limit that x satisfies with equality. The gradient of the limit with respect to x is scaled to a unit vector. */
typedef struct dyn_active_limit {
    size_t limit;              /* index of a row, or n_rows + index of a cone */
    double u[2];               /* for a cone: unit vector T x / |T x|, which chooses its half space */
    double length, multiplier; /* length of the unscaled gradient; multiplier of the scaled gradient */
} dyn_active_limit;

typedef enum dyn_least_norm_status {
    DYN_LEAST_NORM_DONE,
    DYN_LEAST_NORM_INFEASIBLE, /* no x satisfies the limits: active[0 .. n_conflicting) contradict each other */
    DYN_LEAST_NORM_UNDECIDED,  /* the pivots have run out, or a number is not finite */
    DYN_LEAST_NORM_LATE,       /* the deadline has passed */
} dyn_least_norm_status;

typedef struct dyn_least_norm {
    size_t                k, n_equations, n_rows, n_cones;
    const dyn_limit_row  *row;      /* [n_rows] the half spaces */
    const dyn_limit_cone *cone;     /* [n_cones] the cones */
    double               *equation; /* n_equations x k: orthonormal rows E; a row without effect is zero */
    double               *right;    /* n_equations: e */
    double               *x;        /* k; the caller sets it to E^T e */
    dyn_deadline          deadline;
    dyn_active_limit     *active; /* [k + 2] limits that x satisfies with equality */
    size_t                n_active, n_conflicting;
    double *normal, *Q, *R; /* (k + 2) x k: gradients of the active limits, scaled to unit length; (k + 2) x k: an
                               orthonormal basis of them; (k + 2)^2: the triangular factor that relates the two */
    double           *direction, *coefficient, *rates; /* k; k + 2; k + 2: scratch of a step */
    double           *kkt, *kkt_right;                 /* (2 k)^2; 2 k: matrix and right side for cone_newton.h */
    double           *saved_x;                         /* k: x before cone_newton.h changes it */
    dyn_active_limit *saved;                           /* k + 2: `active` before cone_newton.h changes it */
    int              *pivot;                           /* 2 k: pivots of the LU factors of `kkt` */
} dyn_least_norm;

/* dyn_least_norm_bytes returns the bytes that dyn_least_norm_lay_out divides among the arrays from `equation` on. The
 * caller sets k, the counts and the limits. `room` is aligned to 16 bytes. */
size_t dyn_least_norm_bytes(size_t k, size_t n_equations);
void   dyn_least_norm_lay_out(dyn_least_norm *s, void *room);

/* Finds the vector x of least norm. A limit counts as satisfied up to 1e-12 of |x| and of the limit itself. */
dyn_least_norm_status dyn_least_norm_solve(dyn_least_norm *s);

/* Returns the largest violation of a limit by x, in the unit of x. *worst, unless NULL, becomes the half space of that
 * limit, which is not in the active set yet. */
double dyn_least_norm_violation(const dyn_least_norm *s, dyn_active_limit *worst);

/* Returns the largest violation that counts as zero. */
double dyn_least_norm_tolerance(const dyn_least_norm *s);

/* Writes the unit gradient (k) of a half space. */
void dyn_least_norm_gradient(const dyn_least_norm *s, const dyn_active_limit *half_space, double *to);
