/* prioritised_step.h - solves prioritised linear least squares within bounds: one state, no lanes.
 *
 * Level k of the tasks minimises |A_k x - b_k|^2 + damping |x|^2 over all x within lower <= x <= upper that keep the
 * A_j x of the levels before it (Siciliano & Slotine 1991; with bounds Escande, Mansard & Wieber 2014). A last level
 * minimises |x|^2, so that x is unique, if `least` asks for it. A_j x of a convex problem is unique too, and becomes an
 * equation for the levels after it.
 *
 * A level whose solution without bounds is within them is done. Otherwise the dual active-set method of least_norm.h
 * finds the active bounds, in the unknowns (x, A_k x - b_k). The level is then solved again with the active bounds as
 * equations. */
#pragma once
#include "dynamics/held/least_norm.h"

typedef struct dyn_step_level {
    size_t        rows;
    const double *A; /* rows x n: A_k */
    const double *b; /* rows */
} dyn_step_level;

typedef struct dyn_prioritised_step {
    size_t                n, n_levels, rows; /* `rows`: of all levels together */
    const dyn_step_level *level;             /* [n_levels] by priority */
    const double         *lower, *upper;     /* [n] lower <= upper; infinite: none */
    double                damping;           /* not negative */
    size_t                undamped;          /* number of first levels without damping */
    bool                  least;             /* true: the last level makes x unique */
    bool                  met_bounds;        /* result: true if a bound was active in some level */
    dyn_deadline          deadline;
    double               *x;    /* [n] result */
    signed char          *side; /* [n] result: 1 at the upper bound, -1 at the lower one, else 0 */
    double               *trial, *kept, *basis, *free; /* n; rows + n; n x n; (rows + 2 n) x n: scratch */
    double               *right, *work;                /* rows + 2 n; LAPACK's: scratch */
    int                  *pivot;                       /* n: scratch */
    void                 *limited;                     /* scratch of least_norm.h */
    dyn_limit_row        *bound;                       /* 2 n: scratch */
} dyn_prioritised_step;

/* dyn_prioritised_step_bytes returns the bytes that dyn_prioritised_step_lay_out divides among the arrays from `x` on.
 * The caller sets n and rows. `room` is aligned to 16 bytes. */
size_t dyn_prioritised_step_bytes(size_t n, size_t rows);
void   dyn_prioritised_step_lay_out(dyn_prioritised_step *s, void *room);

/* Finds x and side. Returns false if the deadline has passed or a number is not finite. */
bool dyn_prioritised_step_solve(dyn_prioritised_step *s);

/* Subtracts from row (n) its parts along r orthonormal rows, twice because of rounding errors. A row that depends on
 * them becomes zero. */
void dyn_step_project(const double *basis, size_t r, size_t n, double *row);

/* Appends row (n) to r < n orthonormal rows. Returns their new number, which is the same if the row depends on them. */
size_t dyn_step_extend_basis(double *basis, size_t r, size_t n, const double *row);
