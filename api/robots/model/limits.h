/* limits.h - lists the limits of the joints of a model and of the motors of its coupled transmissions. Every operation
 * that speaks of limits takes them from this list.
 *
 * The limited quantities, with the tree's q and qd (loops.h) and the efforts tau of the model:
 *
 *     position      q of the joint; of a joint that mimics another, multiplier q + offset
 *     velocity      qd of the joint; multiplier qd; of a motor, the sum of weight times qd of the joints that it drives
 *     effort        tau of the joint's coordinate; of an elastic joint, that of its motor; of a motor, the sum of
 *                   `effort` times tau of the joints that it drives
 *     effort_rate   the time derivative of the effort
 *
 * The effort of a mimic joint acts at its own axis: the tau that the joint would have if it had a coordinate of its own
 * and moved in the same way. The tau of its leader moves both. A passive joint of a loop has no motor, and no tau: its
 * effort and effort rate are 0; friction and springs are on the other side of the equation of motion. The effort of a
 * motor that drives a passive joint is not determined and has no limit in the list. */
#pragma once
#include "api/base/memory/pool.h"
#include "model.h"

typedef enum api_limit_kind {
    API_LIMIT_POSITION,
    API_LIMIT_VELOCITY,
    API_LIMIT_EFFORT,
    API_LIMIT_EFFORT_RATE,
    API_LIMIT_KINDS
} api_limit_kind;

extern const char *const api_limit_names[API_LIMIT_KINDS];

/* The limit lower <= sum of weight x + offset <= upper. The x are n entries of q or qd of the tree, or of the efforts
 * or their rates: the model's nv coordinates, then one entry for each of api_limit_list.follower. */
typedef struct api_limit {
    const char              *name; /* of the joint or motor */
    api_limit_kind           kind;
    const api_coupled_motor *motor; /* NULL: the limit is that of a joint */
    size_t                   n;     /* 0: the quantity is 0 */
    size_t                   entry[DYN_MAX_DRIVEN];
    double                   weight[DYN_MAX_DRIVEN]; /* 1 for joints; the multiplier for mimic joints */
    double                   offset;                 /* 0 except for positions of mimic joints */
    double                   lower, upper;
    size_t                   v; /* of a position: the tree's velocity coordinate of entry[0] */
} api_limit;

typedef struct api_limit_list {
    size_t     n;
    api_limit *limit; /* [n] in the order of joints, then of motors; those of one joint in the order of the kinds */
    size_t     n_followers;
    size_t    *follower; /* [n_followers] the mimic joints with a limit of effort or effort rate: indices of joints */
} api_limit_list;

/* Lists the limits of `n_kinds` kinds. Returns false with the pool's problem. */
bool api_limits_list(api_pool *pool, const api_model *model, const api_limit_kind *kinds, size_t n_kinds,
                     api_limit_list *limits);

/* True if a limit is of this kind. */
bool api_limits_have(const api_limit_list *limits, api_limit_kind kind);

/* Returns the limited quantity in a lane of W. x are the lanes of the quantities of limit->kind; NULL: zeros. */
double api_limit_quantity(const api_limit *limit, const double *x, size_t W, size_t lane);
