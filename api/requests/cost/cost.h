/* cost.h - learn from the measured time of requests, for the estimates of api_estimate_cost (api.h). The server runs
 * requests with a low estimate at once and queues the others. */
#pragma once
#include <stdint.h>

struct api_call;

/* Corrects later estimates of this kind of request. The call was estimated, and api_run has executed it (its stamps).
 * The time that helper threads spent on it counts as well. A request that failed, such as by its deadline, can only
 * raise the estimates. */
void api_cost_learn(const struct api_call *call);
