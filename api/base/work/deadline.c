/* deadline.c - see deadline.h. */
#include "deadline.h"
#include <time.h>

uint64_t api_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool api_deadline_check_at(const api_deadline *deadline, uint64_t time, api_problem *problem)
{
    if (!deadline) return true;
    if (atomic_load_explicit(&deadline->cancelled, memory_order_relaxed))
        return api_fail(problem, API_REQUEST_TIMEOUT, NULL, "the client has disconnected");
    if (time < deadline->time) return true;
    return api_fail(problem, API_DEADLINE_PASSED, NULL, "the deadline passed before the answer was complete");
}

bool api_deadline_check(const api_deadline *deadline, api_problem *problem)
{
    const api_scheduler *scheduler = deadline ? deadline->scheduler : NULL;
    uint64_t             now       = deadline ? api_now() : 0;
    if (scheduler && scheduler->yield) scheduler->yield(scheduler->arg, now);
    if (scheduler && scheduler->leaves && scheduler->leaves(scheduler->arg, now))
        return api_fail(problem, API_REQUEST_TIMEOUT, NULL, "the request leaves its thread");
    return api_deadline_check_at(deadline, now, problem);
}

bool api_deadline_leaves(const api_deadline *deadline)
{
    const api_scheduler *scheduler = deadline ? deadline->scheduler : NULL;
    return scheduler && scheduler->leaves && scheduler->leaves(scheduler->arg, 0);
}

static bool may_continue(const void *arg)
{
    api_problem reason;
    api_problem_clear(&reason);
    return api_deadline_check(arg, &reason);
}

dyn_deadline api_deadline_for_dynamics(const api_deadline *deadline)
{
    return (dyn_deadline){.may_continue = may_continue, .arg = deadline};
}
