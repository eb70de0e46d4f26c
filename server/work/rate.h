/* rate.h - limit how often something may happen: a token bucket that holds the allowance of one second. */
#pragma once
#include <stdint.h>

/* All zero at the beginning: full. */
typedef struct srv_rate {
    double   used;    /* of the allowance, at the time `checked` */
    uint64_t checked; /* ns */
} srv_rate;

/* Takes one from the allowance of `per_second`, at least 1, at the time `now`, ns. Returns 0, or, if nothing is left,
 * the seconds until there is again. Several threads must not call it for one rate at the same time. */
double srv_rate_take(srv_rate *rate, double per_second, uint64_t now);
