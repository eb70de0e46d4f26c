/* sequential_qr.h - linear least squares by orthogonal factors, rows coming block by block: of [A b] = Q R only the
 * triangle R is kept, to which further rows are added by another factorization of R over the new rows (Golub &
 * Van Loan 2013, 6.5; LAPACK's triangular-pentagonal QR). As good as one factorization of all rows.
 *
 * A triangle over n columns, the right side being the last, is n x n by columns, zero below the diagonal; all zeros
 * before the first row. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Doubles of scratch that api_triangle_add wants for n columns; it takes as many from the heap besides. */
size_t api_triangle_scratch(size_t n);

/* Adds m rows that stand by columns, ld apart, and are lost. False: no memory, or an entry is not finite. */
bool api_triangle_add(double *R, size_t n, double *rows, size_t m, size_t ld, double *scratch);

/* The same with m rows, m apart, that are a triangle themselves, of the columns from `first` on: zero below the
 * diagonal that begins there, and before it, where they are not looked at. */
bool api_triangle_join(double *R, size_t n, size_t first, double *rows, size_t m, double *scratch);

/* What the rows tell of their n - 1 unknowns. */
typedef struct api_unknowns {
    size_t  n;         /* unknowns */
    double *x;         /* [n] with the least squares */
    double *inverse;   /* n x n by columns: of R without its last row and column, so that (ATA)^-1 = inverse inverseT */
    double  condition; /* of A with its columns scaled to unit length, 2-norm */
    bool   *unseen;    /* [n] the rows do not tell it, nor combinations with others that are marked */
} api_unknowns;

/* Doubles of scratch for api_triangle_solve with n unknowns; it takes as many from the heap besides. */
size_t api_triangle_solve_scratch(size_t n);

typedef enum api_solved { API_SOLVED, API_DEFICIENT, API_UNSOLVED } api_solved;

/* API_DEFICIENT: some are `unseen`, x and inverse are not set. API_UNSOLVED: no memory, or R is not finite. */
api_solved api_triangle_solve(const double *R, api_unknowns *u, double *scratch);
