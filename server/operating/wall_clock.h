/* wall_clock.h - watch the clock of dates: it must not jump, and the server's certificate must not end.
 *
 * Deadlines follow CLOCK_MONOTONIC and know no jump. Dates decide whether a token or a certificate is valid, and order
 * the lines of the log, so a jump is logged and counted (torqued_clock_jumps_total). Time in which the machine was
 * suspended is no jump. A certificate that ends within 14 days, and one that has ended, has a warning each. */
#pragma once
#include "server/log.h"
#include <time.h>

typedef enum srv_validity { SRV_VALID, SRV_ENDS_SOON, SRV_ENDED } srv_validity;

typedef struct srv_wall_clock {
    srv_log     *log;
    int64_t      offset;  /* ns of CLOCK_REALTIME over CLOCK_BOOTTIME at the last check */
    time_t       expires; /* s since 1970, the end of the certificate; 0: there is none */
    srv_validity reported;
} srv_wall_clock;

void srv_wall_clock_begin(srv_wall_clock *clock, srv_log *log);

/* Notes when the newest certificate ends, s since 1970; 0: the server has none. */
void srv_wall_clock_set_expiry(srv_wall_clock *clock, time_t expires);

/* Compares the clocks, and the end of the certificate with the date. Called every second or so, from one thread. */
void srv_wall_clock_check(srv_wall_clock *clock);
