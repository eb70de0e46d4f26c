/* pool.c - see pool.h. */
#include "pool.h"
#include <string.h>

/* Claim this many bytes where the budget has them: small allocations then rarely touch the atomic counter that all
 * threads share. A request is refused only for what it needs, never for this rounding. */
enum { CLAIM = 64 * 1024 };

bool api_pool_claim(api_pool *pool, size_t bytes)
{
    size_t left = pool->claimed - pool->used;
    if (bytes > left) {
        size_t more = api_claim_generously(pool->share, bytes - left, CLAIM, pool->problem);
        if (more == 0) return false;
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

static void *take(void *arg, size_t bytes)
{
    return api_take(arg, bytes);
}

dyn_memory api_pool_memory(api_pool *pool)
{
    return (dyn_memory){.take = take, .arg = pool};
}
