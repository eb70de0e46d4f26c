/* free_coordinates.h - differentiates quantities of states in which the accelerations of free coordinates follow from
 * given efforts.
 *
 * With F the free coordinates and D the driven ones, qdd_F follows from M_FF qdd_F = tau_F - ... . By implicit
 * differentiation of tau_F = constant, with d/dx at constant qdd,
 *
 *     dqdd_F/dx = -M_FF^-1 dtau_F/dx,  and every y(x, qdd) changes by dy/dx + dy/dqdd_F dqdd_F/dx.
 *
 * M is dtau/dqdd. With friction that depends on the load its rows are those of the mass matrix times dtau/dT, with the
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

/* Returns the doubles of `room` of dyn_free_lay_out. */
size_t dyn_free_room(size_t nv);

/* Lists the free coordinates, and places the other arrays in `room`. b.load is NULL. */
dyn_free_block dyn_free_lay_out(size_t nv, size_t W, const bool *driven, const double *M, double *room);

/* Factors M_FF of a lane. Where it is not positive definite, results are not finite. */
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
