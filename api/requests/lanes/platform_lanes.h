/* platform_lanes.h - the platform of each state: its numbers in lanes, and the state that follows from them. */
#pragma once
#include "dynamics/loops/loop_kernels.h"
#include "evaluation.h"

/* Finds the state that follows from the platform's pose and motion, for one block: writes the lanes of q, qd, qdd and
 * the passive coordinates. False where a state has no solution: api_loop_fail says why. */
bool api_platform_reach(const api_evaluation *e, dyn_loop_workspace *c, size_t block, size_t live);

/* Fails a row whose platform cannot be reached. The problem points at the row's entry of the first field of the
 * platform that is a batch. The result is that of api_fail_state. */
bool api_platform_fail(const api_evaluation *e, size_t row, const api_problem *found) __attribute__((cold));
