/* decoded_cost.h - estimate again how long a request will take, when its fields are decoded. The first estimate peeks
 * at the body, and is wrong where a client writes "\\u0064uration", or where only a tolerance says how many steps there
 * are. */
#pragma once
#include "api/requests/lanes/plan.h"

/* Asks the scheduler if it lets the decoded request run, in case that it takes much longer than was estimated. False:
 * it does not; the request ends without a problem. */
bool api_admit_decoded(const api_plan *plan);
