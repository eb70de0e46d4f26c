/* task_curvature.h - finds Newton's model of one level of prioritised tasks: one state.
 *
 * Gauss-Newton steps leave out the second derivatives of the tasks. Where a level cannot reduce its error e to zero, or
 * yields to the levels before it, such steps converge linearly, at a rate in proportion to e. With the rows A of the
 * level and B of the levels before, Newton's model has the gradient and the Hessian of the Lagrangian (Nocedal & Wright
 * 2006, ch. 18.1)
 *
 *     r = A^T e + B^T lambda,  H = dr/dq,  with lambda constant, the least-squares solution of B^T lambda = -A^T e.
 *
 * In the directions P that change no B x, P H P = V diag(s) V^T, and the model is the level with the rows
 *
 *     R x = c,  R = |diag(s)|^1/2 V^T,  c = -|diag(s)|^-1/2 V^T r,
 *
 * for s that are not zero up to rounding errors. A direction of negative curvature counts as one of positive curvature.
 * A level that has reached its minimum with an error has c = 0; steps of later levels that keep R x stay at the minimum
 * (Pfeiffer, Escande & Kheddar 2018). H is found by forward differences of the gradient, to about 1e-7; the loops of a
 * mechanism are closed for each of them. A coordinate that the gradient pushes against a limit is held there: its row
 * and column of H are zero but for a large diagonal entry. Third derivatives are left out: those of levels before that
 * keep an error have no part in H. */
#pragma once
#include "task_loops.h"
#include "task_rows.h"

/* The most velocities of a tree for which the model is found: it takes time with their third power. */
enum { DYN_CURVATURE_MOST_VELOCITIES = 64 };

/* The level, and the levels before it. */
typedef struct dyn_curved_level {
    const double         *q;          /* [tree nq] position */
    const double         *A, *error;  /* rows of all tasks at q, rows x n, and their errors */
    size_t                first, end; /* the level has the rows first to end - 1 of A */
    const dyn_step_level *before;     /* [n_before] levels of the step */
    size_t                n_before;
    const bool           *is_model; /* [n_before] true: the rows of the level are no rows of A */
} dyn_curved_level;

typedef struct dyn_task_curvature {
    dyn_task_block *block; /* evaluated anew: the results are replaced */
    dyn_task_loops *loops; /* the position of the loops is replaced */
    const double   *goal;
    size_t          n, rows, most_before; /* velocities of the tree; rows of all tasks; most rows of `before` */
    dyn_deadline    deadline;
    double         *H, *basis, *gradient, *lambda; /* n x n; n x n; 3 n; most_before: scratch */
    double         *factor;                        /* rows: scratch */
    double         *A, *error, *moved, *columns;   /* rows x n; rows; tree nq; work: scratch */
    int            *pivot;                         /* most_before: scratch */
    signed char    *side; /* n: scratch; 1: the upper limit holds a coordinate; -1: the lower one */
} dyn_task_curvature;

/* Returns the doubles that dyn_task_curvature_lay_out divides among the arrays from H on. The caller sets n, rows and
 * most_before. */
size_t dyn_task_curvature_entries(size_t nq, size_t n, size_t rows, size_t most_before);
void   dyn_task_curvature_lay_out(dyn_task_curvature *c, size_t nq, double *room);

/* Writes the rows R (at most n x n) and c (n) of the model. Sets *rows to their number. Returns false if there is no
 * model: the deadline has passed, or a number is not finite. */
bool dyn_task_curvature_find(dyn_task_curvature *c, const dyn_curved_level *level, double *R, double *to, size_t *rows);
