/* clock.h - read the clock of all deadlines, CLOCK_MONOTONIC in nanoseconds, and the processor time of a thread. */
#pragma once
#include <stdint.h>
#include <time.h>

#define SRV_NEVER UINT64_MAX /* a deadline that never passes */

static inline uint64_t srv_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Converts seconds to nanoseconds; the settings' ranges exclude an overflow (584 years). */
static inline uint64_t srv_ns(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

/* Processor time of the calling thread, s. */
static inline double srv_processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
