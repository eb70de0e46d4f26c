/* stiction_solver.h - finds the friction of joints and motors at rest: which of them static friction holds, and which
 * start to move.
 *
 * The accelerations a of the n joints and motors at rest are affine in their friction f: a = b - A f. With W the rows
 * that give their rates from the velocities, and K = M^-1 - M^-1 J^T (J M^-1 J^T)^+ J M^-1 of a robot whose frames are
 * held along the rows J (dynamics/contact/contact.h),
 *
 *     A = W K W^T,  b = W qdd_0 + W' qd,  qdd_0: the accelerations without this friction.
 *
 * So the held frames are eliminated first. Friction holds a row up to its limits; beyond, it opposes the motion that
 * begins:
 *
 *     -negative <= f <= positive,    f = positive where a > 0,    f = -negative where a < 0.
 *
 * This is a linear complementarity problem with bounds (Cottle, Pang & Stone 1992, 1.5): the optimality conditions of a
 * bounded least-squares problem, min f^T A f / 2 - b^T f. A is positive semidefinite. Hence a solution exists and a is
 * unique, but f is unique only if A is positive definite: joints that hold the same motion, and held frames that do,
 * can share the load in many ways. The result is then the solution with the least sum of squares of f / (positive +
 * negative).
 *
 * That solution is the limit, for e -> 0, of the problems with A + e D, where D = diag((positive + negative)^-2), whose
 * matrices are positive definite; e is a symbol in all comparisons. An active-set method finds it (Nocedal & Wright
 * 2006, 16.5 and 16.7). With the rows h held and s sliding, the minimum over f_h is A_hh^+ (b_h - A_hs f_s), with a
 * pseudoinverse in the metric D. A step towards it ends at the first limit, or takes all limits beyond which it leads
 * at once if that decreases the objective. At a minimum over f_h, rows that would leave their limit are released: all
 * of them if the next step then decreases the objective, else the one with the largest acceleration. The objective
 * decreases from one such minimum to the next, so that no set of held rows occurs twice: the method ends after finitely
 * many steps. */
#pragma once
#include "dynamics/memory/memory.h"
#include <stdbool.h>
#include <stddef.h>

/* The caller provides all arrays; `room` has dyn_friction_problem_entries(n) doubles. */
typedef struct dyn_friction_problem {
    size_t        n;
    const double *A, *b;               /* n x n, symmetric; n */
    const double *positive, *negative; /* n: limits of friction against positive and negative motion */
    /* n each: the diagonal that A would have without held frames; the magnitudes of the terms whose sum is b, which
     * bound the rounding error of b. NULL: the diagonal of A; |b|. */
    const double *free_diagonal, *size;
    double       *f;    /* n: result, friction */
    int          *side; /* n: result, 0: does not move; 1, -1: starts to move in positive, negative direction */
    /* n: result, true: the row stays at rest as a consequence of other rows and held frames at rest. NULL: not
     * wanted */
    bool   *follows;
    double *room;
} dyn_friction_problem;

typedef enum dyn_friction_status {
    DYN_FRICTION_FOUND,
    DYN_FRICTION_UNDECIDED, /* numbers are not finite, or rounding errors decide which rows move */
    DYN_FRICTION_STOPPED    /* the deadline ended the search */
} dyn_friction_status;

size_t dyn_friction_problem_entries(size_t n);

/* Finds f and `side`. Checks the deadline before each step; a step factors one matrix of up to n x n. */
dyn_friction_status dyn_friction_problem_solve(const dyn_friction_problem *s, dyn_deadline deadline);
