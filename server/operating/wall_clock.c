/* wall_clock.c - compares the clock of dates with the one that never jumps (wall_clock.h). */
#include "wall_clock.h"
#include "api/metrics.h"
#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define JUMP   (2 * SECOND) /* least difference between two checks that is no correction by a time service */

enum { WARNING_DAYS = 14 };

static int64_t read_offset(void)
{
    struct timespec date, uptime;
    clock_gettime(CLOCK_REALTIME, &date);
    clock_gettime(CLOCK_BOOTTIME, &uptime);
    return (date.tv_sec - uptime.tv_sec) * SECOND + date.tv_nsec - uptime.tv_nsec;
}

void srv_wall_clock_begin(srv_wall_clock *clock, srv_log *log)
{
    *clock = (srv_wall_clock){.log = log, .offset = read_offset()};
}

void srv_wall_clock_set_expiry(srv_wall_clock *clock, time_t expires)
{
    api_metric_add(API_METRIC_CERTIFICATE_EXPIRY, API_NO_LABELS, (int64_t)(expires - clock->expires) * SECOND);
    clock->expires  = expires;
    clock->reported = SRV_VALID;
}

static void check_jump(srv_wall_clock *clock)
{
    int64_t offset = read_offset(), jump = offset - clock->offset;
    clock->offset = offset;
    if (llabs(jump) < JUMP) return;
    api_metric_add(API_METRIC_CLOCK_JUMPS, API_NO_LABELS, 1);
    srv_log_message(clock->log, SRV_WARNING, "clock-jump",
                    "the clock of dates was set %s by %.1f s; tokens and certificates are checked by the new date",
                    jump > 0 ? "forward" : "back", (double)llabs(jump) / (double)SECOND);
}

static srv_validity validity_at(const srv_wall_clock *clock, time_t now)
{
    if (clock->expires == 0 || now < clock->expires - WARNING_DAYS * 86400) return SRV_VALID;
    return now < clock->expires ? SRV_ENDS_SOON : SRV_ENDED;
}

static void check_certificate(srv_wall_clock *clock)
{
    char         date[40];
    struct tm    utc;
    srv_validity validity = validity_at(clock, time(NULL));
    if (validity == clock->reported) return;
    clock->reported = validity;
    if (validity == SRV_VALID) return; /* the clock was moved to a time at which it is valid again */
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock->expires, &utc));
    srv_log_message(clock->log, SRV_WARNING, validity == SRV_ENDED ? "certificate-ended" : "certificate-ends",
                    "the certificate of --tls-certificate %s on %s; replace the file and reload (SIGHUP)",
                    validity == SRV_ENDED ? "has ended" : "ends", date);
}

void srv_wall_clock_check(srv_wall_clock *clock)
{
    check_jump(clock);
    check_certificate(clock);
}
