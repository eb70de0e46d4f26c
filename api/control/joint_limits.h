/* joint_limits.h - report which joints exceed their limits of effort, position and velocity while a robot is simulated.
 *
 * Looked at are the beginning, the end of every step and both sides of every jump of the input. Efforts are those that
 * were asked for, before they are clipped. A motor bears the effort of an elastic joint; a joint that mimics another
 * has limits of position and velocity alone. */
#pragma once
#include "api/wire/emit.h"
#include "actuator_input.h"

typedef enum api_joint_limit_kind { API_LIMIT_EFFORT, API_LIMIT_POSITION, API_LIMIT_VELOCITY } api_joint_limit_kind;

/* ratio x + offset is to be between lower and upper. x is an entry of tau, or of the tree's q or qd. */
typedef struct api_joint_limit {
    const char          *joint;
    api_joint_limit_kind kind;
    size_t               entry;
    double               ratio, offset; /* 1 and 0 but for mimics */
    double               lower, upper;
} api_joint_limit;

/* The largest excess over a limit, when it was, and which side it was on. */
typedef struct api_limit_violation {
    double excess, time, limit; /* excess 0: the limit was kept */
} api_limit_violation;

typedef struct api_joint_limits {
    size_t               n;
    api_joint_limit     *limit; /* [n] */
    api_limit_violation *found; /* [rows][n]; NULL: not asked for */
} api_joint_limits;

/* Lists the limits of the model. `drive` is read. False with a problem. */
bool api_joint_limits_list(api_evaluation *e, const api_actuator_input *drive, api_joint_limits *limits);

/* [{"joint", "kind", "limit", "excess", "time"}...] of the limits that were exceeded; an array of these for a batch.
 * null stands for a simulation that has failed. Without results it emits all limits, to measure the answer. */
void api_joint_limits_emit(const api_evaluation *e, const api_joint_limits *limits, api_emit *to);
