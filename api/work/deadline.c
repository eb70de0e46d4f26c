/* deadline.c - see deadline.h. */
#include "deadline.h"
#include <time.h>

uint64_t api_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool api_watch_check_at(const api_watch *watch, uint64_t time, api_problem *problem)
{
    if (!watch) return true;
    if (atomic_load_explicit(&watch->cancelled, memory_order_relaxed))
        return api_fail(problem, API_REQUEST_TIMEOUT, NULL, "the client has gone");
    if (time < watch->deadline) return true;
    return api_fail(problem, API_DEADLINE_PASSED, NULL, "the deadline passed before the answer was complete");
}

bool api_watch_check(const api_watch *watch, api_problem *problem)
{
    return api_watch_check_at(watch, watch ? api_now() : 0, problem);
}
