/* deadline.h - whether somebody still waits: looked at between steps of what takes long. */
#pragma once
#include "api/api.h"

uint64_t api_now(void); /* ns on CLOCK_MONOTONIC */

/* False with a problem when the client is gone or the deadline has passed, now or at `time`. `deadline` may be NULL. */
bool api_deadline_check(const api_deadline *deadline, api_problem *problem);
bool api_deadline_check_at(const api_deadline *deadline, uint64_t time, api_problem *problem);
