/* audit_queue.c - keeps lines about changes until they are written (audit_queue.h). */
#include "audit_queue.h"
#include "api/metrics.h"
#include "server/work/clock.h"
#include "server/work/priority.h"
#include <stdlib.h>

static const uint64_t look = 20000000; /* ns, interval at which a waiting change checks whether it was cancelled */

bool srv_audit_open(srv_audit_queue *q)
{
    pthread_condattr_t attributes;
    *q = (srv_audit_queue){.n = 0};
    srv_mutex_init(&q->mutex);
    if (pthread_condattr_init(&attributes) != 0) return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* steps of the wall clock must not matter */
    bool good = pthread_cond_init(&q->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good;
}

static void count_lines_left(int64_t change)
{
    api_metric_add(API_METRIC_AUDIT_LINES, API_NO_LABELS, change);
}

size_t srv_audit_close(srv_audit_queue *q)
{
    size_t left = 0;
    for (; q->first; left++)
        srv_audit_remove(q);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->mutex);
    return left;
}

/* Waits for a signal, until `end` at most. The caller holds the mutex. */
static void wait_for_change(srv_audit_queue *q, uint64_t end)
{
    const struct timespec time = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
    pthread_cond_timedwait(&q->changed, &q->mutex, &time);
}

static uint64_t earlier_time(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

srv_audit_line *srv_audit_reserve(srv_audit_queue *q, size_t most, uint64_t deadline, const atomic_bool *cancelled)
{
    srv_audit_line *line = malloc(sizeof *line);
    if (!line) return NULL;
    *line = (srv_audit_line){.length = 0};
    pthread_mutex_lock(&q->mutex);
    while (q->n >= most && srv_now() < deadline && !(cancelled && atomic_load(cancelled)))
        wait_for_change(q, earlier_time(deadline, srv_now() + look));
    bool room = q->n < most;
    q->n += room;
    pthread_mutex_unlock(&q->mutex);
    if (room) return line;
    free(line);
    return NULL;
}

void srv_audit_release(srv_audit_queue *q, srv_audit_line *line)
{
    pthread_mutex_lock(&q->mutex);
    q->n--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    free(line);
}

void srv_audit_append(srv_audit_queue *q, srv_audit_line *line)
{
    line->next = NULL;
    pthread_mutex_lock(&q->mutex);
    *(q->first ? &q->last->next : &q->first) = line;
    q->last                                  = line;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    count_lines_left(1);
    if (q->wake) q->wake(q->arg);
}

srv_audit_line *srv_audit_first(srv_audit_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    srv_audit_line *line = q->first;
    pthread_mutex_unlock(&q->mutex);
    return line;
}

void srv_audit_remove(srv_audit_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    srv_audit_line *line = q->first;
    q->first             = line->next;
    q->n--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    free(line);
    count_lines_left(-1);
}

void srv_audit_wait(srv_audit_queue *q, uint64_t end)
{
    pthread_mutex_lock(&q->mutex);
    if (!q->first && srv_now() < end) wait_for_change(q, end);
    pthread_mutex_unlock(&q->mutex);
}

void srv_audit_wake(srv_audit_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
}
