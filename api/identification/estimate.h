/* estimate.h - base parameters from measured motion and torques, by weighted least squares.
 *
 * Rows are gathered coordinate by coordinate, each with a triangle of its own (sequential_qr.h) over the parameters
 * that act there, so that the coordinates' noise can be told apart afterwards: from the first, unweighted solution each
 * coordinate's variance is what it left over its degrees of freedom, rows less leverage (weighted least
 * squares as Gautier & Poignet 2001), and the rows are weighted with it anew. Rows stand in the order of the states and
 * are factored so many at a time, whatever the vector width: the same bits. */
#pragma once
#include "api/model/base_parameters.h"
#include "api/evaluate/evaluation.h"
#include "sequential_qr.h"

typedef struct api_coordinate api_coordinate;

typedef struct api_estimate {
    const api_model    *model;
    const api_base     *base;
    const api_deadline *deadline; /* looked at for every coordinate of a round; may be NULL */
    api_problem        *problem;  /* told when nobody waits */
    bool                weighted; /* by the request */
    size_t              n;        /* base parameters */
    size_t              used;     /* rows with a weight */
    double              square;   /* sum of the squares of weighted torques */
    api_coordinate     *at;       /* [nv] */
    double             *R, *sheet, *scratch;
    api_unknowns        unknowns;  /* x: what the parameters have more than the model's own */
    double              s;         /* standard deviation of weighted rows */
    double             *deviation; /* [n] standard */
    double             *noise;     /* [nv] standard deviation of what is left, weights of the request applied */
    double              residual;  /* root of the mean square of the same, of all rows */
} api_estimate;

/* Takes its memory from the request's. False with a problem. */
bool api_estimate_open(api_evaluation *e, api_estimate *t);

/* A state: its rows' weights (NULL: 1) and torques in lanes, the latter beside those of the model. */
typedef struct api_measured {
    api_regressor_lane regressed;
    const double      *tau, *model_tau, *weights;
} api_measured;

/* Whether all entries of the state's rows, and their squares, are finite numbers. */
bool api_estimate_takes(const api_estimate *estimate, const api_measured *state);

/* Adds a state that is taken. False: with those before it the figures are too large. */
bool api_estimate_add(api_estimate *t, const api_measured *state);

/* After the last state. API_DEFICIENT: too few rows, or `unknowns.unseen` says what they do not tell. API_UNSOLVED:
 * with a problem when the deadline has passed, else figures too large. */
api_solved api_estimate_solve(api_estimate *t);

/* The s with which R's rows are to be believed: never more exactly than numbers allow. */
double api_estimate_believed(const api_estimate *t);
