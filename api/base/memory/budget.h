/* budget.h - count the bytes that all requests in flight use, and refuse requests beyond a common limit.
 *
 * A claim that exceeds the limit fails immediately; no thread waits for memory. The request is answered 503, or 413
 * if it would not fit even alone. api_budget may be used from any thread. */
#pragma once
#include "api/problem.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct api_budget {
    atomic_size_t used;
    size_t        limit;
} api_budget;

/* The bytes that one request has claimed from the budget; used by one thread at a time. */
typedef struct api_share {
    api_budget *budget;
    size_t      bytes;
} api_share;

bool api_claim(api_share *share, size_t bytes, api_problem *problem); /* claims all bytes, or none with a problem */
/* Claims `generous` bytes if so many are free, else `bytes` (at least 1). Returns the claimed bytes, 0 with a problem.
 */
size_t api_claim_generously(api_share *share, size_t bytes, size_t generous, api_problem *problem);
void   api_unclaim(api_share *share, size_t bytes);
