/* loop_jacobian.h - the Jacobian of the loops of a file: how the joints move the frames of each loop relative to each
 * other, and which of its columns are independent. */
#pragma once
#include "loop_tree.h"

/* Part of a column's length that other columns must leave to it, so that it counts as independent, at the reference
 * position, where the loops are closed. Columns are compared with their own lengths alone, since they differ in unit.
 */
#define API_LOOP_INDEPENDENT 1e-7

/* The columns of one joint. */
typedef struct api_loop_column {
    api_loop_joint *joint;
    int             tier; /* kind of the joint, of loop_choice.c */
    size_t          n;    /* columns of the joint: 1, 3 or 6 */
    double         *v;    /* [n][rows] */
    double          norm; /* length of a single column; 0 where rounding alone makes it */
    bool            chosen;
} api_loop_column;

typedef struct api_loop_jacobian {
    api_loop_tree   *t;
    size_t           rows, n;
    api_loop_column *column;       /* [n] */
    double          *basis;        /* [rank][rows], orthonormal */
    size_t           rank, n_free; /* the first n_free of the basis are directions in which the loops are free */
    size_t          *order;        /* [rank], columns in the order in which they were chosen; of single columns alone */
    double           longest;      /* length of the longest column */
    bool             several;      /* a ball or free joint is among them */
    double           tolerance;    /* API_LOOP_INDEPENDENT, or larger where the loops are not quite closed */
} api_loop_jacobian;

/* Makes the columns of each joint that moves the loops, where the bodies are at X_wb; a follower adds to the columns of
 * its leader. The basis begins with the directions in which the frames of a loop may move. False with a problem of
 * memory. J->n is 0 if there are too many joints or equations. */
bool api_loop_jacobian_open(api_loop_tree *t, api_loop_jacobian *J);

/* Returns the joint that moves this one, and by which factor. NULL: it is locked, or the
 * joints follow each other in a circle, for which the document is refused. */
api_loop_joint *api_loop_leader_of(api_loop_tree *t, api_loop_joint *joint, double *factor);

/* Returns moves[n][n_loops], in the arena: true where a joint moves the frames of a loop against each other. NULL when
 * memory is short. */
bool *api_loop_find_moves(const api_loop_jacobian *J);

double api_loop_column_length(const double *v, size_t rows);

/* Length of a column of J; 0 where rounding alone makes it. */
double api_loop_column_norm(const api_loop_jacobian *J, const double *v);

/* Removes from v what lies in the basis, and returns the length of the rest. */
double api_loop_column_reduce(const api_loop_jacobian *J, double *v);

/* Adds a column of the length `norm` to the basis if it is independent of it; overwrites it by what the basis leaves.
 */
bool api_loop_column_extend(api_loop_jacobian *J, double *v, double norm);
