/* budget.h - the bytes that all requests in flight may hold together. Any thread; nothing waits: a claim that
 * does not fit is refused at once, and the request answered 503, or 413 when it would not fit alone. */
#pragma once
#include "api/problem.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct api_budget {
    atomic_size_t used;
    size_t        limit;
} api_budget;

/* What one request holds of it. One thread at a time. */
typedef struct api_share {
    api_budget *budget;
    size_t      bytes;
} api_share;

bool api_claim(api_share *share, size_t bytes, api_problem *problem); /* all of it, or nothing and a problem */
void api_unclaim(api_share *share, size_t bytes);
