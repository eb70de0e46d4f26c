/* slow_log.c - limits the lines of slow requests by a token bucket (slow_log.h). */
#include "slow_log.h"
#include "server/work/priority.h"

void srv_slow_log_open(srv_slow_log *slow)
{
    *slow = (srv_slow_log){.omitted = 0};
    srv_mutex_init(&slow->mutex);
}

void srv_slow_log_close(srv_slow_log *slow)
{
    pthread_mutex_destroy(&slow->mutex);
}

bool srv_slow_log_admits(srv_slow_log *slow, uint64_t now, uint64_t *omitted)
{
    pthread_mutex_lock(&slow->mutex);
    bool admits   = srv_rate_take(&slow->lines, SRV_SLOW_LINES, now) == 0;
    *omitted      = admits ? slow->omitted : 0;
    slow->omitted = admits ? 0 : slow->omitted + 1;
    pthread_mutex_unlock(&slow->mutex);
    return admits;
}
