/* refusals.h - limit the lines of the log about refused requests, for each client and status.
 *
 * A client that is refused as often as it can ask would fill the log with equal lines. A client may have some lines per
 * second for each status; the others are counted, and a report says how many there were. The table is bounded: clients
 * beyond it share one entry of each status, and an entry leaves the table when its client was silent for a period. */
#pragma once
#include "server/work/rate.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SRV_REFUSALS_REMEMBERED = 1024, SRV_REFUSED_NAME = 96 };

typedef struct srv_refusal {
    char     client[SRV_REFUSED_NAME];
    unsigned status;  /* status of the answers; 0: the connection ended without one */
    srv_rate rate;    /* rate of the lines */
    uint64_t since;   /* ns, start of the period of `omitted` */
    uint64_t last;    /* ns, time of the last refusal */
    uint64_t omitted; /* refusals without a line since `since` */
    size_t   next;    /* next entry of the hash bucket: index + 1; 0: none */
} srv_refusal;

typedef struct srv_refusals srv_refusals;

srv_refusals *srv_refusals_open(void); /* NULL: no memory */
void          srv_refusals_close(srv_refusals *refusals);

/* Counts a refusal at the time `now`, ns. True if it may have a line: `per_second` may, for each client and status. */
bool srv_refusals_admit(srv_refusals *refusals, const char *client, unsigned status, double per_second, uint64_t now);

/* Calls `report` for every client and status whose lines were omitted, once a period, and forgets clients that were
 * silent for a period. `all`: reports at once what was not reported yet. Returns the number of entries that are left:
 * with 0 nothing is due until the next refusal. `report` must not call these functions. */
typedef void srv_refusals_report(void *arg, const srv_refusal *refusal, double seconds);
size_t srv_refusals_review(srv_refusals *refusals, uint64_t now, bool all, srv_refusals_report *report, void *arg);
