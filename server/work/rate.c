/* rate.c - see rate.h. */
#include "rate.h"
#include <math.h>

/* Fills the bucket up for the time that has passed. */
static void fill_up(srv_rate *rate, double per_second, uint64_t now)
{
    double passed = now > rate->checked ? 1e-9 * (double)(now - rate->checked) : 0;
    rate->used    = fmax(rate->used - passed * per_second, 0);
    if (now > rate->checked) rate->checked = now;
}

double srv_rate_take(srv_rate *rate, double per_second, uint64_t now)
{
    fill_up(rate, per_second, now);
    if (rate->used + 1 > per_second) return (rate->used + 1 - per_second) / per_second;
    rate->used += 1;
    return 0;
}

double srv_rate_delay(srv_rate *rate, const srv_pace *pace, uint64_t now)
{
    fill_up(rate, pace->per_second, now);
    rate->used = fmin(rate->used + 1, pace->burst + pace->per_second * pace->longest);
    return fmax(rate->used - pace->burst, 0) / pace->per_second;
}
