/* client_memory_budget.h - count the bytes that all requests in flight use, and share them among the clients.
 *
 * A claim that does not fit fails immediately; no thread waits for memory. The request is answered 503, or 413 if it
 * would not fit even alone. api_budget may be used from any thread.
 *
 * The share of a client follows from the memory that is free (dynamic thresholds, Choudhury and Hahne 1998): the bytes
 * of a client are at most 4 times the bytes that are free afterwards. A client alone has three quarters of the limit;
 * of what is left, the next client has four fifths, so that some memory is always free for a client that comes. The
 * last sixteenth of the limit is for light requests, which use at most 1/2048 of the limit each: its second half is for
 * clients that use little. A share without a client is bounded by the limit only. */
#pragma once
#include "api/api.h"
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
    api_budget        *budget;
    size_t             bytes;
    api_client_memory *client; /* counts the bytes of all requests of the client; NULL: none */
} api_share;

bool api_claim(api_share *share, size_t bytes, api_problem *problem); /* claims all bytes, or none with a problem */
/* Claims `generous` bytes if so many are free, else `bytes` (at least 1). Returns the claimed bytes, 0 with a problem.
 */
size_t api_claim_generously(api_share *share, size_t bytes, size_t generous, api_problem *problem);
void   api_unclaim(api_share *share, size_t bytes);

/* True if hardly any memory is free for requests that are not light: less than 1/64 of the limit. */
bool api_budget_is_exhausted(const api_budget *budget);
