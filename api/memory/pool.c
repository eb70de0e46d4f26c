/* pool.c - see pool.h. */
#include "pool.h"
#include <string.h>

/* Claim at least this many bytes: small allocations then rarely touch the atomic counter that all threads share. */
enum { CLAIM = 64 * 1024 };

bool api_pool_claim(api_pool *pool, size_t bytes)
{
    size_t left = pool->claimed - pool->used;
    if (bytes > left) {
        size_t more = bytes - left > CLAIM ? bytes - left : CLAIM;
        if (!api_claim(pool->share, more, pool->problem)) return false;
        pool->claimed += more;
    }
    pool->used += bytes;
    return true;
}

void *api_take(api_pool *pool, size_t bytes)
{
    if (!api_pool_claim(pool, bytes)) return NULL;
    void *memory = api_scratch_take(pool->scratch, bytes);
    if (!memory) api_fail(pool->problem, API_MEMORY_FULL, NULL, "no memory for %zu bytes", bytes);
    return memory;
}

double *api_take_zeroed(api_pool *pool, size_t count, bool *room)
{
    double *numbers = api_take(pool, count * sizeof *numbers);
    *room           = *room && numbers;
    if (numbers) memset(numbers, 0, count * sizeof *numbers);
    return numbers;
}

void api_pool_end(api_pool *pool)
{
    api_unclaim(pool->share, pool->claimed);
    pool->claimed = pool->used = 0;
}
