/* periodic.c - see periodic.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "periodic.h"
#include "clock.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct srv_periodic {
    pthread_mutex_t mutex;
    pthread_cond_t  stopped; /* signalled when `stops` is set */
    bool            stops;
    uint64_t        interval; /* ns */
    void (*task)(void *arg);
    void     *arg;
    pthread_t thread;
};

/* Waits until the next call is due. False: the thread shall end. The caller holds the mutex. */
static bool wait_for_next(srv_periodic *p)
{
    uint64_t              end  = srv_now() + p->interval;
    const struct timespec time = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
    while (!p->stops && pthread_cond_timedwait(&p->stopped, &p->mutex, &time) == 0)
        ;
    return !p->stops;
}

static void *run(void *argument)
{
    srv_periodic *p = argument;
    pthread_mutex_lock(&p->mutex);
    while (wait_for_next(p)) {
        pthread_mutex_unlock(&p->mutex);
        p->task(p->arg);
        pthread_mutex_lock(&p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

srv_periodic *srv_periodic_start(double seconds, void (*task)(void *arg), void *arg)
{
    pthread_condattr_t attributes;
    srv_periodic      *p = malloc(sizeof *p);
    if (!p) return NULL;
    *p = (srv_periodic){.interval = srv_ns(seconds), .task = task, .arg = arg};
    pthread_mutex_init(&p->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* steps of the wall clock must not matter */
    pthread_cond_init(&p->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&p->thread, NULL, run, p) == 0) {
        pthread_setname_np(p->thread, "torqued-probe");
        return p;
    }
    pthread_cond_destroy(&p->stopped);
    pthread_mutex_destroy(&p->mutex);
    free(p);
    return NULL;
}

void srv_periodic_stop(srv_periodic *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->mutex);
    p->stops = true;
    pthread_mutex_unlock(&p->mutex);
    pthread_cond_signal(&p->stopped);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->stopped);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}
