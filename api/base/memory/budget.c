/* budget.c - see budget.h. */
#include "budget.h"

static bool fail_alone(const api_share *share, size_t bytes, api_problem *problem)
{
    return api_fail(problem, API_TOO_MUCH_MEMORY, NULL,
                    "the request needs %zu bytes more than its present %zu; the limit for all requests is %zu", bytes,
                    share->bytes, share->budget->limit);
}

/* Adds `bytes` to those in use, unless that exceeds the limit. Sets `used` to the bytes that were in use before. */
static bool add(api_budget *budget, size_t bytes, size_t *used)
{
    *used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (bytes > budget->limit || *used > budget->limit - bytes) return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, used, *used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool api_claim(api_share *share, size_t bytes, api_problem *problem)
{
    api_budget *budget = share->budget;
    size_t      used;
    if (share->bytes > budget->limit || bytes > budget->limit - share->bytes) return fail_alone(share, bytes, problem);
    if (!add(budget, bytes, &used))
        return api_fail(problem, API_MEMORY_FULL, NULL,
                        "the request needs %zu bytes more; of the budget of %zu bytes, %zu are in use", bytes,
                        budget->limit, used);
    share->bytes += bytes;
    return true;
}

size_t api_claim_generously(api_share *share, size_t bytes, size_t generous, api_problem *problem)
{
    size_t used;
    if (generous > bytes && add(share->budget, generous, &used)) {
        share->bytes += generous;
        return generous;
    }
    return api_claim(share, bytes, problem) ? bytes : 0;
}

void api_unclaim(api_share *share, size_t bytes)
{
    atomic_fetch_sub_explicit(&share->budget->used, bytes, memory_order_relaxed);
    share->bytes -= bytes;
}
