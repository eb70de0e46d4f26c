/* cost.h - what a request may cost, before it is read (api_estimate_cost of api.h): the server runs light requests at
 * once and queues the rest. */
#pragma once
#include <stdint.h>

struct api_call;

/* A call that was estimated has been run since `began`: the next estimates of its kind know. What others helped with
 * counts as its own. */
void api_cost_learn(const struct api_call *call, uint64_t began);
