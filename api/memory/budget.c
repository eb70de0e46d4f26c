/* budget.c - see budget.h. */
#include "budget.h"

static bool fail_alone(const api_share *share, size_t bytes, api_problem *problem)
{
    return api_fail(problem, API_TOO_MUCH_MEMORY, NULL,
                    "the request needs %zu bytes more than its present %zu; the limit for all requests is %zu", bytes,
                    share->bytes, share->budget->limit);
}

bool api_claim(api_share *share, size_t bytes, api_problem *problem)
{
    api_budget *budget = share->budget;
    if (share->bytes > budget->limit || bytes > budget->limit - share->bytes) return fail_alone(share, bytes, problem);
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (used > budget->limit - bytes)
            return api_fail(problem, API_MEMORY_FULL, NULL,
                            "the request needs %zu bytes more; of the budget of %zu bytes, %zu are in use", bytes,
                            budget->limit, used);
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    share->bytes += bytes;
    return true;
}

void api_unclaim(api_share *share, size_t bytes)
{
    atomic_fetch_sub_explicit(&share->budget->used, bytes, memory_order_relaxed);
    share->bytes -= bytes;
}
