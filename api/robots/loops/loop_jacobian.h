/* loop_jacobian.h - the Jacobian of the loops of an MJCF file: how the joints move the frames of each loop relative to
 * each other, and which of its columns are independent. */
#pragma once
#include "api/robots/mjcf/mjcf_reader.h"

/* Part of a column's length that other columns must leave to it, so that it counts as independent, at the reference
 * position, where the loops are closed. Columns are compared with their own lengths alone, since they differ in unit.
 */
#define API_MJCF_INDEPENDENT 1e-7

/* The columns of one joint. */
typedef struct api_mjcf_column {
    api_mjcf_joint *joint;
    int             tier; /* kind of the joint, of loop_choice.c */
    size_t          n;    /* columns of the joint: 1, 3 or 6 */
    double         *v;    /* [n][rows] */
    double          norm; /* length of a single column */
    bool            chosen;
} api_mjcf_column;

typedef struct api_mjcf_jacobian {
    api_mjcf        *m;
    size_t           rows, n;
    api_mjcf_column *column; /* [n] */
    double          *basis;  /* [rank][rows], orthonormal */
    size_t           rank;
    size_t          *order;     /* [rank], columns in the order in which they were chosen; of single columns alone */
    bool             several;   /* a ball or free joint is among them */
    double           tolerance; /* API_MJCF_INDEPENDENT, or larger where the loops are not quite closed */
} api_mjcf_jacobian;

/* Makes the columns of each joint that moves the loops, where the bodies stand at X_wb; a follower adds to the columns
 * of its leader. False with a problem of memory. J->n is 0 if there are too many joints or equations. */
bool api_mjcf_jacobian_open(api_mjcf *m, api_mjcf_jacobian *J);

/* Returns the joint that moves this one, and by which factor. NULL: it is locked. */
api_mjcf_joint *api_mjcf_leader_of(api_mjcf *m, api_mjcf_joint *joint, double *factor);

double api_mjcf_column_length(const double *v, size_t rows);

/* Removes from v what lies in the basis, and returns the length of the rest. */
double api_mjcf_column_reduce(const api_mjcf_jacobian *J, double *v);

/* Adds a column of the length `norm` to the basis if it is independent of it; overwrites it by what the basis leaves.
 */
bool api_mjcf_column_extend(api_mjcf_jacobian *J, double *v, double norm);
