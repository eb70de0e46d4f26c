/* clock.h - one clock for all deadlines: CLOCK_MONOTONIC in nanoseconds. */
#pragma once
#include <stdint.h>
#include <time.h>

#define SRV_NEVER UINT64_MAX /* a deadline that does not come */

static inline uint64_t srv_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Seconds as nanoseconds; settings keep them far below the overflow at 584 years. */
static inline uint64_t srv_ns(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}
