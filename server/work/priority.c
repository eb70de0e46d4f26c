/* priority.c - see priority.h. */
#define _GNU_SOURCE /* MCL_ONFAULT */
#include "priority.h"
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

void srv_leave_real_time(void)
{
    const struct sched_param none = {0};
    (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
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
