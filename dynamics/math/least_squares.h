/* least_squares.h - solves large systems of linear equations by least squares, and checks a deadline between steps.
 *
 * LAPACK's functions cannot be interrupted: with hundreds of rows they take tenths of a second. */
#pragma once
#include "dynamics/memory/memory.h"

/* The problems min |A x - b| for several right sides b. Matrices are column-major. */
typedef struct dyn_least_squares {
    size_t       rows, unknowns; /* unknowns <= rows */
    double      *A;              /* rows x unknowns; overwritten by its factors */
    double      *B;              /* right sides b of length `rows` as columns; the solutions x replace them */
    size_t       stride;         /* distance of the columns of B */
    double      *work;           /* [3 unknowns] */
    int         *pivot;          /* [unknowns] scratch: order of the columns of A */
    dyn_deadline deadline;
} dyn_least_squares;

typedef enum dyn_least_squares_status {
    DYN_SQUARES_SOLVED,
    DYN_SQUARES_DEFICIENT, /* a diagonal entry of R is at most `singular` times the first one; B is unchanged */
    DYN_SQUARES_STOPPED    /* the deadline has passed */
} dyn_least_squares_status;

/* Solves for the first `columns` columns of B by QR decomposition with column pivoting (Golub & Van Loan 2013, sec.
 * 5.4.2). */
dyn_least_squares_status dyn_least_squares_solve(const dyn_least_squares *s, size_t columns, double singular);
