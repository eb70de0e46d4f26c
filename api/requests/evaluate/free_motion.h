/* free_motion.h - finds the accelerations of free coordinates, whose efforts are given, and differentiates inverse
 * dynamics with them. Shared by inverse-dynamics, forward-dynamics, torque-derivative and sensitivity.
 *
 * With F the free coordinates and D the driven ones, qdd_F follows from M_FF qdd_F = tau_F - ... . By implicit
 * differentiation of tau_F = constant, with d/dx at constant qdd,
 *
 *     dqdd_F/dx = -M_FF^-1 dtau_F/dx,  and every y(x, qdd) changes by dy/dx + dy/dqdd_F dqdd_F/dx.
 *
 * M is dtau/dqdd. With friction that depends on the load its rows are those of the mass matrix times dtau/dT, with the
 * effort T without friction. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* Reads "free" into selected->options: [nv] true for driven coordinates; NULL without "free". `output` is qdd, which
 * exists only with free coordinates. False with a problem. */
bool api_free_read(api_query *q, api_selection *selected, const api_node *given, const api_place *up, size_t output);

/* Checks that tau is used: by free coordinates, or by another operation of the request. False with a problem. */
bool api_free_check_tau(const api_plan *plan, const api_selection *selected);

/* Finds qdd (nv in lanes) of all coordinates. driven NULL: all coordinates are free. `singular` is work, one entry a
 * state. False with a problem. */
bool api_free_accelerations(const api_evaluation *e, const bool *driven, double *singular, double *qdd, size_t block,
                            size_t blocks);

/* Sets tau of free coordinates to the given values, without rounding errors. */
void api_free_restore(const api_evaluation *e, const bool *driven, size_t block, size_t blocks, double *tau);

/* The free coordinates of one block of states. */
typedef struct api_free_block {
    size_t        nv, W, n; /* n: number of free coordinates */
    const size_t *free;     /* [n] */
    const double *M;        /* nv x nv in lanes: dtau/dqdd */
    const double *load; /* nv in lanes: dtau/dT of api_free_find_load, by which rows of M are not symmetric; NULL: 1 */
    double       *factor; /* n x n: M_FF = L L^T of one lane, with rows divided by dtau/dT */
    double       *scale;  /* n: dtau/dT of one lane */
    double       *x;      /* n: scratch */
} api_free_block;

/* Finds qddd (nv in lanes) of all coordinates of a block, so that the efforts of free coordinates have the rates
 * `tau_rates` (nv in lanes; NULL: zero). `io` has the state and the qddd of driven coordinates; qddd may be io->qddd.
 * api_free_jerks_room returns the doubles per state of `room`. */
void   api_free_jerks(const api_evaluation *e, const bool *driven, const dyn_torque_derivative *io,
                      const double *tau_rates, double *qddd, double *room);
size_t api_free_jerks_room(size_t nv);

/* Returns the doubles of `room` of api_free_lay_out. */
size_t api_free_room(size_t nv);

/* Sets dtau/dT (nv in lanes) of a block at q, qd, qdd and wrenches. Returns `to`, or NULL if friction does not depend
 * on the load. */
const double *api_free_find_load(const api_evaluation *e, dyn_inverse_dynamics at, double *to);

/* Lists the free coordinates, and places the other arrays in `room`. b.load is NULL. */
api_free_block api_free_lay_out(size_t nv, size_t W, const bool *driven, const double *M, double *room);

/* Factors M_FF of a lane. Where it is not positive definite, results are not finite. */
void api_free_factor(const api_free_block *b, size_t lane);

/* Solves M_FF x = b->x in place. */
void api_free_solve(const api_free_block *b);

/* Replaces dtau (nv x columns in lanes) in one lane by the derivative with free coordinates, whose rows are zero.
 * Writes dqdd (nv x columns), of which the rows of driven coordinates are zero, unless it is NULL. */
void api_free_differentiate(const api_free_block *b, size_t lane, size_t columns, double *dtau, double *dqdd);

/* Adds dy/dqdd_F dqdd_F to dy (rows x nv in lanes) in one lane; dy_dqdd is rows x nv. */
void api_free_add(const api_free_block *b, size_t lane, size_t rows, const double *dy_dqdd, const double *dqdd,
                  double *dy);

/* Clears the columns of free coordinates in one lane of a matrix of nv columns: their qdd is no input. */
void api_free_clear_columns(const api_free_block *b, size_t lane, size_t rows, double *matrix);
