/* slow_log.h - decide which slow requests have a line of their own in the log: those from --slow-request on, at most
 * SRV_SLOW_LINES per second. */
#pragma once
#include "server/work/rate.h"
#include <pthread.h>
#include <stdbool.h>

enum { SRV_SLOW_LINES = 10 };

typedef struct srv_slow_log {
    pthread_mutex_t mutex;
    srv_rate        lines;   /* guarded by the mutex */
    uint64_t        omitted; /* slow requests without a line since the last one with a line; guarded by the mutex */
} srv_slow_log;

void srv_slow_log_open(srv_slow_log *slow);
void srv_slow_log_close(srv_slow_log *slow);

/* True if a slow request that ended at the time `now`, ns, is to have a line. `omitted` then receives the number of
 * slow requests without a line since the last one. */
bool srv_slow_log_admits(srv_slow_log *slow, uint64_t now, uint64_t *omitted);
