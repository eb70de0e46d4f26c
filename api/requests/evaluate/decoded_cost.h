/* decoded_cost.h - estimate again how long a request will take, when its fields are decoded. The first estimate peeks
 * at the body, and is wrong where a client writes "\\u0064uration", or where the number of steps follows from a
 * tolerance. */
#pragma once
#include "api/requests/lanes/plan.h"

/* Asks the scheduler whether the decoded request may continue, if it will take much longer than was estimated from its
 * body. False: it may not; the request ends without a problem. */
bool api_admit_decoded(const api_plan *plan);
