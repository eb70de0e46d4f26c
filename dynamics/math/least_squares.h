/* least_squares.h - solves large systems of linear equations by least squares, while a deadline is watched.
 *
 * LAPACK's functions cannot be interrupted: with hundreds of rows they take tenths of a second. */
#pragma once
#include "dynamics/memory/memory.h"

/* min |A x - b| for several columns b. Matrices are column-major. */
typedef struct dyn_least_squares {
    size_t       rows, unknowns; /* unknowns <= rows */
    double      *A;              /* rows x unknowns; overwritten by its factors */
    double      *B;              /* columns b of length `rows`, which x replaces */
    size_t       stride;         /* distance of the columns of B */
    double      *work;           /* [3 unknowns] */
    int         *pivot;          /* [unknowns] work */
    dyn_deadline deadline;
} dyn_least_squares;

typedef enum dyn_least_squares_status {
    DYN_SQUARES_SOLVED,
    DYN_SQUARES_DEFICIENT, /* a diagonal entry of R is at most `singular` times the first; B has not changed */
    DYN_SQUARES_STOPPED    /* the deadline has passed */
} dyn_least_squares_status;

/* Solves for `columns` columns by QR with column pivoting (Golub & Van Loan 2013, sec. 5.4.2). */
dyn_least_squares_status dyn_least_squares_solve(const dyn_least_squares *s, size_t columns, double singular);
