/* limit.h - evaluates quantities that joint limits bound, and their derivatives with respect to the state.
 *
 * The quantities are positions and velocities of the tree with their derivatives (acceleration and jerk without loops),
 * efforts of the coordinates, and rates of efforts. The quantity of a motor of a coupled transmission is a sum of
 * several.
 *
 * The torque-speed line of a motor lowers the bounds of its effort tau with its speed w:
 *
 *     |tau| <= stall - slope |w|,  lower = -stall, upper = stall.
 *
 * A motor with voltage V, resistance R and torque constant k behind a gear of ratio n has the stall effort n k V / R
 * and the slope (n k)^2 / R. */
#pragma once
#include "dynamics/model/model.h"

typedef enum dyn_limit_kind {
    DYN_LIMIT_POSITION,
    DYN_LIMIT_VELOCITY,
    DYN_LIMIT_EFFORT,
    DYN_LIMIT_EFFORT_RATE,
    DYN_LIMIT_ACCELERATION,
    DYN_LIMIT_JERK,
    DYN_LIMIT_EFFORT_SPEED,
    DYN_LIMIT_KINDS
} dyn_limit_kind;

/* The limit lower <= sum of weight x + offset <= upper. The n numbers x are entries of the array that `kind` names: q,
 * qd or their derivatives, of the tree, or the efforts or their rates. */
typedef struct dyn_limit {
    dyn_limit_kind kind;
    size_t         n; /* 0: the quantity is 0 */
    size_t         entry[DYN_MAX_DRIVEN];
    double         weight[DYN_MAX_DRIVEN]; /* 1 for joints; for mimic joints the multiplier */
    double         offset;                 /* 0 except for positions of mimic joints */
    double         lower, upper;
    size_t         v;     /* for limits of position: the tree's velocity coordinate of entry[0] */
    double         slope; /* N m s/rad or N s/m, for the kind effort_speed; 0 for others */
    /* For effort_speed, the speed w of the drive is the sum of speed_weight[i] times entry speed[i] of qd of the
     * tree. */
    size_t n_speed, speed[DYN_MAX_DRIVEN];
    double speed_weight[DYN_MAX_DRIVEN];
} dyn_limit;

/* The torque-speed line of a drive. */
typedef struct dyn_speed_line {
    double stall; /* effort at rest, N m or N; INFINITY: no line */
    double slope; /* decrease of the effort with the speed, N m s/rad or N s/m */
} dyn_speed_line;

/* Returns the largest effort, at least 0, of a drive at a speed, under an effort limit `most` (INFINITY: none) and a
 * torque-speed line. */
double dyn_largest_effort(double most, const dyn_speed_line *line, double speed);

typedef struct dyn_limits {
    size_t           n;
    const dyn_limit *limit; /* [n] limits */
} dyn_limits;

/* Returns the limited quantity in a lane of W. x (NULL: zeros) is, in lanes, the array of quantities of limit->kind. */
double dyn_limit_quantity(const dyn_limit *limit, const double *x, size_t W, size_t lane);

/* Returns a limit without bounds whose quantity is the speed w of an effort_speed limit. */
dyn_limit dyn_limit_speed(const dyn_limit *limit);

/* Returns slope |w|, by which the speed reduces the bounds `lower` and `upper` of an effort_speed limit in a lane; 0
 * for other kinds. qd are the velocities of the tree, in lanes. */
double dyn_limit_narrowing(const dyn_limit *limit, const double *qd, size_t W, size_t lane);

/* A margin, the distance to the nearer bound of a limit. Its derivative is `side` times the derivative of the quantity
 * plus `speed_side` times that of the speed. side is 1 if the lower bound is nearer, else -1. speed_side is 0 at rest
 * and for kinds other than effort_speed. */
typedef struct dyn_limit_margin {
    double margin, side, speed_side;
} dyn_limit_margin;

/* Returns the margin min(x - lower, upper - x) - slope |w| of the limited quantity x in a lane. quantities[kind] is, in
 * lanes, the array of quantities of limits of this kind. */
dyn_limit_margin dyn_limit_margin_at(const dyn_limit *limit, const double *const quantities[DYN_LIMIT_KINDS], size_t W,
                                     size_t lane);

/* Derivatives of the tree's q and qd with respect to those of the mechanism, (nv of the tree) x nv in lanes of W. Both
 * NULL: the mechanism has no loops, and the coordinates are the tree's. */
typedef struct dyn_limited_rates {
    size_t        nv, W;
    const double *by_coordinate; /* dqd_tree/dqd, which is dq_tree/dq as well */
    const double *velocity_by_q; /* dqd_tree/dq */
} dyn_limited_rates;

/* True for limits of position, velocity, acceleration and jerk. */
bool dyn_limit_is_of_motion(dyn_limit_kind kind);

/* Returns, in one lane, entry v of the derivative of a limited position, velocity, acceleration or jerk with respect to
 * q (`order` 0), qd (1) or a higher time derivative of q. */
double dyn_limit_slope(const dyn_limit *limit, const dyn_limited_rates *rates, int order, size_t v, size_t lane);
