/* estimate.h - estimates base parameters from measured motion and torques by weighted least squares.
 *
 * Each coordinate has its own triangular factor (sequential_qr.h) over the base parameters that affect its torque, so
 * that the noise of each coordinate can be estimated. The first solution is unweighted. The variance of a coordinate is
 * its sum of squared residuals over its degrees of freedom, rows - leverage. Its rows are then divided by the standard
 * deviation, and the problem is solved again (Gautier & Poignet 2001), until no deviation changes by more than
 * DYN_SETTLED of itself.
 *
 * With `prior`, rows of a normal distribution about the model's parameters are added. With `huber`, residuals beyond a
 * threshold count linearly (robust_loss.h).
 *
 * Order of calls: dyn_base_find; dyn_estimate_open; for each state regressor and inverse dynamics of the model, then
 * dyn_estimate_takes and dyn_estimate_add; dyn_estimate_examine; dyn_estimate_solve. The base parameters are then
 * dyn_base_value of the model's parameters plus unknowns.x. Effects that the model's torques contain count as known;
 * only the difference from them is estimated. Therefore, with DYN_BASE_FRICTION, the caller computes these torques
 * without DYN_FRICTION, and sets the model's friction parameters to zero before dyn_base_value. All memory is that of
 * dyn_estimate_open; nothing is freed singly.
 *
 * Rows are factored in the order of the states, a fixed number at a time: every vector width gives the same bits. */
#pragma once
#include "base_parameters.h"
#include "sequential_qr.h"

#define DYN_SETTLED 1e-4

typedef struct dyn_coordinate_rows dyn_coordinate_rows;

typedef struct dyn_estimate {
    dyn_mechanism        robot;
    const dyn_base      *base;
    dyn_deadline         deadline; /* checked before the work on each coordinate */
    bool                 weighted; /* true: the caller weights the rows; they are not weighted by the estimated noise */
    double               huber;    /* threshold in standard deviations; 0: all residuals count squared */
    double              *prior;    /* [n_prior x (n + 1)] column-major rows of the prior; NULL: none */
    size_t               n_prior;
    size_t               n;                   /* number of base parameters */
    size_t               used;                /* rows with a weight that is not zero */
    double               square;              /* sum of the squares of weighted torques */
    dyn_coordinate_rows *at;                  /* [nv] rows and factor of each coordinate */
    double              *R, *sheet, *scratch; /* joined factor, n + 1 columns; rows to add; scratch, nv or more */
    double              *before;              /* [n] the previous solution; only with `huber` */
    dyn_unknowns         unknowns;            /* x: the base parameters less those of the model */
    double  prior_unit; /* standard deviation of all weighted rows, by which the rows of the prior are multiplied */
    double  s;          /* standard deviation of all weighted rows, from their residuals */
    double *deviation;  /* [n] standard deviations of the base parameters */
    double *noise;      /* [nv] standard deviation of the residuals, with the caller's weights; N m or N without */
    double  residual;   /* root mean square of the residuals of all rows, with the caller's weights */
} dyn_estimate;

/* Returns the number of doubles that LAPACK may allocate from the heap while the estimate t, whose `robot` and `base`
 * are set, is computed. */
size_t dyn_estimate_scratch(const dyn_estimate *t);

/* Prepares the estimate t, for at most `rows` states. The caller has set its members up to `n_prior`, and the others to
 * zero. Returns false if memory is refused. */
bool dyn_estimate_open(dyn_memory memory, size_t rows, dyn_estimate *t);

/* A measured state: its regressor, and in lanes, nv each, the measured torques, the model's torques and the weights
 * (NULL: all 1). Of a mechanism with loops, regressed.rates are those of dyn_loop_tree_qd after the regressor. */
typedef struct dyn_measured {
    dyn_regressor_lane regressed;
    const double      *tau, *model_tau, *weights;
} dyn_measured;

/* True if all entries of the state's rows and the sums of their squares are finite, or the weight is zero. */
bool dyn_estimate_takes(const dyn_estimate *estimate, const dyn_measured *state);

/* Adds the rows of a state for which dyn_estimate_takes is true. Returns false if there is no memory, or the factor is
 * no longer finite. */
bool dyn_estimate_add(dyn_estimate *t, const dyn_measured *state);

/* Factors the last rows, and tells whether they and the prior determine all base parameters. Returns DYN_DEFICIENT if
 * they do not determine the parameters marked in `unknowns.unseen`; DYN_UNSOLVED if the deadline has passed, there is
 * no memory, or numbers overflow. */
dyn_solved dyn_estimate_examine(dyn_estimate *t);

/* Like dyn_estimate_examine, without the prior. */
dyn_solved dyn_estimate_examine_rows(dyn_estimate *t);

/* Keeps only the columns of the base parameters `kept`, which `base` lists, in the rows. Returns as dyn_estimate_add
 * does. */
bool dyn_estimate_reduce(dyn_memory memory, dyn_estimate *t, const dyn_base *base, const bool *kept);

/* Solves for the base parameters, after dyn_estimate_examine returned DYN_SOLVED or dyn_estimate_reduce; there are more
 * rows than base parameters. Returns false if the deadline has passed, there is no memory, or numbers
 * overflow. */
bool dyn_estimate_solve(dyn_estimate *t);

/* Returns the standard deviation of the rows of R for dyn_consistent: t->s, raised to the rounding errors of the
 * torques. */
double dyn_estimate_row_deviation(const dyn_estimate *t);

/* Sets `coordinates` [nv] to the root mean square of each coordinate's residuals at other values x [n] of the base
 * parameters (less those of the model), with the caller's weights. Returns the root mean square of all rows. */
double dyn_estimate_residual_at(const dyn_estimate *t, const double *x, double *coordinates);
