/* pool.h - the memory of one request: pieces of its worker's scratch memory, claimed from the budget,
 * until the request ends. One thread at a time. */
#pragma once
#include "api/problem.h"
#include "budget.h"
#include "scratch.h"

/* Begins as {.share, .scratch, .problem}; whoever declared it ends it. */
typedef struct api_pool {
    api_share   *share;
    api_scratch *scratch;
    api_problem *problem; /* told why something does not fit */
    size_t       claimed; /* bytes of the share, */
    size_t       used;    /* of which so many are in use */
} api_pool;

/* Not cleared, aligned to DYN_ALIGN; NULL with a problem when it does not fit. */
void *api_take(api_pool *pool, size_t bytes);
/* Numbers, all 0, for those who take many: `*room` becomes false when they do not fit. */
double *api_take_zeroed(api_pool *pool, size_t count, bool *room);

/* Claims bytes of the budget until the end of the request for what is allocated elsewhere. */
bool api_pool_claim(api_pool *pool, size_t bytes);

/* Gives the budget back what was claimed of it; the worker has its scratch memory back when it resets that. */
void api_pool_end(api_pool *pool);
