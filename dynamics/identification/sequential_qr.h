/* sequential_qr.h - solves linear least squares A x = b by QR with the rows added block by block.
 *
 * Only the triangular factor R of [A b] = Q R is stored. New rows are added by the factorization of R stacked on the
 * new rows (Golub & Van Loan 2013, 6.5), which is as accurate as one factorization of all rows.
 *
 * R over n columns, the last of which is the right side b, is n x n, column-major, and zero below the diagonal. R is
 * zero as long as no row is added. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Adds m rows to R. `rows` is column-major with columns `ld` apart, and is overwritten. Returns false if an entry is
 * not finite. */
bool dyn_qr_add_rows(double *R, size_t n, double *rows, size_t m, size_t ld);

/* Adds m rows (column-major) that are upper triangular from column `first` on: zero below the diagonal that begins
 * there. The columns before `first` are zero in these rows and are not read. Returns as dyn_qr_add_rows does. */
bool dyn_qr_add_triangle(double *R, size_t n, size_t first, double *rows, size_t m);

/* The solution of a least squares problem of n unknowns, with a factor over n + 1 columns. */
typedef struct dyn_unknowns {
    size_t  n;         /* number of unknowns */
    double *x;         /* [n] the least squares solution */
    double *inverse;   /* n x n, column-major: inverse of R's first n rows and columns; (ATA)^-1 = inverse inverseT */
    double  condition; /* 2-norm condition number of A with columns of unit length; 0: rank deficient */
    bool   *unseen;    /* [n] true: the rows do not determine this unknown, only combinations of it with other
                          marked ones */
} dyn_unknowns;

/* Returns the number of doubles of scratch that dyn_qr_solve needs with n unknowns; LAPACK allocates as many from the
 * heap. */
size_t dyn_qr_solve_scratch(size_t n);

typedef enum dyn_solved { DYN_SOLVED, DYN_DEFICIENT, DYN_UNSOLVED } dyn_solved;

/* Solves the least squares problem with R over u->n + 1 columns. Returns DYN_DEFICIENT if some unknowns are marked as
 * `unseen` (x and inverse are then not set), DYN_UNSOLVED if there is no memory or R is not finite. */
dyn_solved dyn_qr_solve(const double *R, dyn_unknowns *u, double *scratch);

/* dyn_qr_examine and dyn_qr_substitute are the two parts of dyn_qr_solve: the first sets only `condition` and `unseen`.
 * The second sets only `x` and `inverse`, for rows that determine the unknowns; false if R is singular. */
dyn_solved dyn_qr_examine(const double *R, dyn_unknowns *u, double *scratch);
bool       dyn_qr_substitute(const double *R, dyn_unknowns *u);

/* Returns the condition number dyn_unknowns.condition; not finite if there is no memory, or R is not finite. */
double dyn_qr_condition(const double *R, size_t n, double *scratch);

/* The linear dependences among the columns of A, one column for each of n unknowns. */
typedef struct dyn_combinations {
    size_t        n;
    const size_t *order;  /* [n] the unknowns in the order in which they are examined */
    size_t        n_kept; /* result: number of kept columns, which are linearly independent */
    size_t       *kept;   /* [n] result: the kept columns, in the order in which they were examined */
    double       *K;      /* n x n, column-major: A_j = sum over kept i of K_ij A_i, with A_j column j of A; zero
                             for kept j */
    /* Called with `arg` before the work on each column; false ends it. */
    bool (*go_on)(void *arg);
    void *arg;
} dyn_combinations;

/* Returns the number of doubles of scratch that dyn_qr_combine needs with n unknowns. */
size_t dyn_qr_combine_scratch(size_t n);

/* Finds the linear dependences among the first n columns of R (over n + 1 columns), after dyn_qr_examine has returned
 * DYN_DEFICIENT. Columns are examined in `order`; one that is a combination of the columns kept before is not kept. A
 * column that counts as zero is not kept either, and its K is zero. Returns false if go_on returned false. */
bool dyn_qr_combine(const double *R, dyn_combinations *c, double *scratch);
