/* limit.h - evaluate quantities that joint limits bound, and their derivatives by the state.
 *
 * The quantities are positions and velocities of the tree with their derivatives (acceleration and jerk without loops),
 * efforts of the coordinates, and their rates. A sum of
 * several is the quantity of a motor of a coupled transmission. */
#pragma once
#include "dynamics/model/model.h"

typedef enum dyn_limit_kind {
    DYN_LIMIT_POSITION,
    DYN_LIMIT_VELOCITY,
    DYN_LIMIT_EFFORT,
    DYN_LIMIT_EFFORT_RATE,
    DYN_LIMIT_ACCELERATION,
    DYN_LIMIT_JERK,
    DYN_LIMIT_KINDS
} dyn_limit_kind;

/* The limit lower <= sum of weight x + offset <= upper. The x are n entries of q or qd of the tree, or of the efforts
 * or their rates, which the caller defines. */
typedef struct dyn_limit {
    dyn_limit_kind kind;
    size_t         n; /* 0: the quantity is 0 */
    size_t         entry[DYN_MAX_DRIVEN];
    double         weight[DYN_MAX_DRIVEN]; /* 1 for joints; the multiplier for mimic joints */
    double         offset;                 /* 0 except for positions of mimic joints */
    double         lower, upper;
    size_t         v; /* the tree's velocity coordinate of entry[0], a position */
} dyn_limit;

typedef struct dyn_limits {
    size_t           n;
    const dyn_limit *limit; /* [n] */
} dyn_limits;

/* Returns the limited quantity in a lane of W. x are the lanes of the quantities of limit->kind; NULL: zeros. */
double dyn_limit_quantity(const dyn_limit *limit, const double *x, size_t W, size_t lane);

/* Derivatives of the tree's q and qd by those of the mechanism, (nv of the tree) x nv in lanes of W. NULL, NULL: the
 * mechanism has no loops, and the coordinates are the tree's. */
typedef struct dyn_limited_rates {
    size_t        nv, W;
    const double *by_coordinate; /* dqd_tree/dqd, which is dq_tree/dq as well */
    const double *velocity_by_q; /* dqd_tree/dq */
} dyn_limited_rates;

/* True of limits of position, velocity, acceleration and jerk. */
bool dyn_limit_is_of_motion(dyn_limit_kind kind);

/* Returns entry v of the derivative of a limited position, velocity, acceleration or jerk by q (`by` 0), qd (1) or a
 * higher derivative of q in a lane. */
double dyn_limit_slope(const dyn_limit *limit, const dyn_limited_rates *rates, int by, size_t v, size_t lane);
