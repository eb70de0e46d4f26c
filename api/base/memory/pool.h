/* pool.h - allocate memory for one request from its worker's scratch memory and claim it from the memory budget. All
 * pieces stay valid until the request ends. One thread uses a pool at a time. */
#pragma once
#include "api/problem.h"
#include "client_memory_budget.h"
#include "scratch.h"
#include "dynamics/memory/memory.h"

/* Initialise as {.share, .scratch, .problem}; the declarer calls api_pool_end. */
typedef struct api_pool {
    api_share   *share;
    api_scratch *scratch;
    api_problem *problem; /* receives the reason of a failed claim */
    size_t       claimed; /* bytes claimed from the budget */
    size_t       used;    /* bytes of `claimed` that are in use */
} api_pool;

/* Returns `bytes` bytes aligned to DYN_ALIGN, not cleared; NULL with a problem if memory or budget is short. */
void *api_take(api_pool *pool, size_t bytes);
/* Returns `count` zeros. If memory or budget is short, returns NULL with a problem and sets `*room` to false, so that a
 * caller of several allocations checks once. */
double *api_take_zeroed(api_pool *pool, size_t count, bool *room);

/* Claims `bytes` from the budget until api_pool_end, for memory that the caller allocates elsewhere. False with a
 * problem. */
bool api_pool_claim(api_pool *pool, size_t bytes);

/* Returns all claimed bytes to the budget. The memory itself returns to the worker in api_scratch_reset. */
void api_pool_end(api_pool *pool);

/* Returns the pool as the memory of a computation in dynamics/, which takes its pieces by api_take. */
dyn_memory api_pool_memory(api_pool *pool);
