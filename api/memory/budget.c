/* budget.c - see budget.h. */
#include "budget.h"

bool api_budget_claim(api_budget *budget, size_t bytes, api_problem *problem)
{
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (bytes > budget->limit || used > budget->limit - bytes)
            return api_fail(problem, API_MEMORY_FULL, NULL,
                            "this needs %zu bytes more; of the budget of %zu, %zu are in use", bytes, budget->limit,
                            used);
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

void api_budget_release(api_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}
