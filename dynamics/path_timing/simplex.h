/* simplex.h - maximises linear functions of two unknowns over a polytope with more unknowns: one polytope, no lanes.
 *
 *     max d_0 y_0 + d_1 y_1,  G y <= h,  y in R^n
 *
 * The dictionary (Chvátal 1983, chapter 2) expresses the slacks h - G y, and y_0 and y_1, by n of the slacks. The
 * vertex found for one direction d is the start for the next. G must contain rows that bound every unknown, so that
 * there is a vertex. Rows should have entries of about 1.
 *
 * The active-set method of dynamics/held/least_norm.h does not serve here: its objective is the norm of all unknowns,
 * which a linear function of two of them leaves undetermined. Debian has no small library of linear programs without
 * memory of its own: GLPK and lp_solve allocate, and end the process when memory is short. */
#pragma once
#include "dynamics/memory/memory.h"

typedef enum dyn_simplex_status {
    DYN_SIMPLEX_DONE,
    DYN_SIMPLEX_INFEASIBLE, /* no y satisfies the rows; the rows with a multiplier contradict each other */
    DYN_SIMPLEX_UNDECIDED,  /* the limit of pivots is reached */
    DYN_SIMPLEX_LATE,       /* the deadline has passed */
} dyn_simplex_status;

typedef struct dyn_simplex {
    size_t  bounds;          /* index of the first row that bounds a single unknown; all later rows do, too */
    size_t  n, m;            /* n unknowns, at least 2, and m rows */
    double *table;           /* m x (n + 2): coefficients of the nonbasic variables, last of the artificial one, then
                                the value. On entry the caller writes row i of G, 0 and h_i */
    size_t      *basic;      /* [m] variable of each row: i < m is the slack of row i, m + j is y_j, m + n artificial */
    size_t      *zero;       /* [n + 1] nonbasic variables, which are zero; the last is the artificial variable */
    double      *cost;       /* [n + 1] gain of the objective per unit of each nonbasic variable */
    size_t       unknown[2]; /* rows whose basic variables are y_0 and y_1 */
    size_t       pivots;     /* number of pivots that may still be taken */
    dyn_deadline deadline;
} dyn_simplex;

/* dyn_simplex_bytes returns the bytes that dyn_simplex_lay_out divides among the arrays. The caller sets n and m.
 * `room` is aligned to 16 bytes. */
size_t dyn_simplex_bytes(size_t n, size_t m);
void   dyn_simplex_lay_out(dyn_simplex *s, void *room);

/* Returns row i of G, then 0 and h_i, for the caller to write before dyn_simplex_begin. */
static inline double *dyn_simplex_row(const dyn_simplex *s, size_t i)
{
    return s->table + i * (s->n + 2);
}

/* Finds a vertex of the polytope. Replaces the rows of G by the dictionary. */
dyn_simplex_status dyn_simplex_begin(dyn_simplex *s);

/* Moves to a vertex with the largest d.(y_0, y_1), which is written to y. */
dyn_simplex_status dyn_simplex_maximise(dyn_simplex *s, const double d[2], double y[2]);

/* Returns the multiplier of row `row`, 0 or more: the growth of the largest value per unit of h of the row; after
 * DYN_SIMPLEX_INFEASIBLE, the weight of the row in the contradiction. */
double dyn_simplex_multiplier(const dyn_simplex *s, size_t row);
