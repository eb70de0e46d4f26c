/* free_coordinates.h - differentiates quantities of states in which the accelerations of free coordinates follow from
 * given efforts.
 *
 * Let F be the free coordinates and D the driven ones. qdd_F is the solution of tau_F(x, qdd) = given, where x is q, qd
 * or another input. By implicit differentiation, with d/dx at constant qdd,
 *
 *     dqdd_F/dx = -M_FF^-1 dtau_F/dx,  and every y(x, qdd) changes by dy/dx + dy/dqdd_F dqdd_F/dx.
 *
 * M is dtau/dqdd. If friction depends on the load, row i of M is that of the mass matrix times dtau_i/dT_i, with the
 * effort T without friction. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The free coordinates of one block of states. */
typedef struct dyn_free_block {
    size_t        nv, W, n; /* n: number of free coordinates */
    const size_t *free;     /* [n] the free coordinates */
    const double *M;        /* nv x nv in lanes: dtau/dqdd */
    const double *load; /* nv in lanes: dtau/dT, the factors of the rows of M that make it unsymmetric; NULL: all 1 */
    double *factor;     /* n x n: Cholesky factor of one lane, M_FF = L L^T, after each row is divided by its dtau/dT */
    double *scale;      /* n: dtau/dT of the free coordinates in one lane */
    double *x;          /* n: right side of dyn_free_solve, then the solution */
} dyn_free_block;

/* Returns the number of doubles that dyn_free_lay_out needs in `room`. */
size_t dyn_free_room(size_t nv);

/* Lists the free coordinates, and places the scratch arrays of the result in the memory `room`. `load` of the result is
 * NULL. */
dyn_free_block dyn_free_lay_out(size_t nv, size_t W, const bool *driven, const double *M, double *room);

/* Factors M_FF of a lane. If it is not positive definite, the results of the other functions are not finite. */
void dyn_free_factor(const dyn_free_block *b, size_t lane);

/* Solves M_FF x = b->x in place. */
void dyn_free_solve(const dyn_free_block *b);

/* Replaces dtau (nv x columns in lanes), a derivative at constant qdd, in one lane by the derivative at constant tau_F,
 * whose rows of free coordinates are zero. Writes dqdd (nv x columns), whose rows of driven coordinates are zero,
 * unless dqdd is NULL. */
void dyn_free_differentiate(const dyn_free_block *b, size_t lane, size_t columns, double *dtau, double *dqdd);

/* Adds dy/dqdd_F dqdd_F to dy (rows x nv in lanes) in one lane; dy_dqdd is rows x nv. */
void dyn_free_add(const dyn_free_block *b, size_t lane, size_t rows, const double *dy_dqdd, const double *dqdd,
                  double *dy);

/* Sets the columns of free coordinates to zero in one lane of a matrix of nv columns, since their qdd is no input. */
void dyn_free_clear_columns(const dyn_free_block *b, size_t lane, size_t rows, double *matrix);
