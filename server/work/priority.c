/* priority.c - see priority.h. */
#define _GNU_SOURCE /* MCL_ONFAULT, syscall */
#include "priority.h"
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void srv_leave_real_time(void)
{
    const struct sched_param none = {0};
    (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
}

/* The attributes of sched_setattr(2), which glibc does not declare before its version 2.41. */
typedef struct schedule {
    uint32_t size, policy;
    uint64_t flags;
    int32_t  nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns */
} schedule;

void srv_shorten_slice(void)
{
    static const uint64_t shortest_slice = 100000; /* ns */
    schedule              present        = {.size = sizeof present};
    if (syscall(SYS_sched_getattr, 0, &present, sizeof present, 0) != 0 || present.policy != SCHED_OTHER) return;
    present.runtime = shortest_slice;
    (void)syscall(SYS_sched_setattr, 0, &present, 0);
}

bool srv_lock_memory(void)
{
    struct rlimit limit;
    int           policy = sched_getscheduler(0);
    if (policy != SCHED_FIFO && policy != SCHED_RR) return true;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
    if (limit.rlim_cur == RLIM_INFINITY) return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
    errno = EAGAIN;
    return false;
}

void srv_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}
