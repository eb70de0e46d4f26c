/* rate.h - limit how often something may happen, by token buckets. */
#pragma once
#include <stdint.h>

/* All zero at the beginning: the whole allowance is available. */
typedef struct srv_rate {
    double   used;    /* used part of the allowance at the time `checked` */
    uint64_t checked; /* ns */
} srv_rate;

/* An allowance: `burst` at once, and then `per_second`. */
typedef struct srv_pace {
    double burst, per_second;
    double longest; /* s, the longest delay */
} srv_pace;

/* Takes one from the allowance of a second, which is `per_second`, at least 1, at the time `now`, ns.
 * Returns 0, or, if nothing is left, the seconds until there is again. Several threads must not call it for one rate at
 * the same time. */
double srv_rate_take(srv_rate *rate, double per_second, uint64_t now);

/* Schedules an event that comes at the time `now`, ns. Returns the seconds by which it must be delayed to keep the
 * pace. Several threads must not call it for one rate at the same time. */
double srv_rate_delay(srv_rate *rate, const srv_pace *pace, uint64_t now);
