/* estimate_rows.h - declares the rows of one coordinate in an estimate (estimate.h), for the files that fill, weight
 * and solve them. */
#pragma once
#include "estimate.h"

enum { DYN_ROWS = 64 /* rows that are factored at a time */ };

/* A change of torques of at most DYN_ZERO times the mean torque counts as zero: the residuals of torques without noise
 * are rounding errors, which never settle. */
#define DYN_ZERO 1e-13

struct dyn_coordinate_rows {
    size_t  n;         /* number of base parameters that affect this coordinate's torque */
    size_t *parameter; /* [n] indices in base->parameter, ascending */
    size_t  rows;      /* number of rows in `row`, not factored yet */
    size_t  used;      /* rows added in total */
    double *row;       /* DYN_ROWS x (n + 1), column-major: rows to be factored */
    double *R;         /* triangular factor over n + 1 columns, the last of which is the torque (sequential_qr.h) */
    double *kept;      /* [used x (n + 1)] all rows, for a robust loss; else NULL */
    double *rest;      /* [2 used] residuals of the rows `kept`, then their absolute values in ascending order */
    double  free;      /* degrees of freedom: number of rows less the leverage */
    double  deviation; /* standard deviation by which the rows are divided */
};

/* Returns false if the deadline has passed. */
bool dyn_estimate_go_on(const dyn_estimate *t);

/* Factors the rows in c->row. Returns false if an entry is not finite. */
bool dyn_coordinate_factor(dyn_coordinate_rows *c);

/* Joins the factors of all coordinates, each divided by its deviation, and the prior if `prior`, into t->R. Returns
 * false if the deadline has passed, there is no memory, or an entry is not finite. */
bool dyn_estimate_join(const dyn_estimate *t, bool prior);

/* Returns the root mean square of the measured torques. */
double dyn_estimate_mean_torque(const dyn_estimate *t);

/* Returns the lower bound of the standard deviation of a coordinate's rows. */
double dyn_estimate_least_deviation(const dyn_estimate *t);

/* Returns the squared norm of (rows of a coordinate, divided by their deviation) times the vector u [n], which may be
 * the first n numbers of t->scratch. Overwrites the numbers of t->scratch after the first n. */
double dyn_coordinate_square_along(const dyn_estimate *t, const dyn_coordinate_rows *c, const double *u);

/* Sets t->deviation, the standard deviations of the base parameters, from t->s and unknowns.inverse. */
void dyn_estimate_deviations(dyn_estimate *t);
