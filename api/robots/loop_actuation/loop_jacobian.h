/* loop_jacobian.h - the Jacobian of the loops of a file: how the joints move the frames of each loop relative to each
 * other, and which of its columns are independent. */
#pragma once
#include "loop_tree.h"

/* Threshold of independence at the reference position, where the loops are closed: the length that a column keeps after
 * projection onto the complement of the other columns, relative to its own length. Columns are not compared with each
 * other, since they differ in unit. */
#define API_LOOP_INDEPENDENT 1e-7

/* The columns of one joint. */
typedef struct api_loop_column {
    api_loop_joint *joint;
    int             tier; /* a `tier` of loop_choice.c: the kind of the joint */
    size_t          n;    /* columns of the joint: 1, 3 or 6 */
    double         *v;    /* [n][rows] */
    double          norm; /* length of a single column; 0 if it is only rounding error */
    bool            chosen;
} api_loop_column;

typedef struct api_loop_jacobian {
    api_loop_tree   *t;
    size_t           rows, n;
    api_loop_column *column;       /* [n] */
    double          *basis;        /* [rank][rows], orthonormal */
    size_t           rank, n_free; /* the first n_free of the basis are directions in which the loops are free */
    size_t *order; /* [rank], indices of the chosen columns in the order of their choice; joints with one column only */
    double  longest;   /* length of the longest column */
    bool    several;   /* a ball or free joint is among them */
    double  tolerance; /* API_LOOP_INDEPENDENT, or larger where the loops are not quite closed */
} api_loop_jacobian;

/* Computes the columns of each joint that moves the loops, for the poses X_wb of the bodies; a follower adds to the
 * columns of its leader. The basis begins with the directions in which the frames of a loop may move. False with a
 * problem of memory. J->n is 0 if there are too many joints or equations. */
bool api_loop_jacobian_open(api_loop_tree *t, api_loop_jacobian *J);

/* Returns the joint that moves this one, and by which factor. NULL: it is locked, or the
 * joints follow each other in a circle, for which the document is refused. */
api_loop_joint *api_loop_leader_of(api_loop_tree *t, api_loop_joint *joint, double *factor);

/* Returns moves[n][n_loops], in the arena: true where a joint moves the frames of a loop against each other. NULL when
 * memory is short. */
bool *api_loop_find_moves(const api_loop_jacobian *J);

double api_loop_column_length(const double *v, size_t rows);

/* Length of a column of J; 0 if it is only rounding error. */
double api_loop_column_norm(const api_loop_jacobian *J, const double *v);

/* Projects v onto the complement of the basis, and returns the remaining length. */
double api_loop_column_reduce(const api_loop_jacobian *J, double *v);

/* Adds the column v of length `norm` to the basis if it is independent of the basis; overwrites v by its projection
 * onto the complement of the basis. */
bool api_loop_column_extend(api_loop_jacobian *J, double *v, double norm);
