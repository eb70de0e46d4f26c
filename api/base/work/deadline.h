/* deadline.h - check whether a request was cancelled or has passed its deadline. Long computations call these
 * functions between steps. */
#pragma once
#include "api/api.h"
#include "dynamics/memory/memory.h"

uint64_t api_now(void); /* current time, ns on CLOCK_MONOTONIC */

/* Returns false with a problem if the request was cancelled (request-timeout) or the deadline has passed
 * (deadline-passed). api_deadline_check lets other requests have their turn first, and compares the deadline with the
 * current time, api_deadline_check_at with `time` (ns on CLOCK_MONOTONIC). The former is also false for a request that
 * leaves its thread (api_scheduler). `deadline` may be NULL: then the result is always true. Once false, the result
 * stays false: so a check at the end shows whether a part of the work was cut short. */
bool api_deadline_check(const api_deadline *deadline, api_problem *problem);
bool api_deadline_check_at(const api_deadline *deadline, uint64_t time, api_problem *problem);

/* On a thread for short requests api_deadline_check also returns false, with deadline-passed, when the request has used
 * the thread for too long; then api_run runs the request again on another thread. api_deadline_must_leave is true from
 * then on. api_deadline_check_here does not end such a request: for steps that must not be repeated. */
bool api_deadline_must_leave(const api_deadline *deadline, uint64_t time);
bool api_deadline_check_here(const api_deadline *deadline, api_problem *problem);

/* Returns the deadline as a computation in dynamics/ checks it, by api_deadline_check. The computation returns without
 * a problem; its caller asks api_deadline_check for the reason. */
dyn_deadline api_deadline_for_dynamics(const api_deadline *deadline);
