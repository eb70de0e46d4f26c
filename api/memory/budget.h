/* budget.h - the bytes that all requests in flight may hold together. Any thread; nothing waits: a claim that
 * does not fit is refused at once, and the request answered 503. */
#pragma once
#include "api/problem.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct api_budget {
    atomic_size_t used;
    size_t        limit;
} api_budget;

bool api_budget_claim(api_budget *budget, size_t bytes, api_problem *problem); /* all of it, or nothing and a problem */
void api_budget_release(api_budget *budget, size_t bytes);
