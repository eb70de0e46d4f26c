/* joint_limits.h - reports which joints exceed their limits of effort, position and velocity while a robot is
 * simulated, and how near each joint came to its limits. Motors of transmissions follow the joints.
 *
 * Limits are checked at the start, at the end of every step and on both sides of every jump of the input. Efforts are
 * checked before they are clipped. The list is that of api/robots/model/limits.h, without effort rates, which clipped
 * torques do not have, and without accelerations and jerks. The effort of a motor is compared if the input drives all
 * its joints. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/limits.h"
#include "api/codec/emit.h"
#include "actuator_input.h"

/* The largest excess over a limit, its time in s, and the nearer bound. */
typedef struct api_limit_violation {
    double excess, time, limit; /* excess <= 0: the limit was kept, and -excess is the least margin */
} api_limit_violation;

typedef struct api_joint_limits {
    api_limit_list       list;
    api_limit_violation *violation; /* [rows][list.n] violations of each simulation; NULL: not requested */
} api_joint_limits;

/* Lists the limits of the model. `input` must have been read. Returns false with a problem. */
bool api_joint_limits_list(api_query *q, const api_actuator_input *input, api_joint_limits *limits);

/* Writes [{"joint", "kind", "limit", "excess", "time"}...] of the limits that were exceeded or, with `margins`,
 * [{"joint", "kind", "limit", "margin", "time"}...] of all limits; for a batch an array of such arrays. A failed
 * simulation gives null. Before the simulation the function writes all limits, to measure the length of the answer. */
void api_joint_limits_emit(const api_plan *plan, const api_joint_limits *limits, bool margins, api_emit *to);
