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
 *     acceleration, jerk   the time derivatives of the velocity, of models without loops
 *     effort_speed  the effort, within bounds that fall with the speed of the drive: the velocity above, but of an
 *                   elastic joint that of its motor (dynamics/motion/limit.h)
 *
 * The effort of a mimic joint acts at its own axis: the tau that the joint would have if it had a coordinate of its own
 * and moved in the same way. The tau of its leader moves both. A passive joint of a loop has no motor, and no tau: its
 * effort and effort rate are 0; friction and springs are on the other side of the equation of motion. The effort of a
 * motor that drives a passive joint is not determined and has no limit in the list. */
#pragma once
#include "api/base/memory/pool.h"
#include "dynamics/motion/limit.h"
#include "model.h"

extern const char *const api_limit_names[DYN_LIMIT_KINDS];

/* The owner of a limit: a joint or a motor of a coupled transmission. */
typedef struct api_limit_owner {
    const char              *name;
    const api_coupled_motor *motor; /* NULL: the limit is that of a joint */
} api_limit_owner;

/* The entries of efforts in a limit are the model's nv coordinates, then one for each of `follower`. */
typedef struct api_limit_list {
    size_t     n;
    dyn_limit *limit; /* [n] in the order of joints, then of motors; those of one joint in the order of the kinds */
    api_limit_owner *owner; /* [n] the owner of each limit */
    size_t           n_followers;
    size_t *follower; /* [n_followers] the mimic joints whose effort or effort rate is limited: indices of joints */
} api_limit_list;

/* Lists the limits of `n_kinds` kinds. Returns false with the pool's problem. */
bool api_limits_list(api_pool *pool, const api_model *model, const dyn_limit_kind *kinds, size_t n_kinds,
                     api_limit_list *limits);

/* True if at least one of the limits is of this kind. */
bool api_limits_have(const api_limit_list *limits, dyn_limit_kind kind);

/* True if a limit bounds an effort: of effort or effort_speed. */
bool api_limits_bound_efforts(const api_limit_list *limits);
